#include "worlds/pairs.hpp"

#include <algorithm>

namespace photonrail::worlds {

Pairs::Pairs(const Words& words) : words_(words.begin(), words.end()), seen_(words.size() * words.size()) {}

std::vector<std::uint32_t> Pairs::numbers(const Words& words) const {
  std::vector<std::uint32_t> numbers;
  auto at = words_.begin();
  for (const std::string& word : words) {
    at = std::lower_bound(at, words_.end(), word);
    if (at == words_.end()) break;
    if (*at == word) numbers.push_back(static_cast<std::uint32_t>(at - words_.begin()));
  }
  return numbers;
}

void Pairs::add(const std::vector<std::uint32_t>& together) {
  for (const std::uint32_t one : together) {
    for (const std::uint32_t other : together) seen_[one * words_.size() + other] = true;
  }
}

std::size_t Pairs::fresh(const std::vector<std::uint32_t>& together) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) count += has(together[i], together[j]) ? 0 : 1;
  }
  return count;
}

}  // namespace photonrail::worlds
