// One ring a port: channel c passes its part of the data on to the member `stride` further, and the strides differ, so that
// each port has a neighbour of its own (the channels of NCCL's rings; rings of different strides as in TopoOpt, NSDI 2023).
// Rails join parallel circuits to one link, so that this is no faster there than a ring; what it gives is that no single
// circuit carries everything. Strides are coprime with n; where n has fewer than `ports` of them, the rest of the ports
// stays dark.
#include "collective/builtin.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::collective {

namespace {

/// 1, -1, then the next coprime pair ... of n, at most `most`.
std::vector<Member> strides_of(Member n, std::uint32_t most) {
  std::vector<Member> strides;
  for (Member up = 1; up <= n / 2 && strides.size() < most; ++up) {
    if (std::gcd(up, n) != 1) continue;
    strides.push_back(up);
    if (n - up != up && strides.size() < most) strides.push_back(n - up);
  }
  return strides;
}

/// Sends are numbered (step, channel, piece, sender). Chunk (m * channels + c) * pieces + p is a piece of shard m.
class ChannelsPlan final : public UniformPlan {
 public:
  ChannelsPlan(const CollectiveCall& call, std::vector<Member> strides)
      : UniformPlan(totals(call, strides.size())),
        n_(call.members),
        lanes_(static_cast<std::uint32_t>(strides.size()) * call.pieces),
        pieces_(call.pieces),
        reduce_steps_(call.op == CollectiveOp::kAllGather ? 0 : n_ - 1),
        size_is_shard_(call.op == CollectiveOp::kAllGather),
        cut_(call.size, size_is_shard_ ? lanes_ : std::uint64_t{lanes_} * n_),
        strides_(std::move(strides)) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t step = i / (lanes_ * n_);
    const std::uint32_t lane = i / n_ % lanes_;
    const Member from = i % n_;
    const Member stride = strides_[lane / pieces_];
    // A reduction starts one shard behind the own one, as in the ring.
    const std::uint64_t back = step + (reduce_steps_ > 0 ? 1 : 0);
    const auto shard = static_cast<Member>((from + (2 * std::uint64_t{n_} - back % n_) * stride) % n_);
    const std::uint32_t chunk = shard * lanes_ + lane;
    return {.from = from,
            .to = (from + stride) % n_,
            .bytes = cut_[size_is_shard_ ? lane : chunk],
            .first_chunk = chunk,
            .reduce = step < reduce_steps_};
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t same_sender = std::uint64_t{arrived} + totals_.initial;
    if (same_sender >= totals_.sends) return;
    const Member from = arrived % n_;
    out.push_back(static_cast<SendIndex>(same_sender - from + (from + strides_[arrived / n_ % lanes_ / pieces_]) % n_));
  }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    all.reserve(std::size_t{n_} * strides_.size());
    for (Member m = 0; m < n_; ++m) {
      for (const Member stride : strides_) all.emplace_back(m, (m + stride) % n_);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * lanes_;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override {
    return totals_.critical * lanes_;
  }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call, std::size_t channels) {
    const std::uint64_t n = call.members;
    const std::uint64_t per_step = n * channels * call.pieces;
    const auto steps = static_cast<std::uint32_t>((n - 1) * (call.op == CollectiveOp::kAllReduce ? 2 : 1));
    return {.members = call.members,
            .sends = per_step * steps,
            .initial = per_step,
            .waits = steps > 1 ? 1u : 0u,
            .chunks = per_step,
            .wire = multiply(call.size, steps * (call.op == CollectiveOp::kAllGather ? n : 1)),
            .critical = steps};
  }

  Member n_;
  std::uint32_t lanes_;  ///< channels x pieces
  std::uint32_t pieces_;
  std::uint32_t reduce_steps_;
  bool size_is_shard_;
  EvenSplit cut_;
  std::vector<Member> strides_;
};

class RingChannels final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring_channels"; }
  [[nodiscard]] std::string_view summary() const override {
    return "one ring a NIC port, each with neighbours of its own: the bytes and steps of a ring, spread over circuits";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 &&
           (op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter || op == CollectiveOp::kAllGather);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    return std::make_unique<ChannelsPlan>(call, strides_of(call.members, call.ports));
  }
  /// The ring's, with the ports that have a ring: see ring_cost. The rings run side by side, each with its part of the
  /// rate.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const auto channels = static_cast<std::uint32_t>(strides_of(call.members, call.ports).size());
    LinkCost link = on.rail_to(channels);
    link.rate.bytes_per_second /= channels;
    const double size = static_cast<double>(call.size.count) / channels;
    const double shard = call.op == CollectiveOp::kAllGather ? size : size / call.members;
    const std::uint32_t steps = (call.members - 1) * (call.op == CollectiveOp::kAllReduce ? 2 : 1);
    return CollectiveCost{.picoseconds = piped_ring(link, steps, shard, call.pieces), .partners = channels};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_ring_channels() { return std::make_unique<RingChannels>(); }

}  // namespace photonrail::collective
