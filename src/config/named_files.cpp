#include "config/named_files.hpp"

#include "config/scenario_parts.hpp"
#include "formats/chakra/files.hpp"
#include "formats/kineto/files.hpp"

#include <algorithm>
#include <system_error>

namespace photonrail::config {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCharacters = 4096;  // of a path, on Linux

// A pattern that no file fits, or a folder without traces, names nothing; that is for the reader of the workload to say.
std::vector<fs::path> kineto_traces(const fs::path& path) {
  try {
    return formats::kineto::find_files(path);
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

const std::map<std::string, std::set<std::uint32_t>>& NamedFiles::chakra_traces(const fs::path& folder) {
  const auto [at, fresh] = listed_.try_emplace(folder);
  if (fresh) at->second = formats::chakra::traces_in(folder);
  return at->second;
}

std::vector<fs::path> NamedFiles::in(std::string_view text) {
  if (text.empty() || text.size() > kMaxCharacters || text.find('\0') != std::string_view::npos) return {};
  fs::path path;
  try {
    const Json value(std::string{text});
    path = read_path(JsonReader(value), directory_);
  } catch (const ConfigError&) {  // names a variable of the environment that is not set
    return {};
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_regular_file(status)) return {path};
  const std::string name = path.filename().string();
  if (fs::is_directory(status) || std::count(name.begin(), name.end(), '*') == 1) return kineto_traces(path);
  const auto& traces = chakra_traces(path.has_parent_path() ? path.parent_path() : fs::path("."));
  const auto found = traces.find(name);
  std::vector<fs::path> files;
  if (found == traces.end()) return files;
  for (const std::uint32_t rank : found->second) files.push_back(formats::chakra::trace_file(path, rank));
  return files;
}

}  // namespace photonrail::config
