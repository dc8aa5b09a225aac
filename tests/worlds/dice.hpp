// Draws of a world: short words for what is drawn often.
//
// Every second world is one of a swarm (Groce et al., "Swarm Testing", ISSTA 2012): each place of the code that asks for a
// feature gives it nearly always, never or as usual, the same way throughout that world, and picks from two values of its
// list. Features that are rare alone then meet, and others that would hide what they do are away.
#pragma once

#include "photonrail/core/random.hpp"
#include "worlds/decisions.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::worlds {

class Dice {
 public:
  using Site = worlds::Site;

  /// `name`: a literal. `source`: must outlive the dice.
  Dice(const Source& source, std::string_view name)
      : source_(source), name_(name), random_(source.seed, name), swarm_(random_.below(2) == 0) {}
  Dice(std::uint64_t seed, std::string_view name) : Dice(Source{seed}, name) {}

  std::uint32_t from_to(std::uint32_t least, std::uint32_t greatest, const Site& site = Site::current()) {
    const std::uint64_t count = std::uint64_t{greatest} - least + 1;
    return least + static_cast<std::uint32_t>(decided(random_.below(count), count, site));
  }
  bool one_in(std::uint32_t n, const Site& site = Site::current()) {
    return decided(feature(n, site) ? 1 : 0, 2, site) == 1;
  }
  template <class T>
  T pick(const std::vector<T>& list, const Site& site = Site::current()) {
    const std::size_t count = list.size();
    const std::size_t drawn = swarm_ ? (lean(site) + random_.below(2)) % count : random_.below(count);
    return list[decided(drawn, count, site)];
  }
  template <class T>
  void shuffle(std::vector<T>& list, const Site& site = Site::current()) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[decided(random_.below(i), i, site)]);
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
  std::size_t decided(std::uint64_t drawn, std::uint64_t count, const Site& site) {
    if (source_.parents != nullptr) drawn = source_.parents->next({name_, site}).value_or(drawn) % count;
    if (source_.record != nullptr) source_.record->add({name_, site}, drawn);
    return static_cast<std::size_t>(drawn);
  }
  // The place by its function and line: the path of the file differs between machines.
  std::uint64_t lean(const Site& site) const {
    return RandomStream(source_.seed, site.function_name() + std::to_string(site.line())).next() >> 16;
  }

  Source source_;
  std::string_view name_;
  RandomStream random_;
  bool swarm_;
};

}  // namespace photonrail::worlds
