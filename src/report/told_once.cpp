#include "report/told_once.hpp"

#include "report/text.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

constexpr std::size_t kNamesTold = 4;

// Names have commas of their own.
std::string names_of(std::span<const std::string> names, std::size_t results) {
  if (names.size() > 1 && names.size() == results) return "each of the " + std::to_string(results) + " runs";
  std::string text;
  for (const std::string& name : names.first(std::min(names.size(), kNamesTold)))
    text += (text.empty() ? "" : "; ") + printable(name);
  if (names.size() > kNamesTold) text += " and " + std::to_string(names.size() - kNamesTold) + " more";
  return text;
}

}  // namespace

std::string sentence_of(std::string_view text, std::string_view key) {
  return std::string(text) + (key.empty() ? "" : " (" + std::string(key) + ")");
}

std::vector<std::string> told_once(std::span<const Told> told, std::size_t results) {
  struct Sentence {
    std::string text;
    std::vector<std::string> by;
  };
  std::vector<Sentence> sentences;
  for (const Told& one : told) {
    auto at = std::find_if(sentences.begin(), sentences.end(), [&](const Sentence& of) { return of.text == one.text; });
    if (at == sentences.end()) at = sentences.insert(at, Sentence{one.text, {}});
    if (!one.by.empty()) at->by.push_back(one.by);
  }
  std::vector<std::string> lines;
  for (const Sentence& of : sentences) {
    const std::string names = names_of(of.by, results);
    lines.push_back(names.empty() ? of.text : names + ": " + of.text);
  }
  return lines;
}

}  // namespace photonrail::report
