// Which worlds are drawn for which numbers: every second one is grown from two others, so that it has two words that do not
// stand together in ordinary worlds, and from more of them, as long as the readers accept it.
#pragma once

#include "worlds/graft.hpp"
#include "worlds/pairs.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::worlds {

/// Whether the readers take the scenario, and its parts fit each other.
[[nodiscard]] bool is_accepted(const Json& scenario);

/// It is made of the first ordinary worlds that are accepted, which never change with the search: a number gives the same
/// world in each.
class Plan {
 public:
  /// The only one, made when it is first asked for.
  [[nodiscard]] static const Plan& of_worlds();

  /// Two words that stand together in none of the ordinary worlds that the plan is made of; another two for each number in
  /// turn.
  [[nodiscard]] std::pair<std::string, std::string> wanted(std::uint64_t number) const;
  /// A world with one of these words gets the other one from another world, if that is accepted, and then words that miss
  /// most of those that it has.
  [[nodiscard]] World child(std::uint64_t number) const;

 private:
  struct Growth;

  Plan();
  void add_missing();
  [[nodiscard]] bool is_missing(std::uint32_t one, std::uint32_t other) const;
  bool get_word(Growth& growth, std::uint32_t word) const;
  bool get_word_once(Growth& growth, std::uint32_t word) const;
  [[nodiscard]] std::uint32_t choose_word(Growth& growth) const;

  Pairs seen_;
  std::vector<std::vector<std::uint64_t>> with_;                  // by word: numbers of ordinary worlds that have it
  std::vector<std::vector<std::uint64_t>> accepted_with_;         // the same of those that are accepted
  std::vector<std::uint64_t> any_;                                // ordinary worlds that are accepted
  std::vector<std::pair<std::uint32_t, std::uint32_t>> missing_;  // pairs of words, in an order of no meaning
  std::vector<bool> may_meet_;                                    // by both numbers: missing, either way round
};

}  // namespace photonrail::worlds
