// A ring in both directions at once: a shard reaches the members on its left and on its right at the same time, so that it
// is everywhere after ceil((n-1)/2) steps in place of n-1. With n even the two halves of a shard meet at the opposite
// member, one from each side, and both directions send the same. Needs two ports, or one that is shared; the bytes are
// those of the ring. The reduction is the gathering backwards.
#include "collective/builtin.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

/// Sends are numbered (step, direction, sender); direction 0 is upwards. Chunks 2m and 2m+1 are the halves of shard m.
class BidirectionalPlan final : public UniformPlan {
 public:
  explicit BidirectionalPlan(const CollectiveCall& call)
      : UniformPlan(totals(call)),
        n_(call.members),
        once_(n_ / 2),
        reduce_steps_(call.op == CollectiveOp::kAllGather ? 0 : once_),
        size_is_shard_(call.op == CollectiveOp::kAllGather),
        cut_(call.size, size_is_shard_ ? 2 : 2 * std::uint64_t{n_}) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Place at = place(i);
    const bool reduce = at.step < reduce_steps_;
    // The shard has come this far, or, in a reduction, has still to go after this step.
    const Member done = reduce ? reduce_steps_ - 1 - at.step : at.step - reduce_steps_;
    const Member to = at.up ? wrap(at.from + 1) : wrap(at.from + n_ - 1);
    const bool shard_ahead = at.up == reduce;
    const Member near = reduce ? to : at.from;
    const Member shard = shard_ahead ? wrap(near + done) : wrap(near + n_ - done);
    const bool half = n_ % 2 == 0 && done + 1 == once_;
    const std::uint32_t chunk = 2 * shard + (half && !at.up ? 1 : 0);
    const auto bytes = [&](std::uint32_t c) { return cut_[size_is_shard_ ? c % 2 : c]; };
    return {.from = at.from,
            .to = to,
            .bytes = half ? bytes(chunk) : bytes(chunk) + bytes(chunk + 1),
            .first_chunk = chunk,
            .chunks = half ? 1u : 2u,
            .reduce = reduce};
  }

  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override {
    if (i < totals_.initial) return 0;
    return turns_at(place(i).step) ? 2 : 1;
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const Place at = place(arrived);
    if (at.step + 1 == totals_.critical) return;
    const Member to = at.up ? wrap(at.from + 1) : wrap(at.from + n_ - 1);
    const SendIndex up = (at.step + 1) * 2 * n_ + to;
    if (at.up || turns_at(at.step + 1)) out.push_back(up);
    if (!at.up || turns_at(at.step + 1)) out.push_back(up + n_);
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    for (Member m = 0; m < n_; ++m) {
      all.emplace_back(m, wrap(m + 1));
      if (n_ > 2) all.emplace_back(m, wrap(m + n_ - 1));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return 2 * totals_.critical;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return 2 * totals_.critical;
  }

 private:
  struct Place {
    std::uint32_t step = 0;
    bool up = true;
    Member from = 0;
  };

  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const std::uint64_t n = call.members;
    const bool all_reduce = call.op == CollectiveOp::kAllReduce;
    const auto steps = static_cast<std::uint32_t>(n / 2 * (all_reduce ? 2 : 1));
    const std::uint64_t times = (n - 1) * (all_reduce ? 2 : call.op == CollectiveOp::kAllGather ? n : 1);
    return {.members = call.members,
            .sends = 2 * n * steps,
            .initial = 2 * n,
            .waits = steps == 1   ? 0u
                     : all_reduce ? 2u
                                  : 1u,
            .chunks = 2 * n,
            .wire = multiply(call.size, times),
            .critical = steps};
  }
  /// The first step of gathering in an all-reduce: the own shard is complete when both sides have brought their sums.
  [[nodiscard]] bool turns_at(std::uint32_t step) const { return step > 0 && step == reduce_steps_; }
  [[nodiscard]] Place place(SendIndex i) const {
    const std::uint32_t step = i / (2 * n_);
    const std::uint32_t in_step = i - step * 2 * n_;
    return {step, in_step < n_, in_step < n_ ? in_step : in_step - n_};
  }
  [[nodiscard]] Member wrap(Member m) const { return m >= n_ ? m - n_ : m; }

  Member n_;
  std::uint32_t once_;  ///< steps of one half: n / 2 is ceil((n-1) / 2)
  std::uint32_t reduce_steps_;
  bool size_is_shard_;
  EvenSplit cut_;
};

class RingBidirectional final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring_bidirectional"; }
  [[nodiscard]] std::string_view summary() const override {
    return "a ring in both directions at once, for two ports: the bytes of a ring in half its steps";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 &&
           (op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter || op == CollectiveOp::kAllGather);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member members) const override {
    return {.least_bytes = true, .matchings = members == 2};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    return std::make_unique<BidirectionalPlan>(call);
  }
  /// n/2 rounded down, steps: each sends two shards of S/n (all-gather: S), the last one of an even n two halves; an
  /// all-reduce has them twice. The beta term is that of the ring. Two members have one link for both directions, on which
  /// the second message follows the first.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t steps = call.members / 2;
    const LinkCost link = on.rail_to(call.members == 2 ? 1 : 2);
    const double size = static_cast<double>(call.size.count);
    const double shard = call.op == CollectiveOp::kAllGather ? size : size / call.members;
    const double gap = call.members == 2 ? static_cast<double>(link.overhead.count()) : 0.0;
    const double once = steps * (link.alpha() + gap) + link.beta((call.members - 1.0) * shard);
    return CollectiveCost{.picoseconds = call.op == CollectiveOp::kAllReduce ? 2 * once : once,
                          .partners = call.members == 2 ? 1u : 2u};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_ring_bidirectional() { return std::make_unique<RingBidirectional>(); }

}  // namespace photonrail::collective
