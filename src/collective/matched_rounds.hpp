// Plans of matchings, round by round: a member begins a round when its sends and receives of the last round in which it had
// some have arrived, and a send when both its ends have begun.
#pragma once

#include "photonrail/collective.hpp"

#include <utility>
#include <vector>

namespace photonrail::collective {

class MatchedRounds {
 public:
  MatchedRounds(Member members, std::uint32_t chunk_count)
      : builder_(members, chunk_count), last_(members), now_(members) {}

  /// For sends before the rounds, and start_without().
  [[nodiscard]] SendPlanBuilder& builder() { return builder_; }
  /// The member's first round waits for these.
  void begin_after(Member member, std::vector<SendIndex> sends) { last_[member] = std::move(sends); }

  /// A send of the present round.
  void add(const Send& send);
  void end_round();

  [[nodiscard]] std::unique_ptr<const SendPlan> build() && { return std::move(builder_).build(); }

 private:
  SendPlanBuilder builder_;
  std::vector<std::vector<SendIndex>> last_;  ///< by member: its sends and receives of the last round in which it had some
  std::vector<std::vector<SendIndex>> now_;   ///< of the present round
  std::vector<Member> active_;                ///< members with some in the present round, and repeats
};

}  // namespace photonrail::collective
