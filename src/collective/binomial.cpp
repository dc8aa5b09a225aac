// Binomial trees (Thakur, Rabenseifner and Gropp 2005, section 4): in the step of distance 1, 2, 4 ... the members that
// have the data send it that much further, counted from the root. Gather and reduce run backwards. Every step is a
// matching.
#include "collective/binomial.hpp"

#include "collective/builtin.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>
#include <bit>

namespace photonrail::collective {

void binomial_trees(StepPlan& plan, const std::vector<std::vector<Member>>& lines, TreeFlow flow, const TreeData& data) {
  const auto n = static_cast<Member>(lines.front().size());
  const bool up = flow != TreeFlow::kSpread;
  for (Member distance = up ? 1 : std::bit_ceil(n) / 2; distance > 0 && distance < n;
       distance = up ? distance * 2 : distance / 2) {
    for (std::size_t l = 0; l < lines.size(); ++l) {
      for (Member v = 0; v + distance < n; v += 2 * distance) {
        const Member near = lines[l][v];
        const Member far = lines[l][v + distance];
        const Runs runs = data(l, v + distance, std::min(distance, n - v - distance));
        plan.send(up ? far : near, up ? near : far, runs, flow == TreeFlow::kReduce);
      }
    }
    plan.round();
  }
}

namespace {

bool is_barrier(const CollectiveCall& call) { return call.op == CollectiveOp::kBarrier; }

class Binomial final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "binomial"; }
  [[nodiscard]] std::string_view summary() const override {
    return "a tree from the root, each step to 1, 2, 4 ... further: ceil(log2 n) steps (Thakur et al. 2005)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    switch (op) {
      case CollectiveOp::kBroadcast:
      case CollectiveOp::kReduce:
      case CollectiveOp::kScatter:
      case CollectiveOp::kGather:
      case CollectiveOp::kBarrier:
        return members >= 2;
      default:
        return false;
    }
  }
  /// Scatter and gather pass shards on from member to member; the rest sends nothing twice.
  [[nodiscard]] CollectiveClaims claims(CollectiveOp op, Member members) const override {
    const bool shards = op == CollectiveOp::kScatter || op == CollectiveOp::kGather;
    return {.least_bytes = !shards || members == 2, .matchings = true};
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    const Member n = call.members;
    std::vector<std::vector<Member>> line(1);
    for (Member v = 0; v < n; ++v) line[0].push_back((call.root + v) % n);
    const bool shards = call.op == CollectiveOp::kScatter || call.op == CollectiveOp::kGather;
    const TreeData data = [&](std::size_t, Member v, Member count) -> Runs {
      if (!shards) return {{0, 1}};
      const Member first = line[0][v];
      if (first + count <= n) return {{first, count}};
      return {{first, n - first}, {0, first + count - n}};
    };
    StepPlan plan(call, shards ? n : 1);
    const bool reduce = call.op == CollectiveOp::kReduce || is_barrier(call);
    if (reduce) binomial_trees(plan, line, TreeFlow::kReduce, data);
    if (call.op == CollectiveOp::kGather) binomial_trees(plan, line, TreeFlow::kCollect, data);
    if (call.op != CollectiveOp::kReduce && call.op != CollectiveOp::kGather) {
      binomial_trees(plan, line, TreeFlow::kSpread, data);
    }
    return std::move(plan).build();
  }

  /// k = ceil(log2 n). Broadcast, reduce: k (alpha + S beta); scatter: k alpha + (n-1)/n S beta at the root; gather: k
  /// alpha + (n-1) S beta at the root; barrier: 2k alpha.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const auto steps = static_cast<std::uint32_t>(std::bit_width(call.members - 1));
    const LinkCost link = on.rail_to(1);
    const double size = static_cast<double>(call.size.count);
    const double others = call.members - 1;
    CollectiveCost cost{.picoseconds = steps * link.alpha(), .circuits = steps};
    if (is_barrier(call)) return CollectiveCost{.picoseconds = 2 * cost.picoseconds, .circuits = 2 * steps};
    if (call.op == CollectiveOp::kScatter) cost.picoseconds += link.beta(others / call.members * size);
    if (call.op == CollectiveOp::kGather) cost.picoseconds += link.beta(others * size);
    if (call.op == CollectiveOp::kBroadcast || call.op == CollectiveOp::kReduce) {
      cost.picoseconds += link.beta(steps * size);
    }
    return cost;
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_binomial() { return std::make_unique<Binomial>(); }

}  // namespace photonrail::collective
