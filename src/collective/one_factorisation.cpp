// All-to-all by a 1-factorisation of the complete graph (the circle method; Kirkman 1847, Lucas 1883): in each round the
// members are paired off, and the two of a pair exchange what they have for each other. n even: n-1 perfect matchings; n
// odd: n matchings, each of which leaves one member out. Circuits are the same in both directions, which suits rails whose
// circuits are duplex. `pieces` has no use here.
#include "collective/builtin.hpp"
#include "collective/steps.hpp"
#include "collective/uneven.hpp"
#include "collective/uniform_plan.hpp"
#include "core/circle.hpp"

namespace photonrail::collective {

using core::Circle;

namespace {

/// Sends are numbered (round, sender), where an odd number of members skips the one that sits out.
class OneFactorisationPlan final : public UniformPlan {
 public:
  explicit OneFactorisationPlan(const CollectiveCall& call)
      : UniformPlan(totals(call)), n_(call.members), in_round_(n_ - n_ % 2), circle_(n_), cut_(call.size, n_) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t round = i / in_round_;
    Member from = i % in_round_;
    if (in_round_ < n_ && from >= round) ++from;
    const Member to = circle_.partner(from, round);
    return {.from = from, .to = to, .bytes = cut_[to], .first_chunk = from * n_ + to, .round = round};
  }

  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override {
    std::uint32_t waits = 0;
    const Send s = send(i);
    if (has_earlier(s.from, s.round)) waits += 2;
    if (has_earlier(s.to, s.round)) waits += 2;
    return waits;
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const Send s = send(arrived);
    for (const Member end : {s.from, s.to}) {
      const std::uint32_t next = next_round(end, s.round);
      if (next >= circle_.rounds()) continue;
      const Member partner = circle_.partner(end, next);
      out.push_back(index(next, end));
      out.push_back(index(next, partner));
    }
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> matching;
    matching.reserve(in_round_);
    for (Member m = 0; m < n_; ++m) {
      const Member partner = circle_.partner(m, round);
      if (partner != m) matching.emplace_back(m, partner);
    }
    return matching;
  }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return circle_.partner(member, round) == member ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return sends_from(member, round);
  }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const std::uint64_t n = call.members;
    const bool odd = n % 2 == 1;
    return {.members = call.members,
            .sends = n * (n - 1),
            // In an odd circle the member without a partner in the first round begins in the second.
            .initial = n - n % 2,
            .waits = n == 2 ? 0u : 4u,
            .rounds = Circle(call.members).rounds(),
            .chunks = n * n,
            .wire = multiply(call.size, n - 1),
            .critical = static_cast<std::uint32_t>(odd ? n : n - 1)};
  }

  [[nodiscard]] bool sits_out(Member m, std::uint32_t round) const { return circle_.partner(m, round) == m; }
  [[nodiscard]] bool has_earlier(Member m, std::uint32_t round) const {
    return round > 1 || (round == 1 && !sits_out(m, 0));
  }
  [[nodiscard]] std::uint32_t next_round(Member m, std::uint32_t round) const {
    return round + 1 < circle_.rounds() && sits_out(m, round + 1) ? round + 2 : round + 1;
  }
  [[nodiscard]] SendIndex index(std::uint32_t round, Member from) const {
    const Member place = in_round_ < n_ && from > round ? from - 1 : from;
    return round * in_round_ + place;
  }

  Member n_;
  Member in_round_;
  Circle circle_;
  EvenSplit cut_;
};

/// With a demand: the same rounds as a list, without the sends that carry nothing.
std::unique_ptr<const SendPlan> uneven(const CollectiveCall& call) {
  const Member n = call.members;
  const Circle circle(n);
  StepPlan plan(call, n * n);
  for (std::uint32_t round = 0; round < circle.rounds(); ++round) {
    for (Member m = 0; m < n; ++m) {
      const Member partner = circle.partner(m, round);
      if (partner != m) plan.send(m, partner, {{m * n + partner, 1}});
    }
    plan.round();
  }
  return std::move(plan).build();
}

class OneFactorisation final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "one_factorisation"; }
  [[nodiscard]] std::string_view summary() const override {
    return "all-to-all in n-1 rounds (n odd: n) in which members are paired off and exchange (circle method, Lucas 1883)";
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
    if (call.demand != nullptr) return uneven(call);
    return std::make_unique<OneFactorisationPlan>(call);
  }
  /// A round is alpha + S/n beta.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const Circle circle(call.members);
    const std::uint32_t rounds = circle.rounds();
    if (call.demand != nullptr) {
      return cost_of_rounds(call, rounds, on.rail_to(1),
                            [&](Member m, std::uint32_t round) { return circle.partner(m, round); });
    }
    const double shard = static_cast<double>(call.size.count) / call.members;
    return CollectiveCost{.picoseconds = rounds * on.rail_to(1).send(shard), .circuits = rounds};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_one_factorisation() { return std::make_unique<OneFactorisation>(); }

}  // namespace photonrail::collective
