// Pairs of words that stand together in a file.
#pragma once

#include "worlds/words.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::worlds {

/// A table of words that are known beforehand, and which of them stood together.
class Pairs {
 public:
  explicit Pairs(const Words& words);

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// The numbers of those of `words` that are known.
  [[nodiscard]] std::vector<std::uint32_t> numbers(const Words& words) const;
  /// All of these stand together.
  void add(const std::vector<std::uint32_t>& together);
  [[nodiscard]] bool has(std::uint32_t one, std::uint32_t other) const { return seen_[one * words_.size() + other]; }
  /// Returns how many pairs of these have not been added.
  [[nodiscard]] std::size_t fresh(const std::vector<std::uint32_t>& together) const;

 private:
  std::vector<std::string> words_;  // ascending
  std::vector<bool> seen_;          // by both numbers
};

}  // namespace photonrail::worlds
