// The pairs of each round of a plan that is a list, and how many sends leave and reach a member in it.
#pragma once

#include "collective/send_list.hpp"

#include <vector>

namespace photonrail::collective {

class RoundIndex {
 public:
  RoundIndex() = default;
  /// The receivers of a part are numbered as in the whole, of which it has `members`.
  RoundIndex(const SendList& sends, std::uint32_t rounds, Member members);

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const;
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const;
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const;

 private:
  struct Pair {
    Member from = 0;
    Member to = 0;
    std::uint32_t sends = 0;
  };
  struct Arrivals {
    Member to = 0;
    std::uint32_t sends = 0;
  };

  void count_arrivals(Member members);

  std::vector<Pair> pairs_;                ///< of each round, ascending
  std::vector<std::uint32_t> first_pair_;  ///< by round, and the end
  std::vector<Arrivals> arrivals_;         ///< of each round, ascending
  std::vector<std::uint32_t> first_arrivals_;
};

}  // namespace photonrail::collective
