// A cover counts the words of the files of a search, and the pairs of them that stood together.
#pragma once

#include "worlds/world.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::worlds {

class Cover {
 public:
  /// A scenario that was accepted.
  void add(const Json& scenario);

  [[nodiscard]] std::size_t words() const { return numbers_.size(); }
  [[nodiscard]] std::size_t possible() const;  ///< pairs of the words so far, but for those that an exclusion names
  [[nodiscard]] double share() const;          ///< of the possible pairs, those that stood together
  /// Those of them that did not stand together.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> missing() const;
  /// Takes the missing pairs that readers refuse (Plan::is_refused()) off the possible ones. Returns how many these are.
  std::size_t leave_out_refused();

 private:
  std::uint32_t number_of(const std::string& word);

  [[nodiscard]] bool is_possible(const std::string& one, const std::string& other) const;

  std::map<std::string, std::uint32_t> numbers_;
  std::set<std::pair<std::string, std::string>> refused_;  // both ways round
  std::vector<std::vector<bool>> seen_;                    // by the greater number, then by the smaller one
};

/// Of the worlds from 1 to `count` that readers accept. None is run.
[[nodiscard]] Cover cover_of_drawn(std::uint64_t count);

/// Two words that readers do not accept together in one job.
struct Exclusion {
  std::string one;    ///< a word, or what words begin with
  std::string other;  ///< the same
  std::string why;
};
[[nodiscard]] const std::vector<Exclusion>& exclusions();
[[nodiscard]] bool exclude(const std::string& one, const std::string& other);

}  // namespace photonrail::worlds
