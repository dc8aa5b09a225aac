#include "report/ccl_bench.hpp"

#include "photonrail/error.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "report/durations.hpp"
#include "support/own_names.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace photonrail::test {
namespace {

using report::CclBenchMetrics;
using report::CclBenchObserver;
using report::scale_up_bw_utility;
using State = OperationEvent::State;

/// A run told event by event.
class ToldRun {
 public:
  explicit ToldRun(std::size_t ranks, std::uint32_t iterations = 1) : builder_(ranks), ranks_(ranks) {
    scenario_.cluster.gpu.peak_tflops = 100;
    scenario_.cluster.servers = static_cast<std::uint32_t>(ranks);
    for (std::size_t r = 0; r < ranks; ++r) scenario_.gpu_of_rank.emplace_back(r);
    scenario_.run.iterations = iterations;
    program_ = builder_.add_program();
  }
  ToldRun& compute_task(double flops) {
    builder_.add_compute(program_, flops, Bytes{});
    return *this;
  }
  /// Task ids and communicators count from 0 in the order of the calls.
  ToldRun& collective_task(CollectiveOp op, std::int64_t bytes, Dimension d) {
    std::vector<RankId> all;
    for (std::size_t r = 0; r < ranks_; ++r) all.emplace_back(r);
    groups_.push_back(builder_.add_communicator("g" + std::to_string(groups_.size()), all, d));
    ops_.push_back(op);
    builder_.add_collective(program_, static_cast<std::uint32_t>(groups_.size() - 1), op, Bytes{bytes});
    return *this;
  }
  ToldRun& hosts_of_storage(std::uint32_t ranks) {
    scenario_.storage_ranks = ranks;
    return *this;
  }
  ToldRun& begin(CommLanes lanes = CommLanes::kPerCommunicator) {
    for (std::size_t r = 0; r < ranks_; ++r) builder_.assign(RankId{r}, program_, groups_);
    scenario_.graph = std::move(builder_).build();
    scenario_.executor.comm_lanes = lanes;
    observer_.begin(scenario_);
    return *this;
  }
  ToldRun& compute(std::size_t rank, Duration from, Duration to, Stream stream = Stream::kGpu) {
    observer_.compute({Time{from}, Time{to}, RankId{rank}, TaskId{0}, stream});
    return *this;
  }
  ToldRun& reached(std::size_t rank, std::uint32_t sequence, Duration at) {
    return tell(rank, sequence, 0, 0, at, State::kArrived);
  }
  ToldRun& done(std::size_t rank, std::uint32_t sequence, std::size_t group, std::size_t task, Duration at) {
    return tell(rank, sequence, group, task, at, State::kDone);
  }
  ToldRun& step(Duration at) {
    for (std::size_t r = 0; r < ranks_; ++r) observer_.iteration(RankId{r}, step_, Time{at});
    ++step_;
    return *this;
  }
  const CclBenchMetrics& end(Duration at) {
    observer_.end(Time{at});
    return observer_.metrics();
  }

 private:
  ToldRun& tell(std::size_t rank, std::uint32_t sequence, std::size_t group, std::size_t task, Duration at, State state) {
    observer_.operation({Time{at}, sequence, groups_[group], ops_[group], RankId{rank}, TaskId{task}, state});
    return *this;
  }

  TaskGraphBuilder builder_;
  std::size_t ranks_;
  ProgramId program_;
  std::vector<CommunicatorId> groups_;
  std::vector<CollectiveOp> ops_;
  Scenario scenario_;
  CclBenchObserver observer_;
  std::uint32_t step_ = 0;
};

/// Two steps of 6 us on two ranks. In each, rank 0 computes for 4 us and reaches the all-reduce after 2, rank 1 computes
/// for all 6 and reaches it after 4; it is done at the end.
CclBenchMetrics two_steps() {
  ToldRun run(2, 2);
  run.compute_task(1.2e8).collective_task(CollectiveOp::kAllReduce, 1'000'000, Dimension::kDp).begin();
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Duration at = us(6 * i);
    run.reached(0, i, at + us(2)).compute(0, at, at + us(4)).reached(1, i, at + us(4)).compute(1, at, at + us(6));
    run.done(0, i, 0, 1, at + us(6)).done(1, i, 0, 1, at + us(6)).step(at + us(6));
  }
  return run.end(us(12));
}

TEST(CclBench, TimesOfAHandMadeRun) {
  const CclBenchMetrics m = two_steps();
  EXPECT_DOUBLE_EQ(m.avg_step_time_s, 6e-6);
  EXPECT_NEAR(m.mfu.value(), 20.0, 1e-9);                     // 2 x 1.2e8 / (2 x 1e14 x 6e-6)
  EXPECT_NEAR(m.communication_fraction.value(), 37.5, 1e-9);  // kernels 8 + 4 us of those and 8 + 12
  EXPECT_NEAR(m.total_communication_time_s, 3e-6, 1e-15);     // 4 us on rank 0, 2 us on rank 1
  EXPECT_NEAR(m.compute_comm_overlap.value(), 75.0, 1e-9);    // 2 of 4 us, and 2 of 2
  EXPECT_NEAR(m.load_imbalance_ratio.value(), 1.0, 1e-12);    // both are active throughout
  EXPECT_NEAR(m.straggler.value(), 0.5, 1e-12);               // (8 - 4) / 8
}

// The NIC of a host that takes checkpoints sends and receives, but is no GPU.
TEST(CclBench, AHostOfStorageIsNoRank) {
  ToldRun run(2);
  run.compute_task(1e8).collective_task(CollectiveOp::kBroadcast, 1'000'000, Dimension::kOther);
  const CclBenchMetrics& m = run.hosts_of_storage(1)
                                 .begin()
                                 .compute(0, us(0), us(4))
                                 .reached(0, 0, us(4))
                                 .reached(1, 0, us(0))
                                 .done(0, 0, 0, 1, us(8))
                                 .done(1, 0, 0, 1, us(8))
                                 .step(us(8))
                                 .end(us(8));
  EXPECT_NEAR(m.communication_fraction.value(), 50.0, 1e-9);
  EXPECT_NEAR(m.total_communication_time_s, 4e-6, 1e-15);
  EXPECT_NEAR(m.load_imbalance_ratio.value(), 1.0, 1e-12);
  EXPECT_NEAR(m.straggler.value(), 0.0, 1e-12);
}

TEST(CclBench, TrafficOfAHandMadeRun) {
  const CclBenchMetrics m = two_steps();
  // Factor 2 (2 - 1) / 2 = 1: 1 MB in 4, 4, 2, 2 us is 250, 250, 500, 500 GB/s.
  EXPECT_NEAR(m.bandwidth_utilization[0].value(), 375.0, 1e-9);
  EXPECT_FALSE(m.bandwidth_utilization[1].has_value());
  EXPECT_DOUBLE_EQ(m.collective_vol_gb[0], 1e-3);
  EXPECT_DOUBLE_EQ(m.collective_vol_total_gb, 1e-3);
  ASSERT_EQ(m.traffic_window.size(), 2u);
  EXPECT_NEAR(m.traffic_window[1].dp_s, 3e-6, 1e-15);
  EXPECT_EQ(m.traffic_window[1].tp_s, 0.0);
}

TEST(CclBench, BytesFollowTheOperation) {
  // Four ranks, every operation of 1 MB in 1 us: an all-gather receives 3 shards, the other two move 3/4 of the input.
  ToldRun run(4);
  run.collective_task(CollectiveOp::kAllGather, 1'000'000, Dimension::kTp)
      .collective_task(CollectiveOp::kReduceScatter, 1'000'000, Dimension::kPp)
      .collective_task(CollectiveOp::kAllToAll, 1'000'000, Dimension::kCp)
      .collective_task(CollectiveOp::kBroadcast, 1'000'000, Dimension::kOther)
      .begin();
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::size_t r = 0; r < 4; ++r) run.reached(r, i, us(i));
    for (std::size_t r = 0; r < 4; ++r) run.done(r, i, i, i, us(i + 1));
  }
  const CclBenchMetrics m = run.step(us(4)).end(us(4));
  EXPECT_NEAR(m.bandwidth_utilization[1].value(), 3000.0, 1e-6);
  EXPECT_NEAR(m.bandwidth_utilization[2].value(), 750.0, 1e-6);
  EXPECT_NEAR(m.bandwidth_utilization[3].value(), 750.0, 1e-6);
  EXPECT_EQ(m.collective_vol_gb, (std::array<double, 4>{0, 1e-3, 1e-3, 1e-3}));
  EXPECT_NEAR(m.collective_vol_total_gb, 4e-3, 1e-15);
  EXPECT_NEAR(m.traffic_window[0].tp_s, 1e-6, 1e-15);
  EXPECT_NEAR(m.traffic_window[0].pp_s, 1e-6, 1e-15);
  EXPECT_NEAR(m.traffic_window[0].other_s, 2e-6, 1e-15);
  EXPECT_FALSE(m.mfu.has_value());  // no rank computes
}

TEST(CclBench, AKernelBeginsWhenItsLaneIsFree) {
  // Both are reached at 0; on one lane the second kernel begins when the first is done, at 2 us.
  for (const auto& [lanes, second_us] : {std::pair{CommLanes::kOne, 4.0}, std::pair{CommLanes::kPerCommunicator, 6.0}}) {
    ToldRun run(2);
    run.collective_task(CollectiveOp::kAllReduce, 1'000'000, Dimension::kDp)
        .collective_task(CollectiveOp::kReduceScatter, 1'000'000, Dimension::kDp)
        .begin(lanes);
    run.reached(0, 0, us(0)).reached(0, 1, us(0)).done(0, 0, 0, 0, us(2)).done(0, 1, 1, 1, us(6));
    const CclBenchMetrics m = run.step(us(6)).end(us(6));
    EXPECT_NEAR(m.bandwidth_utilization[2].value(), 500.0 / second_us, 1e-9);  // 1/2 x 1 MB
    EXPECT_NEAR(m.traffic_window[0].dp_s, 3e-6, 1e-15);                        // the union, 6 us, on one of two ranks
  }
}

TEST(CclBench, TheHostRunsNoKernels) {
  ToldRun run(1);
  run.compute_task(1).begin().compute(0, us(0), us(5), Stream::kHost);
  const CclBenchMetrics m = run.step(us(5)).end(us(5));
  EXPECT_FALSE(m.communication_fraction.has_value());
  EXPECT_FALSE(m.load_imbalance_ratio.has_value());
}

TEST(CclBench, WritesItsNames) {
  const auto json = nlohmann::ordered_json::parse(to_json(two_steps()));
  EXPECT_DOUBLE_EQ(json["avg_step_time"], 6e-6);
  EXPECT_DOUBLE_EQ(json["bandwidth_utilization_allreduce"], 375.0);
  EXPECT_TRUE(json["bandwidth_utilization_alltoall"].is_null());
  EXPECT_DOUBLE_EQ(json["collective_vol_allreduce_gb"], 1e-3);
  EXPECT_EQ(json["traffic_window"].size(), 2u);
}

// A ring of two GPUs in a server: 2 x 225 MB at 450 GB/s are 1 ms, and half of that at twice the bandwidth.
TEST(ScaleUpUtility, RunsTheCallersCollectives) {
  TaskGraphBuilder builder(2);
  const ProgramId program = builder.add_program();
  const CommunicatorId pair = builder.add_communicator("pair", {RankId{0}, RankId{1}}, Dimension::kTp);
  builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{450'000'000});
  Scenario scenario;
  scenario.cluster.servers = 1;
  scenario.cluster.gpus_per_server = 2;
  scenario.cluster.scale_up = {Bandwidth::from_gb_per_s(450), {}};
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.assign(RankId{r}, program, {pair});
    scenario.gpu_of_rank.emplace_back(r);
  }
  scenario.graph = std::move(builder).build();
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = "own_ring";
  const Registries known = own_names();
  const RunResult result = simulate(scenario, {}, known);
  EXPECT_EQ(result.makespan, us(1000));
  EXPECT_DOUBLE_EQ(scale_up_bw_utility(scenario, result, known), 50.0);
  EXPECT_THROW(static_cast<void>(scale_up_bw_utility(scenario, result)), ConfigError);
}

}  // namespace
}  // namespace photonrail::test
