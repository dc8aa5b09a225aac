// The smoke test of the Opus artifact (arXiv 2602.12521): 8 ranks, DP2 PP2 TP2, 96 layers, one micro-batch; ranks 0-3 are
// pipeline stage 0, ranks 4-7 stage 1. What a delay costs is derived here from the timeline of the electrical run. Where
// the data is (support/shared_data.hpp), the job is the trace, else the one that stands in for it (smoke_job.hpp).
#include "golden/golden.hpp"

#include <algorithm>

namespace photonrail::test {
namespace {

using ::testing::SizeIs;

constexpr std::size_t kStage0 = 0;  // its first rank
constexpr std::size_t kStage1 = 4;
constexpr double kDelaysMs[] = {1, 10, 50, 100, 200, 500, 1000};

std::string smoke(const std::string& kind) { return "papers/opus/smoke-" + kind + ".json"; }

RunResult smoke_at(const std::string& kind, double delay_ms) {
  const RunResult result =
      run(smoke(kind), {"/cluster/rail/switch/reconfiguration_ms=" + std::to_string(static_cast<int>(delay_ms))});
  expect_balanced(result);
  return result;
}

/// When the operations of one rank were reached, ran and ended.
class Timeline : public Observer {
 public:
  explicit Timeline(RankId rank) : rank_(rank) {}

  void begin(const Scenario& scenario) override { scenario_ = &scenario; }
  void operation(const OperationEvent& event) override {
    if (event.rank == rank_) events_.push_back(event);
  }

  /// The first event of that state, operation and dimension at `from` or later.
  [[nodiscard]] Time first(OperationEvent::State state, CollectiveOp op, Dimension d, Time from) const {
    const auto found = std::find_if(events_.begin(), events_.end(), [&](const OperationEvent& e) {
      return e.at >= from && e.state == state && e.op == op &&
             scenario_->graph.communicators()[e.communicator.index()].dimension == d;
    });
    EXPECT_NE(found, events_.end());
    return found == events_.end() ? Time{} : found->at;
  }

 private:
  RankId rank_;
  const Scenario* scenario_ = nullptr;
  std::vector<OperationEvent> events_;
};

/// With one lane a GPU, a data-parallel all-reduce that waits for its ring holds up the tensor-parallel reduce-scatter that
/// comes next. The rank does not notice while the all-reduce is through before that one is reached: from the electrical
/// run, the time between the two, less the time that the all-reduce itself takes.
Duration slack_behind_first_ring(std::size_t rank) {
  using enum OperationEvent::State;
  const Scenario scenario = load(smoke("electrical"));
  Timeline timeline(RankId{rank});
  Observer* const observers[] = {&timeline};
  (void)simulate(scenario, observers);
  const Time asked = timeline.first(kArrived, CollectiveOp::kAllReduce, Dimension::kDp, Time{});
  const Time began = timeline.first(kRunning, CollectiveOp::kAllReduce, Dimension::kDp, asked);
  const Time ended = timeline.first(kDone, CollectiveOp::kAllReduce, Dimension::kDp, asked);
  const Time next = timeline.first(kArrived, CollectiveOp::kReduceScatter, Dimension::kTp, asked);
  return next - asked - (ended - began);
}

/// What a delay costs beyond what hides it.
Duration beyond(Duration delay, Duration hidden) { return std::max(Duration{}, delay - hidden); }

class Smoke : public ::testing::Test {
 protected:
  void SetUp() override {
    electrical_ = run(smoke("electrical"));
    const auto& to_pipeline = electrical_.windows.at({Dimension::kDp, Dimension::kPp});
    // Only stage 1 goes from its rings to a hop: the backward one.
    ASSERT_THAT(to_pipeline, SizeIs(1));
    EXPECT_EQ(to_pipeline[0].count, 4u);
    before_backward_hop_ = to_pipeline[0].length;
    // Both stages go from a hop to their rings; stage 1 computes its whole backward pass in between, and is longer at it.
    const auto& to_rings = electrical_.windows.at({Dimension::kPp, Dimension::kDp});
    ASSERT_THAT(to_rings, SizeIs(2));
    EXPECT_EQ(to_rings[0].count, 4u);
    EXPECT_EQ(to_rings[1].count, 4u);
    before_rings_of_stage_0_ = to_rings[0].length;
    before_rings_of_stage_1_ = to_rings[1].length;
  }

  RunResult electrical_;
  Duration before_backward_hop_{};
  Duration before_rings_of_stage_0_{};
  Duration before_rings_of_stage_1_{};
};

// data/opus/smoke.json.
TEST_F(Smoke, BytesOnTheWireAreThePublishedOnes) {
  EXPECT_EQ(traffic(electrical_, Dimension::kDp).bytes.count, 143831072768);
  EXPECT_EQ(traffic(electrical_, Dimension::kTp).bytes.count, 8248434360320);
  EXPECT_EQ(traffic(electrical_, Dimension::kPp).bytes.count, 17179869184);
}

// The sizes of one rank's calls, from a dump of the trace. A ring of n moves 2(n-1) x the tensor for an all-reduce,
// n(n-1) x the shard for an all-gather, (n-1) x the input for a reduce-scatter: twice, twice and once for n = 2. There are
// four groups of each dimension, and two hops between each of four pairs of ranks.
TEST_F(Smoke, BytesOnTheWireFollowFromTheCallsOfTheTrace) {
  constexpr std::int64_t kGradients = 17978884096;
  constexpr std::int64_t kGathers = 618475290624;
  constexpr std::int64_t kScatters = 824633720832;
  constexpr std::int64_t kEmbedding = 262144000;  // gradient of an embedding: reduced over tp as well
  constexpr std::int64_t kActivations = 2147483648;
  EXPECT_EQ(traffic(electrical_, Dimension::kDp).bytes.count, 4 * 2 * kGradients);
  EXPECT_EQ(traffic(electrical_, Dimension::kTp).bytes.count, 4 * (2 * kGathers + kScatters + 2 * kEmbedding));
  EXPECT_EQ(traffic(electrical_, Dimension::kPp).bytes.count, 4 * 2 * kActivations);
  EXPECT_EQ(traffic(electrical_, Dimension::kPp).operations, 4u * 2u);
}

// data/opus/smoke.json: 28.821397 s on stage 0, 28.822292 s on stage 1, within 0.01 %.
TEST_F(Smoke, ComputeIsThePublishedOne) {
  for (std::size_t r = 0; r < 8; ++r) {
    const double published = r < kStage1 ? 28.821397 : 28.822292;
    EXPECT_NEAR(to_seconds(electrical_.ranks[r].compute), published, 1e-4 * published) << "rank " << r;
  }
}

TEST_F(Smoke, ElectricalStepIsThePublishedOneWithinOneAndAHalfPercent) {
  EXPECT_NEAR(to_seconds(electrical_.makespan), 62.2416, 0.015 * 62.2416);
}

// One micro-batch: every rank of stage 1 waits for the forward hop, and stage 0 for the backward one. Both hops find the
// ports in a ring (or dark, the first time): one delay each, on the critical path. The rings of stage 1 are asked for while
// it computes gradients, and the tensor-parallel operations do not wait for them; those of stage 0 likewise.
TEST_F(Smoke, OnDemandCostsExactlyTwoDelays) {
  for (const double delay : kDelaysMs) {
    const RunResult result = smoke_at("on-demand", delay);
    EXPECT_EQ(result.makespan, electrical_.makespan + 2 * ms(delay)) << delay << " ms";
    EXPECT_EQ(result.reconfigurations.critical_path, 2u) << delay << " ms";
    // Four times the circuits change on each of two rails: both hops, and the rings of both stages.
    EXPECT_EQ(result.reconfigurations.count, 8u);
  }
}

// The forward hop is announced at time 0 and has 10.5 s to hide in. The backward hop is announced when stage 1 is through
// with its rings, one window before it is wanted. Stage 0 is told of its rings when the hop has passed, and so is ready
// later by what the hop waited, no more.
TEST_F(Smoke, ProvisionedCostsWhatTheWindowBeforeTheBackwardHopDoesNotHide) {
  Duration last{};
  for (const double delay : kDelaysMs) {
    const RunResult result = smoke_at("provisioned", delay);
    const Duration cost = result.makespan - electrical_.makespan;
    EXPECT_EQ(cost, beyond(ms(delay), before_backward_hop_)) << delay << " ms";
    EXPECT_LE(cost, ms(delay));
    EXPECT_GE(cost, last) << "monotone in the delay";
    EXPECT_EQ(result.reconfigurations.critical_path, cost > Duration{} ? 1u : 0u) << delay << " ms";
    last = cost;
  }
  // After the last all-reduce of stage 1: the rest of the product that it ran beside (53.363 - 7.384), a reduce-scatter
  // (4.773) and two norms (2 x 0.447).
  EXPECT_NEAR(to_seconds(before_backward_hop_), 0.05165, 1e-5);
}

// One lane a GPU. Two more delays come to the critical path, each as soon as it is longer than what the rank still had to
// compute anyway before the tensor-parallel operation behind the first all-reduce:
// - stage 0: the first all-reduce (layer 47: 369 MB, 7.384 ms) is asked for when the last product of the layer (53.363 ms)
//   begins; its reduce-scatter is next. 53.363 - 7.384 = 45.980 ms are free;
// - stage 1: the all-reduce of the output embedding (262 MB, 5.245 ms) is asked for 4.719 ms before four products of
//   62.257 ms: 253.749 - 5.245 = 248.504 ms are free.
TEST_F(Smoke, OnDemandWithOneLaneCostsFourDelaysLessWhatTwoComputationsHide) {
  const Duration stage0 = slack_behind_first_ring(kStage0);
  const Duration stage1 = slack_behind_first_ring(kStage1);
  EXPECT_NEAR(to_seconds(stage0), 0.045980, 1e-6);
  EXPECT_NEAR(to_seconds(stage1), 0.248504, 1e-6);
  for (const double delay : kDelaysMs) {
    const RunResult result = smoke_at("on-demand-one-lane", delay);
    const Duration d = ms(delay);
    EXPECT_EQ(result.makespan - electrical_.makespan, 2 * d + beyond(d, stage0) + beyond(d, stage1)) << delay << " ms";
    EXPECT_EQ(result.reconfigurations.critical_path, 2u + (d > stage0 ? 1u : 0u) + (d > stage1 ? 1u : 0u));
  }
}

// Announced one phase ahead, each ring has its window before it on top of the slack: 356.763 + 45.980 = 402.743 ms on stage
// 0, and more than 10 s on stage 1.
TEST_F(Smoke, ProvisionedWithOneLaneCostsTwoDelaysLessWhatTheirWindowsHide) {
  const Duration stage0 = before_rings_of_stage_0_ + slack_behind_first_ring(kStage0);
  EXPECT_NEAR(to_seconds(stage0), 0.402743, 1e-6);
  EXPECT_GT(before_rings_of_stage_1_, ms(10000));
  for (const double delay : kDelaysMs) {
    const RunResult result = smoke_at("provisioned-one-lane", delay);
    const Duration d = ms(delay);
    EXPECT_EQ(result.makespan - electrical_.makespan, beyond(d, before_backward_hop_) + beyond(d, stage0))
        << delay << " ms";
    EXPECT_EQ(result.reconfigurations.critical_path, (d > before_backward_hop_ ? 1u : 0u) + (d > stage0 ? 1u : 0u));
  }
}

}  // namespace
}  // namespace photonrail::test
