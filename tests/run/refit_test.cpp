// Times of refits against closed forms. NICs of 50 GB/s.
#include "collective/refit/refit.hpp"
#include "collective/refit/weight_map.hpp"
#include "run/job.hpp"
#include "workload/weights.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/model.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace photonrail::test {
namespace {

using collective::RefitSpec;
using collective::RefitTraffic;
using collective::RefitWay;

struct RefitRun {
  RefitSpec spec;
  std::uint32_t gpus_per_server = 1;
  Duration latency{};
  std::optional<Duration> reconfiguration{};  ///< of optical rails
};

RunResult run_refit(const RefitRun& job) {
  const std::uint32_t ranks = job.spec.members();
  TaskGraphBuilder builder(ranks);
  builder.set_demands(std::make_shared<const RefitTraffic>(job.spec));
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < ranks; ++r) members.emplace_back(r);
  const CommunicatorId group = builder.add_communicator("all", members, Dimension::kOther);
  const ProgramId p = builder.add_program();
  builder.add_all_to_all(p, 0, 1, Bytes{1}, "refit");
  Scenario scenario;
  scenario.cluster.servers = (ranks + job.gpus_per_server - 1) / job.gpus_per_server;
  scenario.cluster.gpus_per_server = job.gpus_per_server;
  scenario.cluster.nic.latency = job.latency;
  if (job.reconfiguration) {
    scenario.cluster.rail.kind = RailKind::kOptical;
    scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(*job.reconfiguration);
    scenario.controller.name = "opus";
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    builder.assign(RankId{r}, p, {group});
    scenario.gpu_of_rank.push_back(GpuId{r});
  }
  scenario.graph = std::move(builder).build();
  RunResult result = simulate(scenario);
  EXPECT_TRUE(books_balance(result));
  return result;
}

Duration refit_time(const RefitRun& job) { return run_refit(job).makespan; }

RefitSpec model_of(std::int64_t bytes, const collective::WeightLayout& training, const collective::WeightLayout& engine,
                   Member engines, RefitWay way, std::uint32_t pieces = 8) {
  return {.units = {{.dense = {bytes}}},
          .training = training,
          .engine = engine,
          .engines = engines,
          .way = way,
          .pieces = pieces};
}

// 8 MB in 8 pieces of 20 us over 3 hops: the last piece has left after 8, and takes 2 more hops. With 5 us a hop: 3 more.
TEST(RefitTimes, RingOverAllRanks) {
  const RefitSpec spec = model_of(8'000'000, {.ranks = 1}, {.ranks = 1}, 3, RefitWay::kRing);
  EXPECT_EQ(refit_time({.spec = spec}), us(10 * 20));
  EXPECT_EQ(refit_time({.spec = spec, .latency = us(5)}), us(10 * 20 + 3 * 5));
}

// The root's NIC sends a copy to each of 3 engines: 3 x 8 MB / 50 GB/s. Of two stages it collects the half that it does not
// have while it sends its own.
TEST(RefitTimes, FunnelIsOneNic) {
  EXPECT_EQ(refit_time({.spec = model_of(8'000'000, {.ranks = 1}, {.ranks = 1}, 3, RefitWay::kFunnel)}), us(480));
  RefitSpec two = model_of(4'000'000, {.ranks = 2, .pp = 2}, {.ranks = 1}, 1, RefitWay::kFunnel);
  two.units.push_back(two.units[0]);
  EXPECT_EQ(refit_time({.spec = two}), us(160));
}

// Every training rank has all weights: each of 8 engine ranks takes a fourth, 2 MB, from a rank of its own.
TEST(RefitTimes, ShardedIsAnEngineRanksShare) {
  const RefitSpec spec = model_of(8'000'000, {.ranks = 16}, {.ranks = 4, .tp = 4}, 2, RefitWay::kSharded);
  EXPECT_EQ(refit_time({.spec = spec}), us(40));
  EXPECT_EQ(refit_time({.spec = spec, .latency = us(5)}), us(45));
  // Fewer senders than receivers: 2 engines x 8 MB from 4 ranks.
  EXPECT_EQ(refit_time({.spec = model_of(8'000'000, {.ranks = 4}, {.ranks = 4, .tp = 4}, 2, RefitWay::kSharded)}), us(80));
}

// Two rails carry half of the 16 MB each, in 8 pieces of 20 us over 2 hops, and the last piece goes on inside the server.
TEST(RefitTimes, RingOnEachRail) {
  const RefitSpec spec = model_of(16'000'000, {.ranks = 2}, {.ranks = 2, .tp = 2}, 2, RefitWay::kRingPerRail);
  const Duration rails = us(9 * 20);
  const Duration time = refit_time({.spec = spec, .gpus_per_server = 2});
  EXPECT_GE(time, rails);
  EXPECT_LE(time, rails + us(4));  // 1 MB over the scale-up fabric, and its latency
}

/// Eight training servers of tp 1, ep 8, pp 8, and engines of tp 8, one a server.
RefitSpec qwen3_235b(Member engines, RefitWay way, std::uint32_t pieces) {
  RefitSpec spec;
  spec.units = workload::weight_units(model_preset("qwen3_235b_a22b"), 2.0);
  spec.training = {.ranks = 64, .pp = 8, .ep = 8};
  spec.engine = {.ranks = 8, .tp = 8, .etp = 8};
  spec.engines = engines;
  spec.way = way;
  spec.pieces = pieces;
  return spec;
}

// 470 GB over 8 rails of 50 GB/s: 1.175 s, the hops behind the last piece, and one delta where circuits are dark at first.
TEST(RefitTimes, Qwen3OverEightRails) {
  const RefitSpec spec = qwen3_235b(4, RefitWay::kRingPerRail, 256);
  const double bytes = static_cast<double>(spec.bytes().count);
  EXPECT_NEAR(bytes, 470e9, 0.5e9);
  const double least = bytes / 400e9;
  const Duration electrical = refit_time({.spec = spec, .gpus_per_server = 8});
  EXPECT_GE(to_seconds(electrical), least * 0.999);
  EXPECT_LE(to_seconds(electrical), least * (1 + 12.0 / 256 + 0.01));
  const Duration optical = refit_time({.spec = spec, .gpus_per_server = 8, .reconfiguration = ms(10)});
  EXPECT_NEAR(to_seconds(optical - electrical), 0.010, 1e-5);
}

// A broadcast: twelve engines more are twelve hops more behind the last of 256 pieces.
TEST(RefitTimes, RingsDoNotKnowTheNumberOfEngines) {
  const auto seconds = [](Member engines) {
    return to_seconds(refit_time({.spec = qwen3_235b(engines, RefitWay::kRingPerRail, 256), .gpus_per_server = 8}));
  };
  EXPECT_NEAR(seconds(14) / seconds(2), 1.0, 0.05);
}

// Four circuits from the root's only port, or to several engines at once, cannot be: one sentence before the run. In
// matchings they can.
TEST(RefitTimes, CircuitsThatOnePortCannotHaveAreRefused) {
  const auto on_circuits = [](RefitWay way) {
    return RefitRun{.spec = model_of(8'000'000, {.ranks = 4, .tp = 4}, {.ranks = 2, .tp = 2}, 2, way),
                    .reconfiguration = ms(1)};
  };
  for (const RefitWay way : {RefitWay::kFunnel, RefitWay::kSharded}) {
    try {
      run_refit(on_circuits(way));
      FAIL() << "was not refused";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("circuits at once of a NIC, which has 1 port"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_GT(refit_time(on_circuits(RefitWay::kShardedMatchings)), us(40));
}

}  // namespace
}  // namespace photonrail::test
