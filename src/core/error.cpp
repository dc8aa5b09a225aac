#include "photonrail/error.hpp"

#include <algorithm>
#include <cctype>
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

// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, std::move(row));
  }
  return above[b.size()];
}

// Also '-' as '_', which names and options spell differently.
std::string in_lower_case(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
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
  const std::string low = in_lower_case(word);
  for (const std::string& candidate : known) {
    const std::string low_candidate = in_lower_case(candidate);
    if (low_candidate == low) return "did you mean " + candidate + "?";
    const bool contains = word.size() > 2 && low_candidate.find(low) != std::string::npos;
    if (contains || edit_distance(low, low_candidate) <= std::max<std::size_t>(word.size() > 3 ? 2 : 1, word.size() / 3))
      near.push_back(candidate);
  }
  if (near.empty() || near.size() > 3) return "known: " + join(known, ", ");
  return "did you mean " + join(near, " or ") + "?";
}

}  // namespace photonrail
