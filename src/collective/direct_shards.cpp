#include "collective/direct_shards.hpp"

#include "collective/uniform_plan.hpp"

namespace photonrail::collective {

namespace {

/// A reduction sends each member its shard; a gathering sends each the own shard. An all-reduce is one after the other: a
/// member gathers when it has the sum of its shard. Sends are numbered (half, shift, sender). A part has the first members'
/// sends alone.
class DirectShardsPlan final : public UniformPlan {
 public:
  explicit DirectShardsPlan(const CollectiveCall& call)
      : UniformPlan(totals(call)),
        n_(call.members),
        half_(std::uint64_t{n_} * (n_ - 1)),
        reduces_(call.op != CollectiveOp::kAllGather),
        size_is_shard_(!reduces_),
        cut_(call.size, size_is_shard_ ? 1 : n_) {}
  /// The part of the first `period` members. REQUIRES: all shards are equal.
  DirectShardsPlan(const DirectShardsPlan& whole, Member period)
      : UniformPlan(whole.totals_.folded(period)),
        n_(whole.n_),
        half_(std::uint64_t{period} * (n_ - 1)),
        reduces_(whole.reduces_),
        size_is_shard_(whole.size_is_shard_),
        cut_(whole.cut_) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const bool reduce = reduces_ && i < half_;
    const auto place = static_cast<SendIndex>(i % half_);
    const Member from = place % members();
    const Member to = receiver(from, place / members() + 1);
    const Member shard = reduce ? to : from;
    return {.from = from, .to = to, .bytes = cut_[size_is_shard_ ? 0 : shard], .first_chunk = shard, .reduce = reduce};
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    if (totals_.sends == half_ || arrived >= half_) return;
    const Member done = send(arrived).to % members();
    for (Member shift = 1; shift < n_; ++shift) {
      out.push_back(static_cast<SendIndex>(half_ + std::uint64_t{shift - 1} * members() + done));
    }
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    if (cut_[0] != cut_[n_ - 1] && !size_is_shard_) return nullptr;
    return std::make_unique<DirectShardsPlan>(*this, period);
  }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    all.reserve(half_);
    for (Member from = 0; from < members(); ++from) {
      for (Member to = 0; to < n_; ++to) {
        if (from != to) all.emplace_back(from, to);
      }
    }
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return (n_ - 1) * totals_.critical;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return sends_from(member, round);
  }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const std::uint64_t n = call.members;
    const std::uint32_t halves = call.op == CollectiveOp::kAllReduce ? 2 : 1;
    return {.members = call.members,
            .sends = n * (n - 1) * halves,
            .initial = n * (n - 1),
            .waits = call.members - 1,
            .chunks = n,
            .wire = multiply(call.size, (call.op == CollectiveOp::kAllGather ? n : halves) * (n - 1)),
            .critical = halves};
  }
  [[nodiscard]] Member receiver(Member from, Member shift) const {
    return from + shift >= n_ ? from + shift - n_ : from + shift;
  }

  Member n_;            ///< of the whole plan
  std::uint64_t half_;  ///< sends of one half
  bool reduces_;
  bool size_is_shard_;
  EvenSplit cut_;
};

}  // namespace

std::unique_ptr<const SendPlan> make_direct_shards(const CollectiveCall& call) {
  return std::make_unique<DirectShardsPlan>(call);
}

}  // namespace photonrail::collective
