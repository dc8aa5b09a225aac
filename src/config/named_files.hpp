// The files that a scenario reads beside its own text: a graph, a trace, a model, a plan, prices.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::config {

/// Finds the files that the strings of scenarios in one folder name. It needs no list of the keys that hold paths: any
/// string counts, so that a key added later is covered. Remembers the folders that it listed.
class NamedFiles {
 public:
  /// Paths are relative to `directory`.
  explicit NamedFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// The file of that path; the traces of a folder, of a pattern with one '*' or of a prefix; in a fixed order. None when
  /// the text names no file.
  [[nodiscard]] std::vector<std::filesystem::path> in(std::string_view text);

 private:
  [[nodiscard]] const std::map<std::string, std::set<std::uint32_t>>& chakra_traces(const std::filesystem::path& folder);

  std::filesystem::path directory_;
  std::map<std::filesystem::path, std::map<std::string, std::set<std::uint32_t>>> listed_;
};

}  // namespace photonrail::config
