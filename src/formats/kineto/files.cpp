#include "formats/kineto/files.hpp"

#include "formats/kineto/numbers.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <system_error>

namespace photonrail::formats::kineto {

namespace {

namespace fs = std::filesystem;

// The rank in a file name that fits `pattern`, which has one '*'.
std::optional<std::uint64_t> rank_in(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(before.size(), name.size() - before.size() - after.size());
  const auto rank = whole(digits);
  return rank && std::to_string(*rank) == digits ? rank : std::nullopt;
}

std::map<std::uint64_t, fs::path> ranks_in(const fs::path& folder, const std::string& pattern) {
  std::map<std::uint64_t, fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (const auto rank = rank_in(at->path().filename().string(), pattern)) found.emplace(*rank, at->path());
  }
  return found;
}

constexpr const char* kNumbered[] = {"rank*_trace.json", "rank*_trace.json.gz"};

}  // namespace

std::vector<fs::path> find_unnumbered(const fs::path& files) {
  std::error_code problem;
  std::vector<fs::path> found;
  if (!fs::is_directory(files, problem)) return found;
  for (const char* pattern : kNumbered) {
    if (!ranks_in(files, pattern).empty()) return found;
  }
  for (fs::directory_iterator at(files, problem), end; !problem && at != end; at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz")) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> find_files(const fs::path& files) {
  std::error_code ignored;
  std::map<std::uint64_t, fs::path> found;
  if (fs::is_directory(files, ignored)) {
    for (const char* pattern : kNumbered) {
      if (found.empty()) found = ranks_in(files, pattern);
    }
    if (found.empty()) {
      throw ConfigError(files.string(), "has no rank0_trace.json and no *.pt.trace.json",
                        "or give a pattern with * for the rank: " + (files / "rank*_trace.json").string());
    }
  } else {
    const std::string pattern = files.filename().string();
    if (pattern.find('*') == std::string::npos || pattern.find('*') != pattern.rfind('*')) {
      throw ConfigError(files.string(), "is neither a folder nor a pattern",
                        "a file name with one * for the rank, for example rank*_trace.json");
    }
    found = ranks_in(files.has_parent_path() ? files.parent_path() : fs::path("."), pattern);
    if (found.empty()) throw ConfigError(files.string(), "no such file", "* stands for the rank");
  }
  std::vector<fs::path> in_order;
  for (const auto& [rank, file] : found) {
    if (rank != in_order.size()) {
      throw ConfigError(
          files.string(),
          "rank " + std::to_string(in_order.size()) + " is missing, but there is rank " + std::to_string(rank),
          "a trace has a file for every rank from 0");
    }
    in_order.push_back(file);
  }
  return in_order;
}

}  // namespace photonrail::formats::kineto
