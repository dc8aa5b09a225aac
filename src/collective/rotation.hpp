// This check tells whether a plan stays the same when its members change places in a circle, by `shift` places each: then
// the first `shift` members stand for all.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::collective {

/// The sends of each member, in the order of the plan. Member m + shift sends what member m sends, `shift` members further:
/// the k-th send of each has the same bytes and round, and releases the sends of the same ordinals of members that are as
/// far from its sender.
class Rotation {
 public:
  /// REQUIRES: shift divides the plan's members.
  Rotation(const SendPlan& plan, Member shift);

  /// False also where a member may start late or computes by itself, which a rotation is not tried for.
  [[nodiscard]] bool leaves_plan_unchanged() const { return unchanged_; }
  /// The send that corresponds to `i` among those of members 0 .. shift - 1. REQUIRES: the plan is unchanged.
  [[nodiscard]] SendIndex representative(SendIndex i) const { return by_sender_[sender_[i] % shift_][ordinal_[i]]; }

 private:
  struct Released {
    Member further;  ///< of its sender from the sender of what releases it, in the circle
    std::uint32_t ordinal;
    friend auto operator<=>(const Released&, const Released&) = default;
  };

  /// Whether all members that are multiples of shift away from `first` send what it sends.
  [[nodiscard]] bool same_for_all(const SendPlan& plan, Member first) const;
  /// But for what they release.
  [[nodiscard]] bool same(const SendPlan& plan, SendIndex a, SendIndex b) const;
  [[nodiscard]] std::vector<Released> released(const SendPlan& plan, SendIndex i) const;

  Member members_;
  Member shift_;
  std::vector<Member> sender_;          ///< by send
  std::vector<std::uint32_t> ordinal_;  ///< by send, among those of its sender
  std::vector<std::vector<SendIndex>> by_sender_;
  bool unchanged_ = false;
};

}  // namespace photonrail::collective
