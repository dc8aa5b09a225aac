// Draws of a world: short words for what is drawn often.
#pragma once

#include "photonrail/core/random.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::worlds {

class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name) : random_(seed, name) {}

  std::uint32_t from_to(std::uint32_t least, std::uint32_t greatest) {
    return least + static_cast<std::uint32_t>(random_.below(greatest - least + 1));
  }
  bool one_in(std::uint32_t n) { return random_.below(n) == 0; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
  }

 private:
  RandomStream random_;
};

}  // namespace photonrail::worlds
