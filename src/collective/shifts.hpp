// All-to-all by shifts: the sends of shift k = 1 .. n-1 go from each member m to m+k. Sends are numbered (shift, sender).
#pragma once

#include "collective/uniform_plan.hpp"

#include <memory>
#include <optional>

namespace photonrail::collective {

class Shifts {
 public:
  explicit Shifts(const CollectiveCall& call) : n_(call.members), size_(call.size), cut_(call.size, call.members) {}

  /// `round` is left at 0.
  [[nodiscard]] Send send(SendIndex i) const {
    const Member from = i % n_;
    return send(from, receiver(from, i / n_ + 1));
  }
  [[nodiscard]] Send send(Member from, Member to) const {
    return {.from = from, .to = to, .bytes = cut_[to], .first_chunk = from * n_ + to};
  }

  [[nodiscard]] Member receiver(Member from, Member shift) const {
    const Member to = from + shift;
    return to >= n_ ? to - n_ : to;
  }

  /// Returns what each member sends to each other; none where some get a byte more than others.
  [[nodiscard]] std::optional<Bytes> equal_part() const {
    return size_.count % n_ == 0 ? std::optional(Bytes{size_.count / n_}) : std::nullopt;
  }
  /// SendPlan::folded of a plan of these sends with the totals `totals`, all of them initial.
  [[nodiscard]] std::unique_ptr<const SendPlan> folded(PlanTotals totals, Member period) const;

  /// All sends initial, in one round; each member sends all of its input but its own share.
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const std::uint64_t n = call.members;
    return {.members = call.members,
            .sends = n * (n - 1),
            .initial = n * (n - 1),
            .chunks = n * n,
            .wire = multiply(call.size, n - 1)};  // n S, less the shares that stay: they add up to S
  }

 private:
  Member n_;
  Bytes size_;
  EvenSplit cut_;
};

}  // namespace photonrail::collective
