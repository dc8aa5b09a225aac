#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail {

namespace {

std::string compose(const std::string& where, const std::string& what, const std::string& hint) {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// Levenshtein distance: insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

ConfigError::ConfigError(std::string where, std::string what, std::string hint)
    : Error(compose(where, what, hint)), where_(std::move(where)), problem_(std::move(what)), hint_(std::move(hint)) {}

ConfigError ConfigError::inside(std::string_view file) const {
  return ConfigError(where_.empty() ? std::string(file) : std::string(file) + ": " + where_, problem_, hint_);
}

DeadlockError::DeadlockError(std::vector<std::string> stuck)
    : Error("the simulated job cannot finish:\n  " + join(stuck, "\n  ")), stuck_(std::move(stuck)) {}

void fail_check(const char* condition, const char* file, int line) {
  throw InternalError(std::string("internal check failed: ") + condition + " at " + file + ":" + std::to_string(line));
}

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  for (const std::string& candidate : known) {
    const bool contains = word.size() > 2 && candidate.find(word) != std::string::npos;
    if (contains || edit_distance(word, candidate) <= std::max<std::size_t>(word.size() > 3 ? 2 : 1, word.size() / 3)) near.push_back(candidate);
  }
  if (near.empty() || near.size() > 3) return "known: " + join(known, ", ");
  return "did you mean " + join(near, " or ") + "?";
}

}  // namespace photonrail
