// The order in which members of a pairwise exchange meet.
#pragma once

#include "photonrail/collective.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace photonrail::collective {

/// On one rail, or in one server: step k sends from member m to m + k + 1. Over several servers and rails members are moved
/// by (servers, rails) instead: all shifts of the rails follow each other for one shift of the servers, and the exchange
/// inside the servers comes last. So the circuits of every rail stay for as many steps as there are rails, and change on
/// all rails at the same step; with the order above every step changes those of one rail more.
class PairwiseOrder {
 public:
  explicit PairwiseOrder(const CollectiveCall& call);

  /// n-1 on one level. A group that is no grid of servers and rails is taken as part of one: members sit out some steps.
  [[nodiscard]] std::uint32_t steps() const { return steps_; }
  /// Every member sends and receives in every step.
  [[nodiscard]] bool complete() const { return steps_ + 1 == n_; }
  [[nodiscard]] bool two_levels() const { return !seats_.empty(); }
  /// The member that `from` sends to; `from` itself when it has no partner. REQUIRES: step < steps().
  [[nodiscard]] Member receiver(Member from, std::uint32_t step) const {
    if (two_levels()) return receiver_on_grid(from, step);
    const Member to = from + step + 1;
    return to >= n_ ? to - n_ : to;
  }

  /// Returns true when every member m + `shift` meets those that m meets, moved by as much.
  [[nodiscard]] bool same_after(Member shift) const {
    return !two_levels() || (shift % rails_ == 0 && std::is_sorted(place_.begin(), place_.end()));
  }

  [[nodiscard]] bool in_one_server() const { return servers_ == 1 && rails_ > 1; }

  /// Returns the servers of the grid. REQUIRES: two_levels().
  [[nodiscard]] Member servers() const { return servers_; }
  [[nodiscard]] Member rails() const { return rails_; }
  /// Returns true when messages of the step go from server to server, and whether they change rails besides.
  [[nodiscard]] bool crosses(std::uint32_t step) const { return step / rails_ + 1 < servers_; }
  [[nodiscard]] bool changes_rails(std::uint32_t step) const { return !crosses(step) || step % rails_ != 0; }

 private:
  static constexpr Member kEmpty = std::numeric_limits<Member>::max();

  [[nodiscard]] Member receiver_on_grid(Member from, std::uint32_t step) const;

  Member n_;
  Member servers_ = 1;
  Member rails_ = 1;
  std::uint32_t steps_;
  std::vector<Member> seats_;  ///< by server and rail: the member there
  std::vector<Member> place_;  ///< by member: its index in seats_
};

}  // namespace photonrail::collective
