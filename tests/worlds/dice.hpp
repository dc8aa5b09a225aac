// Draws of a world: short words for what is drawn often.
//
// Every second world is one of a swarm (Groce et al., "Swarm Testing", ISSTA 2012): each place of the code that asks for a
// feature gives it nearly always, never or as usual, the same way throughout that world, and picks from two values of its
// list. Features that are rare alone then meet, and others that would hide what they do are away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "photonrail/core/random.hpp"

namespace photonrail::worlds {

#if defined(__cpp_lib_source_location)
using Site = std::source_location;
#else  // clang 14: the worlds of a seed are others then
struct Site {
  static constexpr Site current(const char* function = __builtin_FUNCTION(), unsigned line = __builtin_LINE()) {
    return {function, line};
  }
  [[nodiscard]] constexpr const char* function_name() const { return function; }
  [[nodiscard]] constexpr unsigned line() const { return number; }

  const char* function = "";
  unsigned number = 0;
};
#endif

class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name) : seed_(seed), random_(seed, name), swarm_(random_.below(2) == 0) {}

  std::uint32_t from_to(std::uint32_t least, std::uint32_t greatest) {
    return least + static_cast<std::uint32_t>(random_.below(std::uint64_t{greatest} - least + 1));
  }
  bool one_in(std::uint32_t n, const Site& site = Site::current()) { return feature(n, site); }
  template <class T>
  T pick(const std::vector<T>& list, const Site& site = Site::current()) {
    const std::size_t count = list.size();
    return list[swarm_ ? (lean(site) + random_.below(2)) % count : random_.below(count)];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
  }

 private:
  bool feature(std::uint32_t n, const Site& site) {
    const bool usual = random_.below(n) == 0;
    if (!swarm_) return usual;
    switch (lean(site) % 4) {
      case 0:
        return random_.below(8) != 0;
      case 1:
        return usual;
      default:
        return false;
    }
  }
  // The place by its function and line: the path of the file differs between machines.
  std::uint64_t lean(const Site& site) const {
    return RandomStream(seed_, site.function_name() + std::to_string(site.line())).next() >> 16;
  }

  std::uint64_t seed_;
  RandomStream random_;
  bool swarm_;
};

}  // namespace photonrail::worlds
