// Pairwise exchange: an all-to-all in n-1 rounds, each a perfect matching that a member leaves when its send and its
// receive are done. `pieces` has no use here.
#include "collective/builtin.hpp"
#include "collective/pairwise_order.hpp"
#include "collective/shifts.hpp"
#include "collective/uneven.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace photonrail::collective {

namespace {

/// PairwisePlan::folded: the first members of an exchange whose sends are all equal.
class FoldedPairwisePlan final : public UniformPlan {
 public:
  FoldedPairwisePlan(const PlanTotals& totals, PairwiseOrder order, Bytes part)
      : UniformPlan(totals), order_(std::move(order)), part_(part) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member from = i % members();
    const std::uint32_t step = i / members();
    return {.from = from, .to = order_.receiver(from, step), .bytes = part_, .round = step};
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t sender_next = std::uint64_t{arrived} + members();
    if (sender_next >= totals_.sends) return;
    const Member from = arrived % members();
    const Member to = order_.receiver(from, arrived / members()) % members();
    out.push_back(static_cast<SendIndex>(sender_next));
    out.push_back(static_cast<SendIndex>(sender_next - from + to));
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> matching;
    for (Member m = 0; m < members(); ++m) matching.emplace_back(m, order_.receiver(m, round));
    return matching;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }

 private:
  PairwiseOrder order_;
  Bytes part_;
};

/// REQUIRES: the order is complete.
class PairwisePlan final : public UniformPlan {
 public:
  PairwisePlan(const CollectiveCall& call, PairwiseOrder order)
      : UniformPlan(totals(call)), n_(call.members), shifts_(call), order_(std::move(order)) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member from = i % n_;
    const std::uint32_t step = i / n_;
    Send send = shifts_.send(from, order_.receiver(from, step));
    send.round = step;
    return send;
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t sender_next = std::uint64_t{arrived} + n_;
    if (sender_next >= totals_.sends) return;
    const Member from = arrived % n_;
    const Member to = order_.receiver(from, arrived / n_);
    out.push_back(static_cast<SendIndex>(sender_next));
    out.push_back(static_cast<SendIndex>(sender_next - from + to));
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    const std::optional<Bytes> part = shifts_.equal_part();
    if (!part || !order_.same_after(period)) return nullptr;
    return std::make_unique<FoldedPairwisePlan>(totals_.folded(period), order_, *part);
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> matching;
    matching.reserve(n_);
    for (Member m = 0; m < n_; ++m) matching.emplace_back(m, order_.receiver(m, round));
    return matching;
  }

  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    PlanTotals totals = Shifts::totals(call);
    totals.initial = call.members;
    totals.waits = 2;  // the member's send and its receive of the round before; they never coincide
    totals.rounds = totals.critical = call.members - 1;
    return totals;
  }

  Member n_;
  Shifts shifts_;
  PairwiseOrder order_;
};

class Pairwise final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pairwise"; }
  [[nodiscard]] std::string_view summary() const override {
    return "all-to-all in n-1 rounds; in round k member m sends to m+k, so that every round is a matching; over servers "
           "and "
           "rails, shift by shift of the servers";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == CollectiveOp::kAllToAll && members >= 2;
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }
  [[nodiscard]] bool uses_places() const override { return true; }
  [[nodiscard]] bool takes_demand() const override { return true; }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    PairwiseOrder order(call);
    if (call.demand != nullptr || !order.complete()) return expand_uneven_pairwise(call, order);
    return std::make_unique<PairwisePlan>(call, std::move(order));
  }

  /// On one level (n-1) (alpha + S/n beta). On a grid of s servers x g rails (s-1) g messages over rails, all but s-1 of
  /// them over the scale-up fabric as well, and g-1 inside the servers; a set of circuits serves g messages.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const PairwiseOrder order(call);
    const LinkCost rail = order.in_one_server() ? on.scale_up : on.rail_to(1);
    if (call.demand != nullptr) {
      return cost_of_rounds(call, order.steps(), rail,
                            [&](Member from, std::uint32_t round) { return order.receiver(from, round); });
    }
    const double shard = static_cast<double>(call.size.count) / call.members;
    if (!order.two_levels()) {
      return CollectiveCost{.picoseconds = order.steps() * rail.send(shard), .circuits = order.steps()};
    }
    CollectiveCost cost{.picoseconds = 0.0, .circuits = order.servers() - 1};
    for (std::uint32_t step = 0; step < order.steps(); ++step) {
      LinkCost link = order.crosses(step) ? rail : on.scale_up;
      if (order.crosses(step) && order.changes_rails(step)) {
        link.latency += on.scale_up.latency;
        link.rate.bytes_per_second = std::min(link.rate.bytes_per_second, on.scale_up.rate.bytes_per_second);
      }
      cost.picoseconds += link.send(shard);
    }
    return cost;
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_pairwise() { return std::make_unique<Pairwise>(); }

}  // namespace photonrail::collective
