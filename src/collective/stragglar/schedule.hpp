// The schedules of StragglAR (arXiv 2505.23523): which chunk goes where in which round, once a reduce-scatter among the
// punctual members is done and the straggler is there. They depend on the number of members alone.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::collective {

/// Member members-1 is the straggler. At the start member m < members-1 has chunk m reduced over the punctual members, and
/// the straggler has its own contribution to each of the members-1 chunks. In the end every member has every chunk.
class StragglarSchedule {
 public:
  struct Move {
    Member from = 0;
    Member to = 0;
    std::uint32_t chunk = 0;
    bool reduce = false;  ///< both ends send each other what they have of the chunk, and add
  };

  explicit StragglarSchedule(Member members) : members_(members) {}

  [[nodiscard]] Member members() const { return members_; }
  [[nodiscard]] Member straggler() const { return members_ - 1; }
  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  /// A matching: each member exchanges data with at most one peer.
  [[nodiscard]] std::span<const Move> round(std::uint32_t r) const {
    return std::span(moves_).subspan(first_[r], first_[r + 1] - first_[r]);
  }

  // Writing, round by round.
  void copy(Member from, Member to, std::uint32_t chunk) { moves_.push_back({from, to, chunk, false}); }
  /// Member `chunk` and the straggler complete the chunk.
  void complete(std::uint32_t chunk) {
    moves_.push_back({chunk, straggler(), chunk, true});
    moves_.push_back({straggler(), chunk, chunk, true});
  }
  void end_round() { first_.push_back(moves_.size()); }

 private:
  Member members_;
  std::vector<Move> moves_;
  std::vector<std::size_t> first_{0};  ///< by round, and the end
};

/// The smallest L with 2^L >= members.
[[nodiscard]] std::uint32_t doublings(Member members);

/// No schedule has fewer rounds: the straggler gives out one new chunk a round, so that the last one has two holders after
/// members-1 rounds at the earliest, and the holders of a chunk can only double.
[[nodiscard]] inline std::uint32_t fewest_stragglar_rounds(Member members) { return members - 2 + doublings(members); }

/// members-2+log2(members) rounds, the fewest possible. REQUIRES: members is a power of two, at least 2.
[[nodiscard]] StragglarSchedule stragglar_doubling(Member members);

/// For any number of members, at least 3: each round is a matching of the members that have something for each other, of
/// the largest size. The order in which pairs are tried decides how many rounds it takes: the best of 4 to 64 seeded
/// shuffles counts (fewer for more members), and a schedule of the fewest possible rounds ends the search.
[[nodiscard]] StragglarSchedule stragglar_matching(Member members);

}  // namespace photonrail::collective
