#include "config/named_files.hpp"

#include "config/scenario_parts.hpp"
#include "core/fnv1a.hpp"
#include "formats/chakra/files.hpp"
#include "formats/kineto/files.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace photonrail::config {

using core::fnv1a;
using core::hex;
using core::kFnv1aStart;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCharacters = 4096;  // of a path, on Linux
constexpr std::size_t kPiece = std::size_t{1} << 20;

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

void each_string(const Json& value, const std::function<void(const std::string&)>& use) {
  if (value.is_string()) return use(value.string());
  if (value.is_array()) {
    for (const Json& child : value.elements()) each_string(child, use);
  } else if (value.is_object()) {
    for (const Json::Member& member : value.members()) each_string(member.value, use);
  }
}

std::string content_hash(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ConfigError(file.string(), "cannot be read", "check its permissions");
  std::uint64_t hash = kFnv1aStart;
  for (std::string piece(kPiece, '\0'); in;) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash = fnv1a(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())), hash);
  }
  return hex(hash);
}

std::uint64_t fold_file(const fs::path& file, const std::string& content, std::uint64_t hash) {
  return fnv1a(file.filename().string() + "=" + content + "\n", hash);
}

std::string scenario_hash(const Json& scenario, const fs::path& directory) {
  NamedFiles named(directory);
  std::set<fs::path> files;
  each_string(scenario, [&](const std::string& text) {
    for (fs::path& file : named.in(text)) files.insert(std::move(file));
  });
  std::uint64_t hash = fnv1a(scenario.canonical());
  for (const fs::path& file : files) hash = fold_file(file, content_hash(file), hash);
  return hex(hash);
}

}  // namespace photonrail::config
