// Sentences that several results share, each told once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

struct Told {
  std::string by;  ///< the result that says it; empty: no name stands before the sentence
  std::string text;
};

/// The sentence of a note, then its key, where it has one.
[[nodiscard]] std::string sentence_of(std::string_view text, std::string_view key);

/// Returns each text once, in the order in which they were first said. Before it stand the names of those that say it: of
/// many the first four, and where all of `results` say it how many they are.
[[nodiscard]] std::vector<std::string> told_once(std::span<const Told> told, std::size_t results);

}  // namespace photonrail::report
