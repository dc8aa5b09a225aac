// The circle method (Kirkman 1847, Lucas 1883): n players meet each other once in n-1 rounds (n odd: n rounds, and one
// sits out in each). It is the 1-factorisation of the complete graph that all pairings of the project use.
#pragma once

#include <cstdint>

namespace photonrail::core {

/// Round r of m players around a circle, m even: player m-1 stays in the middle and meets r, all others meet whose number
/// adds up with theirs to 2r modulo m-1. An odd number of players leaves the place in the middle empty.
class Circle {
 public:
  explicit Circle(std::uint32_t players) : players_(players), turns_(players % 2 == 0 ? players - 1 : players) {}

  [[nodiscard]] std::uint32_t rounds() const { return turns_; }
  /// The player itself: it sits out.
  [[nodiscard]] std::uint32_t partner(std::uint32_t player, std::uint32_t round) const {
    if (player == turns_) return round;
    if (player == round) return turns_ < players_ ? turns_ : player;
    return static_cast<std::uint32_t>((2 * std::uint64_t{round} + turns_ - player) % turns_);
  }

 private:
  std::uint32_t players_;
  std::uint32_t turns_;  ///< how many sit around the circle
};

}  // namespace photonrail::core
