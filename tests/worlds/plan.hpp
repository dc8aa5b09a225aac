// Which worlds are drawn for which numbers: every second one is a child of two others, so that it has two words that do not
// stand together in ordinary worlds.
#pragma once

#include "worlds/pairs.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::worlds {

/// It is made of the first ordinary worlds, which never change with the search: a number gives the same world in each.
class Plan {
 public:
  /// The only one, made when it is first asked for.
  [[nodiscard]] static const Plan& of_worlds();

  /// Two words that stand together in none of the ordinary worlds that the plan is made of; another two for each number in
  /// turn.
  [[nodiscard]] std::pair<std::string, std::string> wanted(std::uint64_t number) const;
  /// Draws several children of two worlds with these words, and returns the one with the most such pairs.
  [[nodiscard]] World child(std::uint64_t number) const;

 private:
  Plan();

  Pairs seen_;
  std::vector<std::vector<std::uint64_t>> with_;                  // by word: numbers of ordinary worlds that have it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> missing_;  // pairs of words, in an order of no meaning
};

}  // namespace photonrail::worlds
