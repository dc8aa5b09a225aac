// Rings (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms"): member m sends to m+1 only, so that one set
// of circuits serves the whole collective.
#include "collective/builtin.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>

namespace photonrail::collective {

namespace {

constexpr std::int64_t kLeastUnevenShard = 100;  // bytes: one more in some of them is less than 1 %

/// `value` modulo `n`, for value < 3n. Two subtractions cost less than a division here.
Member wrap(Member value, Member n) {
  if (value >= n) value -= n;
  if (value >= n) value -= n;
  return value;
}

/// RingPlan::folded: `members` of a ring of `ring` members whose sends of one piece are all equal.
class FoldedRingPlan final : public UniformPlan {
 public:
  FoldedRingPlan(const PlanTotals& totals, Member ring, std::uint32_t pieces, Bytes shard)
      : UniformPlan(totals), ring_(ring), pieces_(pieces), per_step_(initial_sends()), cut_(shard, pieces) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t in_step = i % per_step_;
    const Member from = in_step % members();
    return {.from = from, .to = next(from), .bytes = cut_[in_step / members()]};
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t same_sender = std::uint64_t{arrived} + per_step_;
    if (same_sender >= totals_.sends) return;
    const bool last_member = arrived % members() == members() - 1;
    out.push_back(static_cast<SendIndex>(last_member ? same_sender + 1 - members() : same_sender + 1));
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> stream() const override {
    if (ring_ == 2 && pieces_ == 1 && totals_.critical == 1) return nullptr;  // as RingPlan::stream
    PlanTotals totals = totals_;
    totals.sends = totals.initial = totals.chunks = members();
    totals.waits = 0;
    totals.critical = 1;
    return std::make_unique<FoldedRingPlan>(totals, ring_, 1, Bytes{totals_.wire.count / members()});
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    for (Member m = 0; m < members(); ++m) all.emplace_back(m, next(m));
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * pieces_;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * pieces_;
  }

 private:
  [[nodiscard]] Member next(Member m) const { return m + 1 == ring_ ? 0 : m + 1; }

  Member ring_;
  std::uint32_t pieces_;
  std::uint32_t per_step_;
  EvenSplit cut_;
};

/// All members send in every step: all-reduce, reduce-scatter, all-gather. In step s member m passes on the shard that it
/// received in step s-1. Sends are numbered (step, piece, member); the pieces are rings that do not wait for each other.
class RingPlan final : public UniformPlan {
 public:
  RingPlan(const CollectiveCall& call, const PlanTotals& totals, Member reduce_steps)
      : UniformPlan(totals),
        n_(call.members),
        pieces_(call.pieces),
        per_step_(initial_sends()),
        reduce_steps_(reduce_steps),
        // A reduction starts one shard behind the own one, so that the own one comes home complete after n-1 steps.
        first_shard_(2 * n_ - (reduce_steps > 0 ? 1 : 0)),
        size_is_shard_(call.op == CollectiveOp::kAllGather),
        size_(call.size),
        cut_(call.size, size_is_shard_ ? pieces_ : per_step_) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t step = i / per_step_;
    const std::uint32_t in_step = i - step * per_step_;
    const std::uint32_t piece = pieces_ == 1 ? 0 : in_step / n_;
    const Member from = in_step - piece * n_;
    const std::uint32_t chunk = wrap(from + first_shard_ - step, n_) * pieces_ + piece;
    return {.from = from,
            .to = from + 1 == n_ ? 0 : from + 1,
            .bytes = cut_[size_is_shard_ ? piece : chunk],
            .first_chunk = chunk,
            .reduce = step < reduce_steps_};
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t same_sender = std::uint64_t{arrived} + per_step_;
    if (same_sender >= totals_.sends) return;
    const bool last_member = arrived % n_ == n_ - 1;  // per_step_ is a multiple of n
    out.push_back(static_cast<SendIndex>(last_member ? same_sender + 1 - n_ : same_sender + 1));
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> stream() const override {
    if (n_ == 2 && pieces_ == 1 && totals_.critical == 1) return nullptr;  // one send a pair already
    // Every step waits for the largest of its shards, which a flow with the sum of a pair's does not.
    const bool uneven = !size_is_shard_ && size_.count % per_step_ != 0;
    if (uneven && size_.count / per_step_ < kLeastUnevenShard) return nullptr;
    SendPlanBuilder builder(n_, 1);
    for (Member m = 0; m < n_; ++m) {
      builder.add({.from = m, .to = m + 1 == n_ ? 0 : m + 1, .bytes = bytes_from(m)});
    }
    return std::move(builder).build();
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    if (!size_is_shard_ && size_.count % per_step_ != 0) return nullptr;  // some shards are a byte larger
    const Member fold = n_ / period;
    PlanTotals totals = totals_.folded(period);
    totals.chunks /= fold;
    return std::make_unique<FoldedRingPlan>(totals, n_, pieces_, size_is_shard_ ? size_ : Bytes{size_.count / n_});
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    all.reserve(n_);
    for (Member m = 0; m < n_; ++m) all.emplace_back(m, m + 1 == n_ ? 0 : m + 1);
    return all;
  }

  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * pieces_;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * pieces_;
  }

 private:
  /// All that a member sends: the steps go once or twice around the shards, but for the last few.
  [[nodiscard]] Bytes bytes_from(Member m) const {
    const std::int64_t steps = totals_.critical;
    if (size_is_shard_) return {totals_.wire.count / n_};
    const std::uint32_t rounds = (totals_.critical + n_ - 1) / n_;
    Bytes sum{totals_.wire.count / steps * rounds};
    for (std::uint32_t step = totals_.critical; step < rounds * n_; ++step) {
      const std::uint32_t left_out = wrap(m + first_shard_ - step, n_) * pieces_;
      for (std::uint32_t piece = 0; piece < pieces_; ++piece) sum = sum - cut_[left_out + piece];
    }
    return sum;
  }

  Member n_;
  std::uint32_t pieces_;
  std::uint32_t per_step_;
  std::uint32_t reduce_steps_;
  std::uint32_t first_shard_;  ///< relative to the sender in step 0, plus 2n to stay positive
  bool size_is_shard_;
  Bytes size_;
  EvenSplit cut_;
};

/// One token or stream of pieces that walks along the ring: broadcast, reduce, barrier. Sends are numbered (hop, piece).
class ChainPlan final : public UniformPlan {
 public:
  ChainPlan(const CollectiveCall& call, const PlanTotals& totals, Member start, Member reduce_hops)
      : UniformPlan(totals),
        n_(call.members),
        pieces_(initial_sends()),
        start_(start),
        reduce_hops_(reduce_hops),
        cut_(call.op == CollectiveOp::kBarrier ? Bytes{} : call.size, pieces_) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t hop = i / pieces_;
    const std::uint32_t piece = i - hop * pieces_;
    const Member from = wrap(start_ + hop, n_);
    return {.from = from,
            .to = from + 1 == n_ ? 0 : from + 1,
            .bytes = cut_[piece],
            .first_chunk = piece,
            .reduce = hop < reduce_hops_};
  }

  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t next = std::uint64_t{arrived} + pieces_;
    if (next < totals_.sends) out.push_back(static_cast<SendIndex>(next));
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> used;
    for (Member hop = 0; hop < std::min<Member>(hops(), n_); ++hop) {
      const Member from = wrap(start_ + hop, n_);
      used.emplace_back(from, from + 1 == n_ ? 0 : from + 1);
    }
    std::sort(used.begin(), used.end());
    return used;
  }

  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t /*round*/) const override {
    return hops_at(wrap(member + n_ - start_, n_)) * pieces_;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t /*round*/) const override {
    return hops_at(wrap(member + 2 * n_ - start_ - 1, n_)) * pieces_;
  }

 private:
  [[nodiscard]] std::uint32_t hops() const { return totals_.critical; }
  /// Returns how many hops leave the member that is `distance` behind the start: distance, distance + n, ... < hops.
  [[nodiscard]] std::uint32_t hops_at(Member distance) const { return (hops() + n_ - 1 - distance) / n_; }

  Member n_;
  std::uint32_t pieces_;
  Member start_;
  Member reduce_hops_;
  EvenSplit cut_;
};

/// Every chunk crosses `steps` circuits; `total` is the bytes of all chunks together.
PlanTotals ring_totals(const CollectiveCall& call, std::uint32_t steps, Bytes total) {
  const std::uint64_t chunks = std::uint64_t{call.members} * call.pieces;
  return {.members = call.members,
          .sends = chunks * steps,
          .initial = chunks,
          .waits = 1,
          .chunks = chunks,
          .wire = multiply(total, steps),
          .critical = steps};
}

PlanTotals chain_totals(const CollectiveCall& call, std::uint32_t hops, std::uint32_t pieces, Bytes total) {
  return {.members = call.members,
          .sends = std::uint64_t{pieces} * hops,
          .initial = pieces,
          .waits = 1,
          .chunks = pieces,
          .wire = multiply(total, hops),
          .critical = hops};
}

class Ring final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring"; }
  [[nodiscard]] std::string_view summary() const override {
    return "each member sends to the next one only: least bytes, 2(n-1) steps for an all-reduce";
  }

  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    switch (op) {
      case CollectiveOp::kAllReduce:
      case CollectiveOp::kReduceScatter:
      case CollectiveOp::kAllGather:
      case CollectiveOp::kBroadcast:
      case CollectiveOp::kReduce:
      case CollectiveOp::kBarrier:
        return members >= 2;
      default:
        return false;
    }
  }

  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const Member once = call.members - 1;
    const auto ring = [&](Member steps, Member reduce_steps, Bytes total) -> std::unique_ptr<const SendPlan> {
      return std::make_unique<RingPlan>(call, ring_totals(call, steps, total), reduce_steps);
    };
    const auto chain = [&](Member start, Member hops, Member reduce_hops) -> std::unique_ptr<const SendPlan> {
      const bool token = call.op == CollectiveOp::kBarrier;
      const PlanTotals totals = chain_totals(call, hops, token ? 1 : call.pieces, token ? Bytes{} : call.size);
      return std::make_unique<ChainPlan>(call, totals, start, reduce_hops);
    };
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return ring(2 * once, once, call.size);
      case CollectiveOp::kReduceScatter:
        return ring(once, once, call.size);
      case CollectiveOp::kAllGather:
        return ring(once, 0, multiply(call.size, call.members));
      case CollectiveOp::kBroadcast:
        return chain(call.root, once, 0);
      case CollectiveOp::kReduce:
        return chain(call.root + 1 == call.members ? 0 : call.root + 1, once, once);
      default:  // barrier: the token visits all members once to collect their arrival and once to release them
        return chain(0, 2 * once, once);
    }
  }

  /// In one piece: all-reduce 2(n-1) (alpha + S/n beta), reduce-scatter half of it, all-gather (n-1) (alpha + S beta);
  /// broadcast and reduce (n-1) (alpha + S/p beta) for the first of p pieces, the others one behind the other; barrier
  /// 2(n-1) alpha.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const LinkCost link = on.rail_to(1);
    const std::uint32_t once = call.members - 1;
    const double size = static_cast<double>(call.size.count);
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return CollectiveCost{.picoseconds = piped_ring(link, 2 * once, size / call.members, call.pieces)};
      case CollectiveOp::kReduceScatter:
        return CollectiveCost{.picoseconds = piped_ring(link, once, size / call.members, call.pieces)};
      case CollectiveOp::kAllGather:
        return CollectiveCost{.picoseconds = piped_ring(link, once, size, call.pieces)};
      case CollectiveOp::kBarrier:
        return CollectiveCost{.picoseconds = 2 * once * link.alpha()};
      default: {
        const double behind = static_cast<double>(link.overhead.count()) + link.beta(size / call.pieces);
        return CollectiveCost{.picoseconds = once * link.send(size / call.pieces) + (call.pieces - 1) * behind};
      }
    }
  }
};

}  // namespace

double piped_ring(const LinkCost& link, std::uint32_t steps, double shard, std::uint32_t pieces) {
  const double busy = pieces * static_cast<double>(link.overhead.count()) + link.beta(shard);
  const double step = std::max(busy, link.send(shard / pieces));
  return (steps - 1) * step + busy + static_cast<double>(link.latency.count());
}

std::unique_ptr<const CollectiveAlgorithm> make_ring() { return std::make_unique<Ring>(); }

}  // namespace photonrail::collective
