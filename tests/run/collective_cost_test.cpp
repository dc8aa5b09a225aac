// The alpha-beta cost of every algorithm against the exact simulation of its plan.
#include "photonrail/collective/choice.hpp"
#include "run/cost_model.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace photonrail {
namespace {

using test::Job;
using enum CollectiveOp;

/// One collective of all ranks, in `servers` of `gpus` each; latencies, overhead and rates that divide nothing evenly.
struct OneCall {
  std::uint32_t servers = 4;
  std::uint32_t gpus = 1;
  std::uint32_t ports = 1;
  std::uint32_t chunks = 1;
  std::optional<Duration> reconfiguration{};

  [[nodiscard]] std::uint32_t ranks() const { return servers * gpus; }

  [[nodiscard]] Scenario scenario(CollectiveOp op, std::int64_t bytes, std::string_view algorithm) const {
    Job job(ranks(), gpus);
    std::vector<std::size_t> all(ranks());
    std::iota(all.begin(), all.end(), 0);
    if (reconfiguration) job.optical(*reconfiguration);
    job.scenario.cluster.nic = {.ports = ports,
                                .per_port = Bandwidth::from_gb_per_s(37.0 / ports),
                                .latency = Duration{941'003},
                                .message_overhead = Duration{10'007}};
    job.scenario.cluster.scale_up = {.per_gpu = Bandwidth::from_gb_per_s(411), .latency = Duration{307'001}};
    job.scenario.collectives.algorithm[static_cast<std::size_t>(op)] = algorithm;
    job.scenario.collectives.chunks = chunks;
    job.collective(job.group(all), all, op, bytes);
    job.build();
    return std::move(job.scenario);
  }
  [[nodiscard]] CollectiveCall call(CollectiveOp op, std::int64_t bytes) const {
    CollectiveCall call{.op = op, .members = ranks(), .size = {bytes}, .pieces = chunks, .ports = ports};
    for (std::uint32_t m = 0; m < ranks(); ++m) call.places.push_back({m / gpus, m % gpus});
    return call;
  }
};

// 2520 and 16 divide by every number of shards below: 2 to 10, and 16. Each send of the chain is rounded up to the
// picosecond, and so are the rates that flows share within it: two picoseconds a send.
constexpr std::int64_t kBytes = 2520 * 16 * 100;

void expect_equal(const OneCall& run, const CollectiveAlgorithm& algorithm, CollectiveOp op) {
  const Scenario scenario = run.scenario(op, kBytes, algorithm.name());
  const CollectiveCall call = run.call(op, kBytes);
  const auto cost = algorithm.cost(call, run::cost_model(scenario.cluster, scenario.controller));
  ASSERT_TRUE(cost.has_value());
  const double tolerance = 2.0 * algorithm.expand(call)->critical_sends() * run.chunks + 1;
  EXPECT_NEAR(static_cast<double>(simulate(scenario).makespan.count()), cost->picoseconds, tolerance)
      << algorithm.name() << " " << name(op) << " on " << run.servers << " x " << run.gpus << ", " << run.chunks
      << " chunks, " << run.ports << " ports";
}

void expect_equal_for_all(const OneCall& run, bool grid_only) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const auto& algorithm : registry.all()) {
    if (grid_only && !algorithm->uses_places()) continue;
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      const auto op = static_cast<CollectiveOp>(i);
      if (op != kSend && algorithm->supports(op, run.ranks())) expect_equal(run, *algorithm, op);
    }
  }
}

TEST(CollectiveCost, IsWhatTheExactSimulationNeeds) {
  for (const std::uint32_t n : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 16u}) expect_equal_for_all({.servers = n}, false);
}

TEST(CollectiveCost, WithPieces) {
  for (const std::uint32_t n : {2u, 3u, 8u}) {
    for (const std::uint32_t chunks : {2u, 5u}) expect_equal_for_all({.servers = n, .chunks = chunks}, false);
  }
}

TEST(CollectiveCost, WithPorts) {
  for (const std::uint32_t n : {2u, 5u, 8u}) expect_equal_for_all({.servers = n, .ports = 2}, false);
}

TEST(CollectiveCost, OfServersAndRails) {
  for (const auto& [servers, gpus] : {std::pair{2u, 2u}, {3u, 2u}, {2u, 4u}, {1u, 4u}, {4u, 2u}}) {
    expect_equal_for_all({.servers = servers, .gpus = gpus}, true);
  }
}

// On circuits: of a two-port NIC for what has two neighbours, of a one-port NIC for matchings. With free switching what
// remains is the cost; with a delay each set of circuits adds one, but that Opus re-points members at different times, so
// that an operation need not wait for all of it: the prediction is an upper bound, never short of one delay.
TEST(CollectiveCost, OnCircuits) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const Duration delay = test::ms(1);
  for (const std::uint32_t n : {2u, 5u, 8u}) {
    for (const std::uint32_t ports : {1u, 2u}) {
      const OneCall run{.servers = n, .ports = ports, .reconfiguration = delay};
      for (const auto& algorithm : registry.all()) {
        for (int i = 0; i < kCollectiveOpCount; ++i) {
          const auto op = static_cast<CollectiveOp>(i);
          if (op == kSend || !algorithm->supports(op, n)) continue;
          const Scenario scenario = run.scenario(op, kBytes, algorithm->name());
          const CostModel on = run::cost_model(scenario.cluster, scenario.controller);
          const auto cost = algorithm->cost(run.call(op, kBytes), on);
          if (cost->partners > ports) continue;
          const double time = static_cast<double>(simulate(scenario).makespan.count());
          const double switching = static_cast<double>(delay.count());
          EXPECT_LE(time, static_cast<double>(cost->total(on).count()) + 1000) << algorithm->name() << " " << name(op) << n;
          EXPECT_GE(time, cost->picoseconds + switching - 1000) << algorithm->name() << " " << name(op) << n;
        }
      }
    }
  }
}

TEST(AutoCollective, TakesTheFastestAndSaysSo) {
  // 8 ranks, 64 bytes: direct has the fewest latencies, 2, where nothing limits how many it sends to at once.
  const OneCall run{.servers = 8};
  const RunResult small = simulate(run.scenario(kAllReduce, 64, kAutoAlgorithm));
  ASSERT_EQ(small.choices.size(), 1u);
  EXPECT_THAT(small.choices[0], ::testing::StartsWith("all_reduce among 8 ranks, 64 bytes: auto took direct: "));
  // On circuits that take 10 ms each, one set is best: a ring.
  const OneCall slow{.servers = 8, .reconfiguration = test::ms(10)};
  EXPECT_THAT(simulate(slow.scenario(kAllReduce, 64, kAutoAlgorithm)).choices[0], ::testing::HasSubstr("auto took ring: "));
  // Circuits that cost 1 ns each: 3 steps of recursive doubling against the 14 of a ring.
  const OneCall fast{.servers = 8, .reconfiguration = Duration{1000}};
  EXPECT_THAT(simulate(fast.scenario(kAllReduce, 64, kAutoAlgorithm)).choices[0],
              ::testing::HasSubstr("auto took recursive_doubling: "));
}

TEST(AutoCollective, IsNoSlowerThanPredicted) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const std::int64_t bytes : {std::int64_t{16}, std::int64_t{100'800}, kBytes}) {
    for (const CollectiveOp op :
         {kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kReduce, kGather, kScatter}) {
      const OneCall run{.servers = 3, .gpus = 2};
      const Duration best = simulate(run.scenario(op, bytes, kAutoAlgorithm)).makespan;
      const CollectiveCall call = run.call(op, bytes);
      const auto ranked = rank_collectives(registry, call, run::cost_model(run.scenario(op, bytes, "ring").cluster, {}));
      // Over several servers and rails the prediction is an upper bound: some sends stay inside a server.
      EXPECT_LE(best, ranked.front().predicted + Duration{1000}) << name(op) << " " << bytes;
    }
  }
}

TEST(AutoCollective, KnowsServersFromRails) {
  // 4 servers of 4 with a scale-up fabric 11 times as fast as a rail: an all-reduce in two levels puts a quarter on each
  // rail.
  const OneCall run{.servers = 4, .gpus = 4};
  const RunResult result = simulate(run.scenario(kAllReduce, kBytes * 100, kAutoAlgorithm));
  EXPECT_THAT(result.choices[0], ::testing::HasSubstr("auto took hierarchical: "));
  const RunResult ring = simulate(run.scenario(kAllReduce, kBytes * 100, "ring"));
  EXPECT_LT(result.makespan, ring.makespan);
}

TEST(AutoCollective, InsideAServerPredictsTheScaleUpFabric) {
  const OneCall run{.servers = 1, .gpus = 8};
  const Scenario scenario = run.scenario(kAllGather, kBytes, kAutoAlgorithm);
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const auto ranked = rank_collectives(registry, run.call(kAllGather, kBytes), run::cost_model(scenario.cluster, {}));
  EXPECT_NEAR(static_cast<double>(ranked.front().predicted.count()),
              static_cast<double>(simulate(scenario).makespan.count()), 20);
}

TEST(HierarchicalCollective, RefusesAGroupThatIsNoGrid) {
  OneCall run{.servers = 2, .gpus = 2};
  Scenario scenario = run.scenario(kAllReduce, kBytes, "hierarchical");
  scenario.cluster.servers = 3;
  scenario.gpu_of_rank = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{4}};
  const ConfigError error = test::error_of([&] { static_cast<void>(simulate(scenario)); });
  EXPECT_EQ(error.where(), "collectives.algorithm.all_reduce");
  EXPECT_THAT(error.problem(), ::testing::HasSubstr("same rails in each of its servers"));
}

}  // namespace
}  // namespace photonrail
