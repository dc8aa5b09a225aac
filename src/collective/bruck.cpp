// Steps at distance 1, 2, 4 ... around the circle of members, ceil(log2 n) for any n (Bruck, Ho, Kipnis, Upfal and
// Weathersby 1997, "Efficient algorithms for all-to-all communications in multiport message-passing systems"): in every
// step each member sends to one and receives from one other. The reduce-scatter is the all-gather backwards (Traff 2024,
// arXiv 2410.14234); the dissemination barrier is its skeleton (Hensgen, Finkel and Manber 1988).
#include "collective/builtin.hpp"
#include "collective/steps.hpp"
#include "collective/uniform_plan.hpp"

#include <algorithm>
#include <bit>

namespace photonrail::collective {

namespace {

std::uint32_t steps_of(Member n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

/// `count` blocks from `first` on, around the circle.
Runs around(Member n, Member first, Member count) {
  if (first + count <= n) return {{first, count}};
  return {{first, n - first}, {0, first + count - n}};
}

/// After the step of `distance` a member has its own block and those of the 2 * distance - 1 members before it.
void gather(StepPlan& plan, Member n) {
  for (Member distance = 1; distance < n; distance *= 2) {
    const Member count = std::min(distance, n - distance);
    for (Member m = 0; m < n; ++m) {
      plan.send(m, (m + distance) % n, around(n, (m + n + 1 - count) % n, count));
    }
    if (2 * distance < n) plan.round();
  }
}

/// Before the step of `distance` a member answers for its own block and those of the 2 * distance - 1 members after it.
void reduce(StepPlan& plan, Member n) {
  for (Member distance = std::bit_floor(n - 1); distance > 0; distance /= 2) {
    const Member count = std::min(distance, n - distance);
    for (Member m = 0; m < n; ++m) {
      const Member to = (m + distance) % n;
      plan.send(m, to, around(n, to, count), true);
    }
    if (distance > 1) plan.round();
  }
}

/// Block (s, d) goes the bits of d - s, lowest first. Sends are numbered (step, sender).
class BruckAllToAll final : public UniformPlan {
 public:
  explicit BruckAllToAll(const CollectiveCall& call) : UniformPlan(totals(call)), n_(call.members) {
    const EvenSplit cut(call.size, n_);
    bytes_.reserve(totals_.sends);
    for (std::uint32_t step = 0; step < totals_.rounds; ++step) {
      for (Member m = 0; m < n_; ++m) {
        Bytes sum{};
        for (Member d = Member{1} << step; d < n_; d += Member{2} << step) {
          sum += {cut[wrap(m + d)].count * blocks(step, d)};
        }
        bytes_.push_back(sum);
        totals_.wire += sum;
      }
    }
  }

  [[nodiscard]] Send send(SendIndex i) const override {
    const std::uint32_t step = i / n_;
    const Member from = i % n_;
    const Member distance = Member{1} << step;
    return {.from = from,
            .to = wrap(from + distance),
            .bytes = bytes_[i],
            .first_chunk = from * n_ + wrap(from + distance),
            .round = step};
  }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    const std::uint32_t step = i / n_;
    const Member from = i % n_;
    for (Member d = Member{1} << step; d < n_; d += Member{2} << step) {
      for (Member done = 0; done < blocks(step, d); ++done) out.push_back({wrap(from + n_ - done) * n_ + wrap(from + d)});
    }
  }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const std::uint64_t sender_next = std::uint64_t{arrived} + n_;
    if (sender_next >= totals_.sends) return;
    const Member from = arrived % n_;
    out.push_back(static_cast<SendIndex>(sender_next));
    out.push_back(static_cast<SendIndex>(sender_next - from + send(arrived).to));
  }
  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> matching;
    matching.reserve(n_);
    for (Member m = 0; m < n_; ++m) matching.emplace_back(m, wrap(m + (Member{1} << round)));
    return matching;
  }
  [[nodiscard]] std::uint32_t sends_from(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }
  [[nodiscard]] std::uint32_t sends_to(Member /*member*/, std::uint32_t /*round*/) const override { return 1; }

  /// Returns how many blocks a member sends in a step.
  [[nodiscard]] static std::uint32_t blocks_of_step(Member n, std::uint32_t step) {
    const Member distance = Member{1} << step;
    return n / (2 * distance) * distance + std::max(n % (2 * distance), distance) - distance;
  }

 private:
  [[nodiscard]] static PlanTotals totals(const CollectiveCall& call) {
    const std::uint64_t n = call.members;
    const std::uint32_t steps = steps_of(call.members);
    static_cast<void>(multiply(call.size, n * steps));  // an upper bound of the bytes: they must fit
    return {.members = call.members,
            .sends = n * steps,
            .initial = n,
            .waits = 2,  // the member's send and its receive of the step before; they never coincide
            .rounds = steps,
            .chunks = n * n,
            .critical = steps};
  }
  [[nodiscard]] Member wrap(Member m) const { return m >= n_ ? m % n_ : m; }
  /// The blocks whose way still to go is d: they differ in the bits that are done.
  [[nodiscard]] std::uint32_t blocks(std::uint32_t step, Member d) const { return std::min(Member{1} << step, n_ - d); }

  Member n_;
  std::vector<Bytes> bytes_;
};

class Bruck final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bruck"; }
  [[nodiscard]] std::string_view summary() const override {
    return "to the members 1, 2, 4 ... further on the circle: ceil(log2 n) steps each way for any n, least bytes but for "
           "all-to-all (Bruck et al. 1997)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return members >= 2 && (op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter ||
                            op == CollectiveOp::kAllGather || op == CollectiveOp::kAllToAll);
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp op, Member members) const override {
    return {.least_bytes = op != CollectiveOp::kAllToAll || members == 2, .matchings = true};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    if (call.op == CollectiveOp::kAllToAll) return std::make_unique<BruckAllToAll>(call);
    StepPlan plan(call, call.members);
    if (call.op != CollectiveOp::kAllGather) reduce(plan, call.members);
    plan.step();  // an all-reduce goes on over the circuits of its last reduction
    if (call.op != CollectiveOp::kReduceScatter) gather(plan, call.members);
    return std::move(plan).build();
  }

  /// k = ceil(log2 n). All-reduce 2k alpha + 2 (n-1)/n S beta, reduce-scatter k alpha + (n-1)/n S beta, all-gather k alpha
  /// + (n-1) S beta; all-to-all k alpha + S/n beta for every block of every step.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t steps = steps_of(call.members);
    const LinkCost link = on.rail_to(1);
    const double n = call.members;
    const double shard = static_cast<double>(call.size.count) / (call.op == CollectiveOp::kAllGather ? 1.0 : n);
    double blocks = n - 1;
    if (call.op == CollectiveOp::kAllToAll) {
      blocks = 0;
      for (std::uint32_t step = 0; step < steps; ++step) blocks += BruckAllToAll::blocks_of_step(call.members, step);
    }
    const double once = steps * link.alpha() + link.beta(shard * blocks);
    const bool twice = call.op == CollectiveOp::kAllReduce;
    return CollectiveCost{.picoseconds = twice ? 2 * once : once, .circuits = twice ? 2 * steps - 1 : steps};
  }
};

class Dissemination final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "dissemination"; }
  [[nodiscard]] std::string_view summary() const override {
    return "a token to the members 1, 2, 4 ... further on the circle: ceil(log2 n) steps (Hensgen et al. 1988)";
  }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    return op == CollectiveOp::kBarrier && members >= 2;
  }
  [[nodiscard]] CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const override {
    return {.least_bytes = true, .matchings = true};
  }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    check_call(*this, call);
    StepPlan plan(call, 1);
    for (Member distance = 1; distance < call.members; distance *= 2) {
      for (Member m = 0; m < call.members; ++m) plan.send(m, (m + distance) % call.members, {{0, 1}}, true);
      plan.round();
    }
    return std::move(plan).build();
  }
  /// ceil(log2 n) alpha.
  [[nodiscard]] std::optional<CollectiveCost> cost(const CollectiveCall& call, const CostModel& on) const override {
    const std::uint32_t steps = steps_of(call.members);
    return CollectiveCost{.picoseconds = steps * on.rail_to(1).alpha(), .circuits = steps};
  }
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_bruck() { return std::make_unique<Bruck>(); }
std::unique_ptr<const CollectiveAlgorithm> make_dissemination() { return std::make_unique<Dissemination>(); }

}  // namespace photonrail::collective
