// Pairwise exchange: an all-to-all in n-1 rounds, each a perfect matching that a member leaves when its send and its
// receive are done. `pieces` has no use here.
#include "collective/builtin.hpp"
#include "collective/shifts.hpp"
#include "collective/uneven.hpp"

namespace photonrail {

namespace {

class PairwisePlan final : public UniformPlan {
 public:
  explicit PairwisePlan(const CollectiveCall& call) : UniformPlan(totals(call)), n_(call.members), shifts_(call) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    Send send = shifts_.send(i);
    send.round = i / n_;
    return send;
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t sender_next = std::uint64_t{arrived} + n_;
    if (sender_next >= totals_.sends) return;
    const Member from = arrived % n_;
    const Member to = shifts_.receiver(from, arrived / n_ + 1);
    out.push_back(static_cast<SendIndex>(sender_next));
    out.push_back(static_cast<SendIndex>(sender_next - from + to));
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    return shifts_.folded(totals_, period);
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> matching;
    matching.reserve(n_);
    for (Member m = 0; m < n_; ++m) matching.emplace_back(m, shifts_.receiver(m, round + 1));
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
};

class Pairwise final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pairwise"; }
  [[nodiscard]] std::string_view summary() const override {
    return "all-to-all in n-1 rounds; in round k member m sends to m+k, so that every round is a matching";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == CollectiveOp::kAllToAll && members >= 2;
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }
  [[nodiscard]] bool takes_demand() const override { return true; }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    if (call.demand != nullptr) return expand_uneven_pairwise(call);
    return std::make_unique<PairwisePlan>(call);
  }
  /// (n-1) (alpha + S/n beta).
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t rounds = call.members - 1;
    if (call.demand != nullptr) {
      return cost_of_rounds(call, rounds, on.rail_to(1),
                            [&](Member from, std::uint32_t round) { return (from + round + 1) % call.members; });
    }
    const double shard = static_cast<double>(call.size.count) / call.members;
    return CollectiveCost{.picoseconds = rounds * on.rail_to(1).send(shard), .circuits = rounds};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_pairwise() { return std::make_unique<Pairwise>(); }

}  // namespace photonrail
