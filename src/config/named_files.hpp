// The files that a scenario reads beside its own text: a graph, a trace, a model, a plan, prices.
#pragma once

#include "json/json.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
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

/// Calls use(text) for every string in `value`, keys left out.
void each_string(const json::Json& value, const std::function<void(const std::string&)>& use);

/// Of the content of a file, 16 hexadecimal digits. Throws ConfigError when it cannot be read.
[[nodiscard]] std::string content_hash(const std::filesystem::path& file);

/// Adds the name and the content_hash() of a file to `hash`. The folder that it is in does not count.
[[nodiscard]] std::uint64_t fold_file(const std::filesystem::path& file, const std::string& content, std::uint64_t hash);

/// What a run depends on: the scenario after all overrides, and the files that it names. 16 hexadecimal digits.
[[nodiscard]] std::string scenario_hash(const json::Json& scenario, const std::filesystem::path& directory);

}  // namespace photonrail::config
