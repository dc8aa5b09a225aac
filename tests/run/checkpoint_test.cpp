// Checkpoints in the step: closed forms for each place and mode, on both kinds of rails, folded, and with failures.
#include "workload/checkpoint.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/folded.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using workload::CheckpointedGraph;
using workload::CheckpointTarget;
using workload::CheckpointTraffic;
using workload::with_checkpoint;
using enum CheckpointTarget;

/// `ranks` ranks that compute 10 ms each: a step of 10 ms that all end together.
Job step_of_10_ms(std::size_t ranks) {
  Job job(ranks);
  for (std::size_t r = 0; r < ranks; ++r) job.compute(r, ms(10));
  return job;
}

Scenario saving(Job job, const CheckpointTraffic& traffic, std::int64_t bytes) {
  if (job.scenario.graph.ranks() == 0) job.build();
  Scenario scenario = job.scenario;
  CheckpointTraffic all = traffic;
  all.bytes.assign(scenario.graph.ranks(), Bytes{bytes});
  if (all.target == kStorage) scenario.cluster.servers += all.servers;
  CheckpointedGraph with = with_checkpoint(scenario.graph, scenario.gpu_of_rank, scenario.cluster.gpus_per_server,
                                           scenario.cluster.servers, all);
  scenario.graph = std::move(with.graph);
  scenario.gpu_of_rank = std::move(with.gpu_of_rank);
  scenario.storage_ranks = with.storage_ranks;
  return scenario;
}

RunResult run_saving(const Scenario& scenario) {
  const RunResult result = simulate(scenario);
  EXPECT_TRUE(books_balance(result));
  return result;
}

// 4 ms of bytes at 50 GB/s, and 3 us of latency.
CheckpointTraffic own_network(bool asynchronous = false) {
  CheckpointTraffic traffic{.target = kOwn, .asynchronous = asynchronous};
  traffic.own_rate = Bandwidth::from_gb_per_s(50);
  traffic.own_latency = us(3);
  return traffic;
}

TEST(CheckpointOnItsOwnNetwork, BlockingAddsLatencyAndBytesOverRate) {
  const RunResult result = run_saving(saving(step_of_10_ms(3), own_network(), 4 * kMs));
  EXPECT_EQ(result.makespan, ms(10) + us(3) + ms(4));
  EXPECT_EQ(result.ranks[0].compute, ms(10));
  EXPECT_EQ(result.ranks[0].exposed_communication, us(3) + ms(4));
}

TEST(CheckpointOnItsOwnNetwork, AsynchronousIsHiddenByTheStep) {
  const RunResult hidden = run_saving(saving(step_of_10_ms(3), own_network(true), 4 * kMs));
  EXPECT_EQ(hidden.makespan, ms(10));
  EXPECT_EQ(hidden.ranks[0].compute, ms(10));
  EXPECT_EQ(hidden.traffic[static_cast<std::size_t>(Dimension::kOther)].busy, us(3) + ms(4));
  // 14 ms: what is longer than the step is not hidden.
  EXPECT_EQ(run_saving(saving(step_of_10_ms(3), own_network(true), 14 * kMs)).makespan, us(3) + ms(14));
  // In two steps each sends a half.
  CheckpointTraffic two = own_network(true);
  two.over_steps = 2;
  EXPECT_EQ(run_saving(saving(step_of_10_ms(3), two, 14 * kMs)).makespan, ms(10));
}

TEST(CheckpointOnItsOwnNetwork, TheCopyToTheHostBlocksInBothModes) {
  for (const bool asynchronous : {false, true}) {
    CheckpointTraffic traffic = own_network(asynchronous);
    traffic.to_host = Bandwidth::from_gb_per_s(100);  // 2 ms
    const RunResult result = run_saving(saving(step_of_10_ms(2), traffic, 4 * kMs));
    EXPECT_EQ(result.makespan, asynchronous ? ms(12) : ms(12) + us(3) + ms(4));
    EXPECT_EQ(result.ranks[1].compute, ms(12));
  }
}

TEST(CheckpointToAPeer, TakesBytesOverTheRateOfTheNic) {
  Job job = step_of_10_ms(4);
  job.scenario.cluster.nic.latency = us(2);
  job.scenario.cluster.nic.message_overhead = us(1);
  // Each sends to the next and receives from the one before at once.
  EXPECT_EQ(run_saving(saving(job, {.target = kPeer}, 4 * kMs)).makespan, ms(10) + us(3) + ms(4));
}

TEST(CheckpointToAPeer, AsynchronousSharesTheNicWithTheStep) {
  // 10 ms of computing, then the ranks exchange 4 ms of bytes by a ring of two: the all-reduce of 4 ms of bytes. The copy,
  // 10 ms, is through before it: nothing is added. Of 12 ms 2 are left then, and share the port: 2 + 2 of both until 14,
  // then the other 2.
  const auto with = [](std::int64_t bytes) {
    Job job = step_of_10_ms(2);
    job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 4 * kMs);
    return run_saving(saving(std::move(job), {.target = kPeer, .asynchronous = true}, bytes)).makespan;
  };
  EXPECT_EQ(with(10 * kMs), ms(14));
  EXPECT_EQ(with(12 * kMs), ms(16));
}

TEST(CheckpointToAPeer, AsksForCircuitsOnOpticalRails) {
  Job job = step_of_10_ms(4);
  job.optical(ms(1)).build();
  job.scenario.run.iterations = 2;
  const RunResult result = run_saving(saving(job, {.target = kPeer}, 4 * kMs));
  // The circuits of the ring take 1 ms, and are still lit in the second step.
  EXPECT_EQ(result.iterations, (std::vector<Duration>{ms(15), ms(14)}));
  EXPECT_EQ(result.ranks[0].reconfiguration_wait, ms(1));
  EXPECT_EQ(result.traffic[static_cast<std::size_t>(Dimension::kOther)].bytes, Bytes{2 * 4 * 4 * kMs});
}

TEST(CheckpointToAPeer, DisplacesTheCircuitsOfTheStep) {
  // All-reduces over a ring of three use the circuits to the next; the peer is two further. 10 ms, 1 ms for the ring,
  // 4/3 x 4 ms; then 1 ms for the others and 4 ms of checkpoint. In the second step the ring has to be lit anew.
  Job job = step_of_10_ms(3);
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 3 * kMs);
  job.optical(ms(1)).build();
  job.scenario.run.iterations = 2;
  const RunResult result = run_saving(saving(job, {.target = kPeer, .distance = 2}, 4 * kMs));
  const Duration step = ms(10) + ms(1) + ms(4) + ms(1) + ms(4);
  EXPECT_EQ(result.iterations, (std::vector<Duration>{step, step}));
}

TEST(CheckpointToStorage, SharesTheNicOfTheHost) {
  const RunResult result = run_saving(saving(step_of_10_ms(3), {.target = kStorage}, 4 * kMs));
  EXPECT_EQ(result.makespan, ms(10) + ms(4) * 3);
  ASSERT_EQ(result.ranks.size(), 3u) << "the host is no GPU of the job";
  EXPECT_EQ(result.ranks[2].exposed_communication, ms(12));
  EXPECT_EQ(result.traffic[static_cast<std::size_t>(Dimension::kOther)].exposed, ms(12)) << "mean of the job's ranks";
  // A host for each: none shares anything.
  EXPECT_EQ(run_saving(saving(step_of_10_ms(3), {.target = kStorage, .servers = 3}, 4 * kMs)).makespan, ms(14));
}

TEST(CheckpointToStorage, TakesACircuitForEachInTurnOnOpticalRails) {
  Job job = step_of_10_ms(3);
  job.optical(ms(1)).build();
  EXPECT_EQ(run_saving(saving(job, {.target = kStorage}, 4 * kMs)).makespan, ms(10) + 3 * (ms(1) + ms(4)));
}

TEST(Checkpoint, IsTheSameFolded) {
  for (const CheckpointTarget target : {kPeer, kStorage, kOwn}) {
    for (const bool asynchronous : {false, true}) {
      for (const bool optical : {false, true}) {
        Job job = step_of_10_ms(8);
        std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
        job.collective(job.group(all), all, CollectiveOp::kAllReduce, kMs);
        if (optical) job.optical(us(10));
        job.build();
        job.scenario.run.fidelity = Fidelity::kStream;
        job.scenario.run.iterations = 2;
        CheckpointTraffic traffic = own_network(asynchronous);
        traffic.target = target;
        SCOPED_TRACE(::testing::Message() << static_cast<int>(target) << asynchronous << optical);
        const RunResult folded = expect_same_folded(saving(job, traffic, 4 * kMs));
        if (target == kOwn || (target == kPeer && !optical)) {
          EXPECT_LT(folded.folding.classes, 8u) << folded.folding.off;
        }
      }
    }
  }
}

TEST(Checkpoint, StandsStillWhileAPortIsDark) {
  // From 12 ms on for 5 ms; the failure is never detected, so that no circuit has to be made again.
  Job job = step_of_10_ms(2);
  job.optical(ms(1)).build();
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{ms(12)}, .lasts = ms(5), .detection = ms(5)}};
  const RunResult result = run_saving(saving(job, {.target = kPeer}, 4 * kMs));
  EXPECT_EQ(result.makespan, ms(10) + ms(1) + ms(4) + ms(5));
  EXPECT_EQ(result.ranks[0].detection, ms(5));
  EXPECT_EQ(result.ranks[0].exposed_communication, ms(4));
}

TEST(Checkpoint, OfNothingIsTheStepAsItWas) {
  const RunResult without = step_of_10_ms(4).run();
  for (const CheckpointTarget target : {kPeer, kStorage, kOwn}) {
    CheckpointTraffic traffic = own_network();
    traffic.target = target;
    expect_same_results(run_saving(saving(step_of_10_ms(4), traffic, 0)), without);
  }
}

TEST(Checkpoint, RefusesWhatCannotBe) {
  const auto problem = [](std::size_t ranks, const CheckpointTraffic& traffic) -> std::string {
    try {
      static_cast<void>(saving(step_of_10_ms(ranks), traffic, kMs));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(problem(1, {.target = kPeer}), HasSubstr("checkpoint.distance: a rank would be its own peer"));
  EXPECT_THAT(problem(4, {.target = kPeer, .distance = 8}), HasSubstr("checkpoint.distance"));
  EXPECT_THAT(problem(2, {.target = kStorage, .servers = 0}), HasSubstr("checkpoint.servers"));
  EXPECT_THAT(problem(2, {.target = kOwn}), HasSubstr("checkpoint.own_rate"));
  EXPECT_THAT(problem(2, {.target = kPeer, .over_steps = 2}), HasSubstr("checkpoint.over_steps"));
}

// One GPU of the first stage is of another model: the stage has a program for each model, and every rank saves what it
// saved.
TEST(Checkpoints, SaveTheSameStateWithGpusOfTwoModels) {
  constexpr std::string_view kJob = R"({
    "schema": "photonrail.scenario/1",
    "cluster": { "servers": 2, "gpus_per_server": 2, "rail": { "kind": "electrical" } },
    "workload": { "training": {
      "model": {"preset": "megatron_22b", "hidden": 8, "heads": 4, "kv_heads": 1},
      "sequence": 16, "global_batch": 1, "parallelism": {"tp": 2, "pp": 2}, "operators": {"times": "roofline"} },
      "checkpoint": {"to": "peer"} } })";
  const auto bytes = [&](const std::vector<Override>& changes) {
    std::int64_t sum = 0;
    const RunResult result = simulate(parse_scenario(kJob, "/nowhere", "s.json", changes));
    for (const DimensionTraffic& traffic : result.traffic) sum += traffic.bytes.count;
    return sum;
  };
  EXPECT_EQ(bytes({{"/cluster/unlike_gpus",
                    R"([{"servers": [0], "gpus": [0], "gpu": {"peak_tflops": 1, "memory_gb_per_s": 1}}])"}}),
            bytes({}));
}

}  // namespace
}  // namespace photonrail::test
