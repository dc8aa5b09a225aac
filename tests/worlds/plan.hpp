// Which worlds are drawn for which numbers: every second one is a child, grown from others, so that words stand together
// that do not in ordinary worlds, as long as the readers accept it.
#pragma once

#include "worlds/graft.hpp"
#include "worlds/pairs.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::worlds {

/// Returns true when the readers take the scenario, its parts fit each other, and it is known to take at most `most_s` of
/// the processor, where that is given.
[[nodiscard]] bool is_accepted(const Json& scenario, std::optional<double> most_s = {});

/// It is made of the first ordinary worlds and children, which never change with the search: a number gives the same world
/// in each.
class Plan {
 public:
  /// The only one, made when it is first asked for.
  [[nodiscard]] static const Plan& of_worlds();

  /// What the ordinary worlds say that it is made of, where they are accepted.
  [[nodiscard]] const Words& said() const { return said_; }
  /// Two words that stand together in none of these worlds, nor in the first children where the number is of a later one,
  /// at random by the number: more often words that miss many others, and that most worlds exclude.
  [[nodiscard]] std::pair<std::string, std::string> wanted(std::uint64_t number) const;
  /// A world with the two wanted words, if that is accepted, and in three of four numbers with many more that stand with
  /// one of them in no ordinary world: what many words do together may hide what two do. Every second one has a few numbers
  /// that no drawer gives.
  [[nodiscard]] World child(std::uint64_t number) const;
  /// Asks the readers whether two words may stand together: each of some accepted worlds with one of them gets the other,
  /// both ways round. True where the readers refuse every such world at the place of one of the two.
  [[nodiscard]] bool is_refused(const std::string& one, const std::string& other) const;

 private:
  struct Growth;
  /// Pairs that are looked for.
  struct Aims {
    std::vector<std::vector<std::uint32_t>> partners;  // by word: those that it misses
    std::vector<std::uint64_t> turns;                  // by word: the sum of the turns up to it
    std::vector<bool> missing;                         // by both numbers, either way round
  };
  /// A value that says a word, and the ordinary world that it is from.
  struct Donor {
    Branch smallest;
    std::uint64_t world = 0;
    bool accepted = false;
  };

  Plan();
  void add_donors(std::uint64_t world, bool accepted, const Json& scenario, const std::vector<std::uint32_t>& numbers);
  void count_exclusions(const std::vector<std::vector<Words>>& worlds);
  [[nodiscard]] bool refuses(std::uint32_t has, std::uint32_t word) const;
  [[nodiscard]] Aims aims_without(const Pairs& seen) const;
  [[nodiscard]] const Aims& aims_of(std::uint64_t number) const;
  [[nodiscard]] Aims aims_after_first() const;
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> pair_of(std::uint64_t number) const;
  [[nodiscard]] bool may_get(const Growth& growth, std::uint32_t word) const;
  [[nodiscard]] Growth begin(RandomStream random, std::uint32_t word) const;
  bool try_out(Growth& growth, const Json& grown) const;
  bool get_small(Growth& growth, std::uint32_t word) const;
  bool get_whole(Growth& growth, std::uint32_t word) const;
  void get_wanted(Growth& growth, std::uint32_t word) const;
  void change_number(Growth& growth) const;
  [[nodiscard]] std::uint32_t choose_word(const Aims& aims, Growth& growth,
                                          const std::pair<std::uint32_t, std::uint32_t>& pair) const;

  Words said_;
  Pairs seen_;
  std::vector<std::vector<Donor>> donors_;  // by word
  std::vector<std::uint64_t> any_;          // ordinary worlds that are accepted
  std::vector<bool> excluded_;              // by both numbers
  std::vector<std::uint64_t> excluding_;    // by word: how many of some worlds exclude it
  Aims first_;
};

}  // namespace photonrail::worlds
