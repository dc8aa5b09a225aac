// A job whose crowds of flows are simulated within an accuracy.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace photonrail {
namespace {

Scenario skewed() {
  return read_scenario(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs" / "all-to-all-within-one-percent.json");
}

// 32 x 31 flows of unlike sizes over uplinks 4:1.
TEST(NetworkAccuracy, MovesAMakespanByLessAndIsSaidByTheResult) {
  Scenario scenario = skewed();
  ASSERT_EQ(scenario.run.network_accuracy, 0.01);
  const RunResult within = simulate(scenario);
  scenario.run.network_accuracy = 0.0;
  const RunResult exact = simulate(scenario);
  EXPECT_EQ(within.engine.network_accuracy, 0.01);
  EXPECT_GT(within.engine.epochs, 0u);
  EXPECT_GT(within.engine.flows_in_epochs, 100u);
  EXPECT_EQ(exact.engine.epochs, 0u);
  EXPECT_THAT(within.folding.off, ::testing::HasSubstr("not exact"));
  const double off = std::abs(to_seconds(within.makespan) - to_seconds(exact.makespan));
  EXPECT_LE(off, 0.001 * to_seconds(exact.makespan));
}

TEST(NetworkAccuracy, RunsRepeat) {
  const Scenario scenario = skewed();
  const RunResult first = simulate(scenario);
  const RunResult second = simulate(scenario);
  EXPECT_EQ(first.makespan, second.makespan);
  EXPECT_EQ(first.engine.events, second.engine.events);
}

// Messages that are forwarded over other pods leave theirs twice, over uplinks 3:1 that several share; they are too few for
// an epoch, so that the accuracy changes nothing. When an uplink counted them twice, rates came to no rest: 10.939 ms, or
// 10.705 within an accuracy.
TEST(NetworkAccuracy, AMessageThatCrossesAnUplinkTwiceTakesOneShare) {
  Scenario scenario = parse_scenario(R"(
    {"schema": "photonrail.scenario/1","name": "forwarded over pods","cluster": {"servers": 6,
    "gpus_per_server": 1,"gpu": {"peak_tflops": 100.0,"memory_gb_per_s": 2048},
    "scale_up": {"gb_per_s": 70.0,"latency_ns": 512.0,"torus": {"sides": [1],"wrap": true},
    "pooled": true},"nic": {"ports": 1,"port_gb_per_s": 1.0,"latency_ns": 0.0,
    "message_overhead_ns": 20000.0},"rail": {"kind": "optical","switch": {"reconfiguration_us": 10.0},
    "pods": {"servers": 2,"joined_by": "electrical","oversubscription": 3.0}}},
    "controller": {"name": "static_split","request_us": 100.0,"command_us": 1.0},
    "executor": {"comm_lanes": "one","buffered_send_bytes": 4194304},"collectives": {"chunks": 16,
    "straggler": "predicted"},"jobs": [{"servers": [4,3,0,2,1,5],
    "workload": {"graph": {"schema": "photonrail.graph/1","ranks": 4,
    "communicators": {"g0": {"ranks": [0,1,2,3],"dimension": "dp"},"g1": {"ranks": [0,3],
    "dimension": "ep"}},"tasks": [{"rank": [0,1,2,3],"id": "t0","collective": "gather",
    "communicator": "g0","bytes": 4097},{"rank": [2,3],"id": "t1","compute_us": 1000.0},{"rank": [0,3],
    "id": "t2","collective": "all_gather","communicator": "g1","bytes": 1048576},{"rank": [2],"id": "t3",
    "compute_us": 50.0,"after": ["t1"]},{"rank": [0,1,2,3],"id": "t4","collective": "all_reduce",
    "communicator": "g0","bytes": 13}]}}}],"run": {"seed": 394,"fidelity": "stream","iterations": 2}})",
                                     ".");
  const RunResult exact = simulate(scenario);
  scenario.run.network_accuracy = 0.1;
  const RunResult within = simulate(scenario);
  EXPECT_EQ(within.engine.epochs, 0u);
  EXPECT_EQ(within.makespan, exact.makespan);
}

// What rounding left of a rate was shared out: a transfer at it would have taken 60 days.
TEST(NetworkAccuracy, ARateThatIsReservedAsAWholeLeavesNothing) {
  Scenario scenario = parse_scenario(R"(
    {"schema": "photonrail.scenario/1","name": "reserved as a whole","cluster": {"servers": 8,
    "gpus_per_server": 3,"gpu": {"peak_tflops": 1000.0,"memory_gb_per_s": 2048},
    "scale_up": {"gb_per_s": 70.0,"latency_ns": 0.0},"nic": {"ports": 4,"port_gb_per_s": 1.0,
    "latency_ns": 1000.0,"message_overhead_ns": 0.0},"rail": {"kind": "optical",
    "switch": {"reconfiguration_us": 1.0,"settle_us": 5.0},"forwarding": true}},
    "controller": {"name": "static_split","forward": true,"service_us": 1.0,"placement": "per_rail"},
    "executor": {"comm_lanes": "per_communicator","buffered_send_bytes": 4194304,
    "concurrent_collectives": "together"},"collectives": {"chunks": 16,"all_gather": "bucket"},
    "workload": {"training": {"model": {"layers": 6,"hidden": 16,"ffn": 32,"heads": 2,"kv_heads": 1,
    "vocabulary": 64,"moe": {"experts": 4,"top_k": 1,"ffn": 32}},"sequence": 128,"global_batch": 6,
    "parallelism": {"tp": 1,"pp": 3,"dp": 2,"cp": 4,"virtual_stages": 2,"ep": 2,"zero1": true},
    "schedule": "interleaved"}},"run": {"seed": 314,"fidelity": "exact","iterations": 3,
    "folding": false}})",
                                     ".");
  const RunResult exact = simulate(scenario);
  scenario.run.network_accuracy = 0.1;
  const RunResult within = simulate(scenario);
  EXPECT_GT(within.engine.epochs, 100u);
  EXPECT_NEAR(to_seconds(within.makespan), to_seconds(exact.makespan), 0.001 * to_seconds(exact.makespan));
}

TEST(NetworkAccuracy, OfAnotherRangeIsRefused) {
  Scenario scenario = skewed();
  for (const double accuracy : {-0.01, 0.11, std::nan("")}) {
    scenario.run.network_accuracy = accuracy;
    EXPECT_THROW(simulate(scenario), ConfigError) << accuracy;
  }
}

}  // namespace
}  // namespace photonrail
