// Recursive halving and doubling (Thakur, Rabenseifner and Gropp 2005, "Optimization of collective communication operations
// in MPICH", sections 4.1, 4.3 and 4.4): partners at distance 1, 2, 4 ... exchange what they have, or at ... 4, 2, 1 halves
// of it. Every step is a matching of its own.
//
// Where n is no power of two, n = c + x with c the largest power of two below: members 0 .. 2x-1 are pairs, the odd one of
// a pair leaves its data to the even one, sits out, and is told the result. That costs more bytes than a ring sends.
#include "collective/builtin.hpp"
#include "collective/steps.hpp"
#include "collective/uniform_plan.hpp"

#include <bit>

namespace photonrail::collective {

namespace {

/// The c members that stay, numbered 0 .. c-1, and what each stands for.
class Core {
 public:
  explicit Core(Member members) : n_(members), size_(std::bit_floor(members)), extra_(members - size_) {}

  [[nodiscard]] Member size() const { return size_; }
  [[nodiscard]] Member extra() const { return extra_; }
  [[nodiscard]] std::uint32_t steps() const { return static_cast<std::uint32_t>(std::countr_zero(size_)); }
  [[nodiscard]] Member member(Member v) const { return v < extra_ ? 2 * v : v + extra_; }
  /// Members 0 .. first(v)-1 are, or stand behind, the first v of the core.
  [[nodiscard]] std::uint32_t first(Member v) const { return v < extra_ ? 2 * v : v + extra_; }
  /// The shards, one a member, of `count` of the core from v on.
  [[nodiscard]] ChunkRun shards(Member v, Member count) const { return {first(v), first(v + count) - first(v)}; }
  [[nodiscard]] std::uint32_t all() const { return n_; }

 private:
  Member n_;
  Member size_;
  Member extra_;
};

/// The odd ones of the pairs send `data` to the even ones, and add it there.
void fold(StepPlan& plan, const Core& core, ChunkRun data) {
  for (Member v = 0; v < core.extra(); ++v) plan.send(2 * v + 1, 2 * v, {data}, true);
  plan.round();
}

void unfold(StepPlan& plan, const Core& core, ChunkRun data) {
  plan.round();
  for (Member v = 0; v < core.extra(); ++v) plan.send(2 * v, 2 * v + 1, {data});
}

using Block = ChunkRun (*)(const Core&, Member, Member);
ChunkRun shards(const Core& core, Member v, Member count) { return core.shards(v, count); }
ChunkRun parts(const Core& /*core*/, Member v, Member count) { return {v, count}; }

/// In the step of `distance` each of the core sends its partner the half of their common block that is the partner's.
void halve(StepPlan& plan, const Core& core, Block block) {
  for (Member distance = core.size() / 2; distance > 0; distance /= 2) {
    for (Member v = 0; v < core.size(); ++v) {
      const Member partner = v ^ distance;
      plan.send(core.member(v), core.member(partner), {block(core, partner & ~(distance - 1), distance)}, true);
    }
    if (distance > 1) plan.round();
  }
}

void double_up(StepPlan& plan, const Core& core, Block block) {
  for (Member distance = 1; distance < core.size(); distance *= 2) {
    for (Member v = 0; v < core.size(); ++v) {
      plan.send(core.member(v), core.member(v ^ distance), {block(core, v & ~(distance - 1), distance)});
    }
    if (distance < core.size() / 2) plan.round();
  }
}

std::unique_ptr<const SendPlan> all_reduce(const CollectiveCall& call) {
  const Core core(call.members);
  const ChunkRun whole{0, core.size()};
  StepPlan plan(call, core.size());
  fold(plan, core, whole);
  halve(plan, core, parts);
  plan.step();  // the first step of the second half has the partners of the last one of the first
  double_up(plan, core, parts);
  unfold(plan, core, whole);
  return std::move(plan).build();
}

std::unique_ptr<const SendPlan> reduce_scatter(const CollectiveCall& call) {
  const Core core(call.members);
  StepPlan plan(call, call.members);
  fold(plan, core, {0, core.all()});
  halve(plan, core, shards);
  plan.round();
  for (Member v = 0; v < core.extra(); ++v) plan.send(2 * v, 2 * v + 1, {{2 * v + 1, 1}});
  return std::move(plan).build();
}

std::unique_ptr<const SendPlan> all_gather(const CollectiveCall& call) {
  const Core core(call.members);
  const Member n = call.members;
  StepPlan plan(call, n);
  for (Member v = 0; v < core.extra(); ++v) plan.send(2 * v + 1, 2 * v, {{2 * v + 1, 1}});
  plan.round();
  double_up(plan, core, shards);
  plan.round();
  for (Member v = 0; v < core.extra(); ++v) {
    Runs others{{0, 2 * v + 1}};
    if (2 * v + 2 < n) others.push_back({2 * v + 2, n - 2 * v - 2});
    plan.send(2 * v, 2 * v + 1, others);
  }
  return std::move(plan).build();
}

class HalvingDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "halving_doubling"; }
  [[nodiscard]] std::string_view summary() const override {
    return "partners at distance 1, 2, 4 ... exchange halves: log2 n steps each way, least bytes for powers of two "
           "(Thakur et al. 2005)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 &&
           (op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter || op == CollectiveOp::kAllGather);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member members) const override {
    return {.least_bytes = std::has_single_bit(members), .matchings = true};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    if (call.op == CollectiveOp::kAllReduce) return all_reduce(call);
    return call.op == CollectiveOp::kAllGather ? all_gather(call) : reduce_scatter(call);
  }

  /// Powers of two: all-reduce 2 log2(n) alpha + 2 (n-1)/n S beta, reduce-scatter log2(n) alpha + (n-1)/n S beta,
  /// all-gather log2(n) alpha + (n-1) S beta. Others: the blocks of the low members are the large ones, and the pairs come
  /// on top.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const Core core(call.members);
    const LinkCost link = on.rail_to(1);
    const double size = static_cast<double>(call.size.count);
    const double n = call.members;
    const bool all_reduce = call.op == CollectiveOp::kAllReduce;
    const double shard = all_reduce ? size / core.size() : call.op == CollectiveOp::kAllGather ? size : size / n;
    CollectiveCost cost{.circuits = core.steps()};
    for (Member distance = 1; distance < core.size(); distance *= 2) {
      cost.picoseconds += link.send(shard * (all_reduce ? distance : core.first(distance)));
    }
    if (all_reduce) {
      cost.picoseconds *= 2;
      cost.circuits = 2 * core.steps() - 1;
    }
    if (core.extra() == 0) return cost;
    cost.circuits += 2;
    const double whole = all_reduce ? size : shard * n;
    // A reduce-scatter brings one shard back, an all-gather sends one there and brings the others back.
    const double way_back = all_reduce ? size : call.op == CollectiveOp::kAllGather ? whole - shard : shard;
    cost.picoseconds += link.send(call.op == CollectiveOp::kAllGather ? shard : whole) + link.send(way_back);
    return cost;
  }
};

/// Every member exchanges all that it has with a partner at distance 1, 2, 4 ...: few steps, S bytes in each.
class RecursiveDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "recursive_doubling"; }
  [[nodiscard]] std::string_view summary() const override {
    return "partners at distance 1, 2, 4 ... exchange the whole tensor: log2 n steps, for small sizes (Thakur et al. 2005)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 && (op == CollectiveOp::kAllReduce || op == CollectiveOp::kBarrier);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.matchings = true};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const Core core(call.members);
    StepPlan plan(call, 1);
    fold(plan, core, {0, 1});
    for (Member distance = 1; distance < core.size(); distance *= 2) {
      for (Member v = 0; v < core.size(); ++v) plan.send(core.member(v), core.member(v ^ distance), {{0, 1}}, true);
      plan.round();
    }
    unfold(plan, core, {0, 1});
    return std::move(plan).build();
  }
  /// (log2(c) + 2 for what is no power of two) (alpha + S beta).
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const Core core(call.members);
    const std::uint32_t steps = core.steps() + (core.extra() > 0 ? 2 : 0);
    const Bytes size = call.op == CollectiveOp::kBarrier ? Bytes{} : call.size;
    return CollectiveCost{.picoseconds = steps * on.rail_to(1).send(size), .circuits = steps};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_halving_doubling() { return std::make_unique<HalvingDoubling>(); }
std::unique_ptr<const CollectiveAlgorithm> make_recursive_doubling() { return std::make_unique<RecursiveDoubling>(); }

}  // namespace photonrail::collective
