#include "formats/chakra/files.hpp"
#include "core/inside.hpp"

#include "core/number_in.hpp"
#include "formats/input_file.hpp"
#include "formats/parallel.hpp"
#include "photonrail/error.hpp"

#include <optional>

namespace photonrail::formats::chakra {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".et";

fs::path folder_of(const fs::path& prefix) { return prefix.has_parent_path() ? prefix.parent_path() : fs::path("."); }

struct TraceName {
  std::string stem;
  std::uint32_t rank = 0;
};

std::optional<TraceName> parse_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(dot + 1);
  const auto rank = core::number_in<std::uint32_t>(digits);
  if (!rank || std::to_string(*rank) != digits) return std::nullopt;
  return TraceName{std::string(name.substr(0, dot)), *rank};
}

std::string hint_for(const fs::path& prefix) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(prefix, ignored);
  const fs::path folder = is_folder ? prefix : folder_of(prefix);
  if (!fs::is_directory(folder, ignored)) return "there is no folder " + folder.string();
  std::vector<std::string> stems;
  for (const auto& [stem, ranks] : traces_in(folder)) stems.push_back(stem);
  if (stems.empty()) return "no file in " + folder.string() + " is named like <prefix>.0.et";
  if (is_folder) return "the prefix is a folder; a trace in it is " + (prefix / stems.front()).string();
  const std::string wanted = prefix.filename().string();
  const auto whole = parse_name(wanted);  // the prefix is the name of a file
  return suggest(whole ? whole->stem : wanted, stems);
}

}  // namespace

fs::path trace_file(const fs::path& prefix, std::size_t rank) {
  fs::path file = prefix;
  file += "." + std::to_string(rank) + std::string(kSuffix);
  return file;
}

std::map<std::string, std::set<std::uint32_t>> traces_in(const fs::path& folder) {
  std::map<std::string, std::set<std::uint32_t>> found;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (auto name = parse_name(at->path().filename().string())) found[std::move(name->stem)].insert(name->rank);
  }
  return found;
}

std::vector<fs::path> find_traces(const fs::path& prefix) {
  const auto traces = traces_in(folder_of(prefix));
  const auto found = traces.find(prefix.filename().string());
  if (found == traces.end() || prefix.filename().empty()) {
    throw ConfigError(trace_file(prefix, 0).string(), "no such file", hint_for(prefix));
  }
  std::vector<fs::path> files;
  for (const std::uint32_t rank : found->second) {
    if (rank != files.size()) {
      throw ConfigError(trace_file(prefix, files.size()).string(),
                        "no such file, but there is one of rank " + std::to_string(rank),
                        "a trace has a file for every rank from 0");
    }
    files.push_back(trace_file(prefix, rank));
  }
  return files;
}

namespace {

template <class Parse>
Trace read_with(const fs::path& file, const Parse& parse) {
  const std::string data = read_file(file);
  return core::inside(file.string(), [&] { return parse(data); });
}

}  // namespace

Trace read_trace(const fs::path& file) { return read_with(file, parse_trace); }

Trace read_trace(const fs::path& file, TraceParser& parser) {
  return read_with(file, [&parser](std::string_view data) { return parser.parse(data); });
}

std::vector<Trace> read_traces(const std::vector<fs::path>& files) {
  std::vector<Trace> traces(files.size());
  for_each_index(files.size(), [&](std::size_t i) { traces[i] = read_trace(files[i]); });
  return traces;
}

}  // namespace photonrail::formats::chakra
