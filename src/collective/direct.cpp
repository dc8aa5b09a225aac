// Each member that has data sends it directly to the members that need it; no member relays and no send waits for another.
//
// Gather and scatter: the root's port serves one peer at a time, so each peer is a round of its own, in ring order from the
// root. The rounds say which circuit is wanted when; they are no dependencies, so that on an electrical rail the sends
// share the root's port as a library that posts them all at once makes them do.
// All-to-all, all-gather, reduce-scatter and the two halves of an all-reduce: all sends at once in one round. Its pairs are
// no matching: it wants an electrical rail or n-1 ports.
#include "collective/builtin.hpp"
#include "collective/direct_shards.hpp"
#include "collective/shifts.hpp"
#include "collective/uneven.hpp"

namespace photonrail::collective {

namespace {

class MessagePlan final : public UniformPlan {
 public:
  explicit MessagePlan(const CollectiveCall& call)
      : UniformPlan({.sends = call.pieces, .initial = call.pieces, .chunks = call.pieces, .wire = call.size}),
        cut_(call.size, call.pieces) {}

  [[nodiscard]] Send send(SendIndex i) const override { return {.from = 0, .to = 1, .bytes = cut_[i], .first_chunk = i}; }
  void released_by(SendIndex /*arrived*/, std::vector<SendIndex>& /*out*/) const override {}
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override { return {{0, 1}}; }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t /*round*/) const override {
    return member == 0 ? initial_sends() : 0;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t /*round*/) const override {
    return member == 1 ? initial_sends() : 0;
  }

 private:
  EvenSplit cut_;
};

/// Gather and scatter. Round i is the exchange with member root + 1 + i; `pieces` has no use here.
class StarPlan final : public UniformPlan {
 public:
  explicit StarPlan(const CollectiveCall& call)
      : UniformPlan(totals(call)),
        root_(call.root),
        gather_(call.op == CollectiveOp::kGather),
        cut_(call.size, gather_ ? 1 : call.members) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member other = peer(i);
    const auto [from, to] = pair(other);
    return {.from = from, .to = to, .bytes = cut_[gather_ ? 0 : other], .first_chunk = other, .round = i};
  }
  void released_by(SendIndex /*arrived*/, std::vector<SendIndex>& /*out*/) const override {}
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override { return {pair(peer(round))}; }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return member == pair(peer(round)).first ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return member == pair(peer(round)).second ? 1 : 0;
  }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const Member peers = call.members - 1;
    const Bytes wire = call.op == CollectiveOp::kGather ? multiply(call.size, peers)
                                                        : call.size - share(call.size, call.members, call.root);
    return {
        .members = call.members, .sends = peers, .initial = peers, .rounds = peers, .chunks = call.members, .wire = wire};
  }

  [[nodiscard]] Member peer(std::uint32_t round) const {
    const Member other = root_ + 1 + round;
    return other >= members() ? other - members() : other;
  }
  [[nodiscard]] MemberPair pair(Member other) const {
    return gather_ ? MemberPair{other, root_} : MemberPair{root_, other};
  }

  Member root_;
  bool gather_;
  EvenSplit cut_;
};

/// Sends are numbered (sender, shift): what leaves one port stands together.
class AllAtOncePlan final : public UniformPlan {
 public:
  explicit AllAtOncePlan(const CollectiveCall& call) : UniformPlan(Shifts::totals(call)), shifts_(call) {}

  [[nodiscard]] Send send(SendIndex i) const override {
    const Member shifts = members() - 1;
    return shifts_.send(i % shifts * members() + i / shifts);
  }
  void released_by(SendIndex /*arrived*/, std::vector<SendIndex>& /*out*/) const override {}
  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    return shifts_.folded(totals_, period);
  }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t /*round*/) const override {
    std::vector<MemberPair> all;
    all.reserve(totals_.sends);
    for (Member from = 0; from < members(); ++from) {
      for (Member to = 0; to < members(); ++to) {
        if (from != to) all.emplace_back(from, to);
      }
    }
    return all;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override {
    return members() - 1;
  }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return members() - 1; }

 private:
  Shifts shifts_;
};

class Direct final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "direct"; }
  [[nodiscard]] std::string_view summary() const override {
    return "straight from every member that has data to every one that wants it, all at once: one step each way";
  }

  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    switch (op) {
      case CollectiveOp::kSend:
        return members == 2;
      case CollectiveOp::kGather:
      case CollectiveOp::kScatter:
      case CollectiveOp::kAllToAll:
      case CollectiveOp::kAllGather:
      case CollectiveOp::kReduceScatter:
      case CollectiveOp::kAllReduce:
        return members >= 2;
      default:
        return false;
    }
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp op, Member members) const override {
    const bool one_by_one = op == CollectiveOp::kSend || op == CollectiveOp::kGather || op == CollectiveOp::kScatter;
    return {.least_bytes = true, .matchings = one_by_one || members == 2};
  }

  [[nodiscard]] bool takes_demand() const override { return true; }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    if (call.op == CollectiveOp::kSend) return std::make_unique<MessagePlan>(call);
    if (call.demand != nullptr) return expand_uneven_direct(call);
    if (call.op == CollectiveOp::kAllToAll) return std::make_unique<AllAtOncePlan>(call);
    if (call.op == CollectiveOp::kGather || call.op == CollectiveOp::kScatter) return std::make_unique<StarPlan>(call);
    return make_direct_shards(call);
  }

  /// All-to-all and reduce-scatter: alpha + (n-1)/n S beta; all-gather: alpha + (n-1) S beta; all-reduce: 2 alpha + 2
  /// (n-1)/n S beta. Gather and scatter: alpha and the bytes of the root; on optical rails they go one after another. A
  /// message in p pieces: alpha + S beta, and the overhead of the others.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t others = call.members - 1;
    const double size = static_cast<double>(call.size.count);
    if (call.op == CollectiveOp::kSend) {
      const double more = static_cast<double>(on.rail.overhead.count()) * (call.pieces - 1);
      return CollectiveCost{.picoseconds = on.rail_to(1).send(size) + more};
    }
    const bool gathers = call.op == CollectiveOp::kAllGather || call.op == CollectiveOp::kGather;
    const double shard = gathers ? size : size / call.members;
    if (call.op == CollectiveOp::kGather || call.op == CollectiveOp::kScatter) {
      const LinkCost link = on.rail_to(1);
      const double time = on.optical() ? others * link.send(shard) : link.send(others * shard);
      return CollectiveCost{.picoseconds = time, .circuits = others};
    }
    const double port = call.demand != nullptr ? static_cast<double>(call.demand->busiest_port().count) : others * shard;
    const double once = on.rail_to(others).send(port);
    return CollectiveCost{.picoseconds = call.op == CollectiveOp::kAllReduce ? 2 * once : once, .partners = others};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_direct() { return std::make_unique<Direct>(); }

}  // namespace photonrail::collective
