// The published table of Opus on 128 GPUs (data/opus/llama_128.json), with a job generated from its dimensions.
// docs/validation.md has the table and what each difference comes from.
#include "golden/golden.hpp"
#include "golden/symbolic_job.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

namespace photonrail::test {
namespace {

/// The published simulator takes a GB of its bandwidths as 2^30 bytes.
constexpr double kPublishedGb = 1073741824.0;

Scenario published_cluster(const SymbolicJob& job, double gb) {
  Scenario scenario;
  scenario.graph = symbolic_graph(job);
  scenario.cluster.gpus_per_server = static_cast<std::uint32_t>(job.tp);
  scenario.cluster.servers = static_cast<std::uint32_t>(job.dp * job.pp);
  scenario.cluster.gpu.peak_tflops = 989;
  scenario.cluster.gpu.memory_gb_per_s = 4800;
  scenario.cluster.scale_up.per_gpu = {450 * gb};
  scenario.cluster.nic.per_port = {50 * gb};
  scenario.cluster.scale_up.latency = scenario.cluster.nic.latency = Duration{936'250};
  scenario.cluster.nic.message_overhead = Duration{10'000};
  scenario.collectives.chunks = 4;
  for (std::size_t r = 0; r < scenario.graph.ranks(); ++r) scenario.gpu_of_rank.emplace_back(r);
  return scenario;
}

// The generator against a trace that the published one wrote: 8 ranks, DP2 PP2 TP2, plain MLP, no grouped heads. Not one
// picosecond is left between them.
TEST(SymbolicJobs, TheSmokeTestIsItsTrace) {
  const RunResult ours = simulate(published_cluster(smoke_job(), 1e9));
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  (void)data;
  const RunResult trace = run("papers/opus/smoke-electrical.json");
  EXPECT_EQ(ours.makespan, trace.makespan);
  for (const Dimension d : {Dimension::kTp, Dimension::kDp, Dimension::kPp}) {
    EXPECT_EQ(traffic(ours, d).bytes, traffic(trace, d).bytes) << name(d);
    EXPECT_EQ(traffic(ours, d).operations, traffic(trace, d).operations) << name(d);
  }
  EXPECT_EQ(ours.ranks[0].compute, trace.ranks[0].compute);
  EXPECT_EQ(ours.ranks[7].compute, trace.ranks[7].compute);
}

class Llama128 : public ::testing::Test {
 protected:
  static Scenario scenario(bool late_gathers_first) {
    SymbolicJob job;
    job.dp = job.pp = 4;
    job.tp = 8;
    job.late_gathers_first = late_gathers_first;
    Scenario scenario = published_cluster(job, kPublishedGb);
    scenario.executor.comm_lanes = CommLanes::kOne;
    return scenario;
  }
  using Keys = std::map<std::string, std::string>;
  static Duration step(const std::string& mode, double delay_ms, const Keys& keys = {}, bool late_gathers_first = true) {
    Scenario s = scenario(late_gathers_first);
    s.cluster.rail.kind = RailKind::kOptical;
    s.cluster.rail.optical.reconfiguration = DelayDistribution::constant(ms(delay_ms));
    s.controller.name = "opus_artifact";
    s.controller.parameters.set("mode", mode);
    for (const auto& [key, word] : keys) s.controller.parameters.set(key, word);
    const RunResult result = simulate(s);
    expect_balanced(result);
    return result.makespan;
  }
  static nlohmann::json published(const std::filesystem::path& data) {
    std::ifstream file(data / "opus" / "llama_128.json");
    return nlohmann::json::parse(file)["step_s"];
  }
};

// Half a per cent where three are asked for: what is left is 0.2 % and less.
TEST_F(Llama128, StepsAreThePublishedOnesAtEveryDelay) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const nlohmann::json table = published(data);
  for (const std::string mode : {"on_demand", "provisioned"}) {
    for (const auto& [delay, seconds] : table[mode].items()) {
      const double ours = to_seconds(step(mode, std::stod(delay)));
      const double theirs = seconds.get<double>();
      std::printf("%-11s %6s: published %.3f s, ours %.3f s, %+.2f %%\n", mode.c_str(), delay.c_str(), theirs, ours,
                  100 * (ours / theirs - 1));
      EXPECT_NEAR(ours, theirs, 0.005 * theirs) << mode << " at " << delay;
    }
  }
  const double electrical = to_seconds(simulate(scenario(true)).makespan);
  EXPECT_NEAR(electrical, table["electrical"].get<double>(), 0.03 * electrical);
}

// Six hops, and the first all-reduce of each of four stages, which holds the only lane; announced ahead, the three backward
// hops and the all-reduces behind them.
TEST_F(Llama128, SlopesAreTenAndSixDelays) {
  EXPECT_EQ(step("on_demand", 1000) - step("on_demand", 500), 10 * ms(500));
  EXPECT_EQ(step("provisioned", 1000) - step("provisioned", 500), 6 * ms(500));
}

// Each behaviour switched off alone, at 100 ms on demand. A job whose ranks all do the same leaves the lock and the late
// retry little to do: only the last all-reduce of a stage refuses its hop.
TEST_F(Llama128, WhatEachArtefactIsWorth) {
  const Duration all = step("on_demand", 100);
  const Duration no_lock = step("on_demand", 100, {{"lock", "none"}});
  const Duration prompt_retry = step("on_demand", 100, {{"retry", "release"}});
  const Duration by_circuit = step("on_demand", 100, {{"granularity", "circuit"}});
  const Duration gathers_in_order = step("on_demand", 100, {}, false);
  EXPECT_GT(all, no_lock);
  EXPECT_LT(all - no_lock, ms(10));
  EXPECT_LE(prompt_retry, all);
  EXPECT_EQ(by_circuit, all);
  // Two gathers a layer of 1.879 GB at 450 GiB/s, 3.89 ms each, on the forward path of 96 layers: 0.747 s.
  EXPECT_NEAR(to_seconds(all - gathers_in_order), 0.747, 0.01);
}

}  // namespace
}  // namespace photonrail::test
