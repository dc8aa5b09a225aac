// Degraded configurations up to symmetry, and their steps from the step simulator.
#include "studies/goodput/process/step_times.hpp"

#include "photonrail/error.hpp"
#include "studies/goodput/specs.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using goodput::Configuration;
using goodput::Degradation;
using goodput::degraded_scenario;
using goodput::SimulatedSteps;

TrainingSpec small_training() {
  TrainingSpec spec;
  spec.model.layers = 4;
  spec.model.hidden = 512;
  spec.model.ffn = 2048;
  spec.model.heads = 8;
  spec.model.kv_heads = 8;
  spec.model.vocabulary = 32000;
  spec.sequence = 1024;
  spec.global_batch = 8;
  spec.parallelism.tp = 2;
  spec.parallelism.dp = 4;
  spec.order = {"tp", "cp", "pp", "dp"};
  return spec;
}

Scenario small_job(RailKind rails) {
  Scenario scenario;
  scenario.cluster.servers = 4;
  scenario.cluster.gpus_per_server = 2;
  scenario.cluster.nic.ports = 2;
  scenario.cluster.rail.kind = rails;
  if (rails == RailKind::kOptical) {
    scenario.cluster.rail.planes = 2;
    scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(Duration{1'000'000'000});
    scenario.controller.name = "opus";
  }
  scenario.graph = make_training_graph(small_training());
  for (std::uint32_t r = 0; r < scenario.graph.ranks(); ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  return scenario;
}

GoodputSpec small_spec() {
  GoodputSpec spec;
  spec.job = {4, 2, 4, 1};
  FailureSource gpu = servers_fail(1e6, 1e5);
  gpu.name = "slow gpu";
  gpu.per_server = 2;
  gpu.effect = goodput::FailureEffect::kSlow;
  gpu.degradation = Degradation::kCompute;
  gpu.factor = 1.5;
  FailureSource port = servers_fail(1e6, 1e5);
  port.name = "port";
  port.per_server = 4;
  port.degradation = Degradation::kPort;
  FailureSource plane = port;
  plane.name = "plane";
  plane.per_server = 0;
  plane.parts = 4;
  plane.degradation = Degradation::kPlane;
  FailureSource rate = port;
  rate.name = "nic";
  rate.per_server = 2;
  rate.degradation = Degradation::kNicRate;
  rate.factor = 2.0;
  spec.failures = {gpu, port, plane, rate};
  RecoveryOption drop = option(RecoveryAction::kDropReplica, 0.0);
  spec.recovery = {drop, option(RecoveryAction::kWait, 0.0)};
  return spec;
}

TEST(Configuration, ReplicasAndRailsAreAlike) {
  const GoodputSpec spec = small_spec();
  const auto canonical = [&](std::vector<goodput::DegradedPart> parts) {
    return Configuration{0, std::move(parts)}.canonical(spec);
  };
  EXPECT_EQ(canonical({{0, 3, 0, 1}}), canonical({{0, 0, 0, 0}}));
  EXPECT_EQ(canonical({{0, 3, 0, 1}, {0, 1, 0, 1}}), canonical({{0, 0, 0, 0}, {0, 1, 0, 0}}));
  EXPECT_NE(canonical({{0, 3, 0, 1}, {0, 1, 0, 0}}), canonical({{0, 0, 0, 0}, {0, 1, 0, 0}}));  // two rails, one rail
  EXPECT_NE(canonical({{0, 3, 0, 1}, {0, 3, 0, 0}}), canonical({{0, 0, 0, 0}, {0, 1, 0, 1}}));  // one server, two
  // Port 1 of GPU 1 is on the same plane as port 1 of GPU 0, not as port 0.
  EXPECT_EQ(canonical({{1, 2, 0, 3}}), canonical({{1, 0, 0, 1}}));
  EXPECT_NE(canonical({{1, 2, 0, 3}}), canonical({{1, 0, 0, 0}}));
  // Slow NICs: one or several of them are the same, as the slowest decides.
  EXPECT_EQ(canonical({{3, 2, 0, 1}, {3, 1, 0, 0}}), canonical({{3, 0, 0, 0}}));
  EXPECT_NE(canonical({{3, 0, 0, 0}}).text(spec), Configuration{}.text(spec));
}

TEST(SimulatedSteps, EachConfigurationIsSimulatedOnce) {
  const GoodputSpec spec = small_spec();
  const Scenario job = small_job(RailKind::kOptical);
  const Registries known;
  int stored = 0;
  SimulatedSteps steps(spec, job, small_training(), known, [&](const std::string&, std::optional<Duration>) { ++stored; });
  const auto healthy = steps.of({});
  EXPECT_EQ(healthy, simulate(job).step_time());
  const auto slow = steps.of(Configuration{0, {{0, 0, 0, 0}}});
  EXPECT_GT(slow, healthy);
  EXPECT_EQ(steps.of(Configuration{0, {{0, 0, 0, 0}}}), slow);
  EXPECT_EQ(steps.simulated(), 2u);
  EXPECT_EQ(stored, 2);
}

TEST(SimulatedSteps, PortsPlanesAndRates) {
  const GoodputSpec spec = small_spec();
  const Scenario job = small_job(RailKind::kOptical);
  const Registries known;
  SimulatedSteps steps(spec, job, small_training(), known);
  const auto healthy = steps.of({});
  const auto port = steps.of(Configuration{0, {{1, 0, 0, 1}}});
  const auto plane = steps.of(Configuration{0, {{2, 0, 1, 0}}});
  const auto rate = steps.of(Configuration{0, {{3, 0, 0, 0}}});
  ASSERT_TRUE(healthy && port && plane && rate);
  EXPECT_GE(*port, *healthy);
  EXPECT_GE(*plane, *healthy);
  EXPECT_GT(*rate, *healthy);
  // Both planes of rail 0: no way to any other server is left, so the job cannot go on.
  EXPECT_EQ(steps.of(Configuration{0, {{2, 0, 0, 0}, {2, 0, 1, 0}}}), std::nullopt);
}

// A slow GPU without overlap: its stage waits for it, whether the other replicas are slow there or not. With overlap the
// others' computations may be in the way of communication, so that the whole stage is at least as slow.
TEST(SimulatedSteps, ASlowStageIsOneSlowGpuOrMore) {
  for (const bool overlap : {false, true}) {
    GoodputSpec spec = small_spec();
    FailureSource stage = spec.failures[0];
    stage.degradation = Degradation::kStageCompute;
    spec.failures.push_back(stage);
    TrainingSpec training = small_training();
    training.overlap_gradients = overlap;
    Scenario job = small_job(RailKind::kElectrical);
    job.graph = make_training_graph(training);
    const Registries known;
    SimulatedSteps steps(spec, job, training, known);
    const auto one = steps.of(Configuration{0, {{0, 0, 0, 0}}});
    const auto all = steps.of(Configuration{0, {{4, 3, 0, 1}}}.canonical(spec));
    ASSERT_TRUE(one && all);
    EXPECT_GT(*one, *steps.of({}));
    EXPECT_GE(*all, *one);
    if (overlap) continue;
    EXPECT_EQ(*all, *one);
  }
}

// Where it is does not matter but for the place, and twice is once.
TEST(Configuration, ASlowStageIsOfItsPlace) {
  GoodputSpec spec = small_spec();
  spec.job = {4, 2, 2, 1};
  spec.failures[0].degradation = Degradation::kStageCompute;
  const auto canonical = [&](std::vector<goodput::DegradedPart> parts) {
    return Configuration{0, std::move(parts)}.canonical(spec);
  };
  EXPECT_EQ(canonical({{0, 1, 1, 1}}), canonical({{0, 0, 1, 0}}));
  EXPECT_EQ(canonical({{0, 1, 1, 1}, {0, 0, 1, 0}}), canonical({{0, 0, 1, 0}}));
  EXPECT_NE(canonical({{0, 0, 1, 0}}), canonical({{0, 0, 0, 0}}));
}

// The scenario of three of four replicas is the job with dp 3 and three quarters of the batch.
TEST(SimulatedSteps, ADroppedReplicaIsASmallerJob) {
  const GoodputSpec spec = small_spec();
  const Scenario job = small_job(RailKind::kElectrical);
  TrainingSpec three = small_training();
  three.parallelism.dp = 3;
  three.global_batch = 6;
  const Scenario dropped = degraded_scenario(spec, job, small_training(), Configuration{1, {}});
  EXPECT_EQ(dropped.graph.ranks(), 6u);
  EXPECT_EQ(dropped.cluster.servers, 3u);
  Scenario by_hand = small_job(RailKind::kElectrical);
  by_hand.cluster.servers = 3;
  by_hand.graph = make_training_graph(three);
  by_hand.gpu_of_rank.resize(6);
  EXPECT_EQ(simulate(dropped).step_time(), simulate(by_hand).step_time());
}

// What is said of single servers, ranks and circuits goes with them; what is said of all stays.
TEST(SimulatedSteps, TheLastReplicaTakesWithItWhatIsSaidOfIt) {
  const GoodputSpec spec = small_spec();
  Scenario job = small_job(RailKind::kOptical);
  const auto slow_nic = [](std::optional<std::uint32_t> server) {
    PortFault fault;
    fault.kind = PortFault::Kind::kSlow;
    fault.rate = 0.5;
    fault.server = server;
    return fault;
  };
  const auto late = [](std::vector<RankId> ranks) {
    StragglerSpec straggler;
    straggler.whom = StragglerSpec::Whom::kListed;
    straggler.ranks = std::move(ranks);
    straggler.slowdown = 2.0;
    return straggler;
  };
  job.cluster.rail.faults = {slow_nic(3), slow_nic(1), slow_nic(std::nullopt)};
  job.cluster.unlike = {UnlikeGpus{{3}, {}, 0.5}, UnlikeGpus{{1, 3}, {0}, 0.5}};
  job.cluster.scale_up.shape.kind = ScaleUpShape::Kind::kTorus;
  job.cluster.scale_up.shape.sides = {2};
  job.cluster.scale_up.shape.wraps = {true};
  job.cluster.scale_up.faults = {ScaleUpFault{.server = 3, .gpu = 0, .rate = 0.5}, ScaleUpFault{.gpu = 0, .rate = 0.5}};
  job.cluster.rail.pods.servers = 3;
  job.stragglers = {late({RankId{7}}), late({RankId{1}, RankId{6}}), StragglerSpec{}};
  job.controller.control.shims = {ShimSpec{{RankId{7}}}, ShimSpec{{RankId{0}, RankId{7}}}};
  const Scenario left = degraded_scenario(spec, job, small_training(), Configuration{1, {}});
  EXPECT_EQ(left.cluster.rail.faults.size(), 2u);
  ASSERT_EQ(left.cluster.unlike.size(), 1u);
  EXPECT_EQ(left.cluster.unlike[0].servers, std::vector<std::uint32_t>{1});
  EXPECT_EQ(left.cluster.scale_up.faults.size(), 1u);
  EXPECT_EQ(left.cluster.rail.pods.servers, 0u);
  ASSERT_EQ(left.stragglers.size(), 2u);
  EXPECT_EQ(left.stragglers[0].ranks, std::vector<RankId>{RankId{1}});
  ASSERT_EQ(left.controller.control.shims.size(), 1u);
  EXPECT_EQ(left.controller.control.shims[0].ranks, std::vector<RankId>{RankId{0}});
  EXPECT_NO_THROW(left.validate());
  job.controller = {};
  job.controller.name = "static";
  job.controller.circuits = {StaticCircuit{GpuId{0}, GpuId{2}}, StaticCircuit{GpuId{4}, GpuId{6}},
                             StaticCircuit{GpuId{6}, GpuId{0}}};
  const Scenario wired = degraded_scenario(spec, job, small_training(), Configuration{1, {}});
  EXPECT_EQ(wired.controller.circuits, (std::vector<StaticCircuit>{StaticCircuit{GpuId{0}, GpuId{2}}}));
}

// Experts that are spread over all replicas cannot do without one.
TEST(SimulatedSteps, AReplicaWithExpertsOfAllCannotBeDropped) {
  TrainingSpec experts = small_training();
  experts.model.moe.emplace();
  experts.model.moe->experts = 8;
  experts.model.moe->top_k = 2;
  experts.parallelism.ep = 4;
  Scenario job = small_job(RailKind::kElectrical);
  job.graph = make_training_graph(experts);
  const ConfigError error = error_of([&] {
    static_cast<void>(degraded_scenario(small_spec(), job, experts, Configuration{1, {}}));
  });
  EXPECT_EQ(error.where(), "reliability.recovery");
  EXPECT_THAT(error.what(), ::testing::HasSubstr("replicas cannot be dropped: with 3 of 4 left, parallelism.ep"));
}

// The fourth server goes, and with it site 2 and its links 0 and 1: link 2 is link 0 then, and so is the fault of it.
TEST(SimulatedSteps, ASiteWithoutServersGoesWithItsLinks) {
  Scenario job = small_job(RailKind::kElectrical);
  SitesSpec& sites = job.cluster.sites;
  sites.servers = {2, 1, 1};
  sites.links = {SiteLink{.a = 0, .b = 2}, SiteLink{.a = 2, .b = 1}, SiteLink{.a = 0, .b = 1}};
  job.cluster.rail.faults.resize(2);
  job.cluster.rail.faults[0].site_link = 1;
  job.cluster.rail.faults[1].site_link = 2;
  const Scenario left = degraded_scenario(small_spec(), job, small_training(), Configuration{1, {}});
  EXPECT_EQ(left.cluster.sites.servers, (std::vector<std::uint32_t>{2, 1}));
  ASSERT_EQ(left.cluster.sites.links.size(), 1u);
  EXPECT_EQ(left.cluster.sites.links[0].b, 1u);
  ASSERT_EQ(left.cluster.rail.faults.size(), 1u);
  EXPECT_EQ(left.cluster.rail.faults[0].site_link, 0u);
  EXPECT_NO_THROW(left.validate());
  sites.servers = {3, 1};
  sites.links.resize(1);
  sites.links[0].b = 1;
  job.cluster.rail.faults.clear();
  const Scenario one = degraded_scenario(small_spec(), job, small_training(), Configuration{1, {}});
  EXPECT_TRUE(one.cluster.sites.servers.empty() && one.cluster.sites.links.empty()) << "one site is left";
}

TEST(SimulatedSteps, WhatHasNoScenarioIsAnError) {
  const GoodputSpec spec = small_spec();
  const Scenario job = small_job(RailKind::kElectrical);
  EXPECT_EQ(error_of([&] {
              static_cast<void>(degraded_scenario(spec, job, {}, Configuration{1, {}}));
            }).where(),
            "reliability.recovery");
  EXPECT_EQ(error_of([&] {
              static_cast<void>(degraded_scenario(spec, job, {}, Configuration{0, {{1, 0, 0, 0}}}));
            }).where(),
            "reliability.failures[1].degradation");
}

// No failure is drawn in ten days: a history is nothing but the steps of simulate(), to the picosecond.
TEST(SimulatedSteps, AHistoryWithoutFailuresIsTheSimulatedStep) {
  GoodputSpec spec = small_spec();
  for (FailureSource& source : spec.failures) source.time_to_failure = RandomTime::exponential(1e15);
  spec.days = 10.0;
  spec.steps = 1000;
  spec.checkpoint.interval_s = 1e9;
  const Scenario job = small_job(RailKind::kOptical);
  const Registries known;
  SimulatedSteps steps(spec, job, small_training(), known);
  const History history = goodput::run_history(spec, steps, 1);
  EXPECT_EQ(history.wall, LongTime(simulate(job).step_time()).times(1000));
  EXPECT_EQ(history.books[TimeUse::kProductive], history.wall);
}

}  // namespace
}  // namespace photonrail::test
