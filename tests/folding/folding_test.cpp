// Folded runs are equal to unfolded ones, to the picosecond; where symmetry is broken every rank is run, and the result
// says why.
#include "photonrail/training.hpp"
#include "run/drawing.hpp"
#include "support/folded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>

namespace photonrail::test {
namespace {

/// A training job of a small model; tensor parallelism inside servers of tp GPUs.
TrainingSpec small_training(const ParallelismSpec& parallelism) {
  TrainingSpec spec;
  spec.model = {"small", 8, 512, 2048, 8, 8, 4096};
  spec.parallelism = parallelism;
  spec.sequence = 256;
  spec.micro_batch = 1;
  spec.global_batch = 4 * parallelism.dp;
  return spec;
}

Scenario training_of(const TrainingSpec& spec, std::uint32_t ports = 1) {
  const ParallelismSpec& parallelism = spec.parallelism;
  Scenario scenario;
  scenario.cluster.gpus_per_server = parallelism.tp;
  scenario.cluster.servers = parallelism.ranks() / parallelism.tp;
  scenario.cluster.nic.ports = ports;
  scenario.cluster.nic.latency = us(1);
  scenario.cluster.nic.message_overhead = Duration{10'000};
  scenario.cluster.rail.switch_radix = std::max(2u, scenario.cluster.plant().rail_ports());
  for (std::uint32_t r = 0; r < parallelism.ranks(); ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  scenario.graph = make_training_graph(spec);
  return scenario;
}

Scenario training(const ParallelismSpec& parallelism, std::uint32_t ports = 1) {
  return training_of(small_training(parallelism), ports);
}

Scenario optical(Scenario scenario, const char* mode, const char* order = "scheduled") {
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(us(40));
  scenario.controller.name = "opus";
  scenario.controller.parameters.set("mode", mode).set("order", order);
  return scenario;
}

void expect_folded_to(std::uint64_t classes, const Scenario& scenario) {
  const RunResult result = expect_same_folded(scenario);
  EXPECT_EQ(result.folding.off, "");
  EXPECT_EQ(result.folding.classes, classes);
}

// Ranks of one pipeline stage are alike: tp x dp of them, with the same neighbours.
TEST(Folding, OneRankAStage) {
  for (const bool fsdp : {false, true}) {
    for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
      for (const CommLanes lanes : {CommLanes::kPerCommunicator, CommLanes::kOne}) {
        for (const std::uint32_t ports : {1u, 2u}) {
          for (const ParallelismSpec p : {ParallelismSpec{2, 2, 2, fsdp}, ParallelismSpec{4, 4, 4, fsdp},
                                          ParallelismSpec{1, 1, 8, fsdp}, ParallelismSpec{2, 3, 4, fsdp}}) {
            Scenario scenario = training(p, ports);
            scenario.run.fidelity = fidelity;
            scenario.run.iterations = 2;
            scenario.executor.comm_lanes = lanes;
            SCOPED_TRACE("tp " + std::to_string(p.tp) + " pp " + std::to_string(p.pp) + " dp " + std::to_string(p.dp));
            expect_folded_to(p.pp, scenario);
            for (const char* mode : {"on_demand", "provisioned"}) {
              for (const char* order : {"scheduled", "free"}) {
                expect_folded_to(p.pp, optical(scenario, mode, order));
              }
            }
          }
        }
      }
    }
  }
}

/// One job of every way to split a model, a tp x cp x dp grid of ranks in each of its stages.
std::map<std::string, TrainingSpec> ways_to_split() {
  std::map<std::string, TrainingSpec> jobs;
  jobs["zero1"] = small_training({.tp = 2, .pp = 2, .dp = 4, .zero1 = true});
  jobs["zero1"].overlap_parameters = true;
  jobs["zero1"].clip_gradients = true;
  jobs["hybrid"] = small_training({.tp = 2, .pp = 2, .dp = 4, .fsdp = true, .dp_replicate = 2});
  jobs["context"] = small_training({.tp = 2, .pp = 2, .dp = 2, .cp = 2});
  jobs["interleaved"] = small_training({.tp = 2, .pp = 4, .dp = 2, .virtual_stages = 2});
  jobs["interleaved"].schedule = PipelineSchedule::kInterleaved;
  jobs["experts"] = small_training({.tp = 1, .pp = 2, .dp = 4, .ep = 4});
  jobs["experts"].model.moe = ExpertSpec{.experts = 8, .top_k = 2, .ffn = 512};
  return jobs;
}

// On electrical rails the stages are the classes, whatever groups there are inside them.
TEST(Folding, EveryWayToSplitAModelFoldsToItsStages) {
  for (auto& [name, spec] : ways_to_split()) {
    for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
      SCOPED_TRACE(name);
      Scenario scenario = training_of(spec);
      scenario.run.fidelity = fidelity;
      scenario.run.iterations = 2;
      expect_folded_to(spec.parallelism.pp, scenario);
    }
  }
}

// Over circuits a rank of two rings inside its stage has several neighbours, and with an all-to-all all others: sheets tell
// their circuits apart.
TEST(Folding, OnCircuitsRingsAndExchangesInsideAStageFold) {
  for (auto& [name, spec] : ways_to_split()) {
    SCOPED_TRACE(name);
    const RunResult result = expect_same_folded(optical(training_of(spec), "on_demand"));
    EXPECT_EQ(result.folding.off, "");
    EXPECT_LT(result.folding.classes, result.folding.ranks);
  }
}

// A job of one stage: all ranks are alike, until something is done to it.
Scenario ring_job(bool on_circuits) {
  Scenario scenario = training({1, 1, 8, false});
  return on_circuits ? optical(scenario, "provisioned") : scenario;
}

std::string why_off(const Scenario& scenario) {
  const RunResult result = expect_same_folded(scenario);
  EXPECT_EQ(result.folding.classes, result.folding.ranks);
  return result.folding.off;
}

TEST(Folding, TheScenarioMaySwitchItOff) {
  Scenario scenario = ring_job(false);
  scenario.run.folding = false;
  const RunResult result = simulate(scenario);
  EXPECT_EQ(result.folding.classes, 8u);
  EXPECT_EQ(result.folding.off, "the scenario says so");
}

TEST(Folding, AnObserverOfEveryRankSwitchesItOffAnyOtherDoesNot) {
  class Watcher : public Observer {
   public:
    explicit Watcher(bool every) : every_(every) {}
    [[nodiscard]] bool needs_every_rank() const override { return every_; }
    void iteration(RankId, std::uint32_t, Time) override { ++ranks; }
    void end(Time) override { ++ends; }
    int ranks = 0;
    int ends = 0;

   private:
    bool every_;
  };
  Watcher all(true);
  Watcher one(false);
  Observer* const both[] = {&all, &one};
  EXPECT_EQ(simulate(ring_job(false), both).folding.off, "an observer wants to be told of every rank");
  EXPECT_EQ(all.ranks, 8);
  Watcher alone(false);
  Observer* const observers[] = {&alone};
  EXPECT_EQ(simulate(ring_job(false), observers).folding.classes, 1u);
  EXPECT_EQ(alone.ranks, 0);
  EXPECT_EQ(alone.ends, 1);
}

TEST(Folding, ElectricalRailsOfTwoTiersAreNotFolded) {
  Scenario scenario = ring_job(false);
  scenario.cluster.rail.switch_radix = 4;  // 8 servers need leaves and spines
  scenario.cluster.rail.oversubscription = 2.0;
  EXPECT_EQ(why_off(scenario), "electrical rails of two tiers: messages share uplinks");
  scenario.cluster.rail.oversubscription = 1.0;
  scenario.cluster.rail.tier_latency = us(1);
  EXPECT_EQ(why_off(scenario), "electrical rails of two tiers: messages between leaves take longer than others");
}

// As many uplinks as ports: they limit nothing, and the rail is as one switch.
TEST(Folding, UplinksThatCannotBindAreFolded) {
  Scenario scenario = ring_job(false);
  const RunResult one_switch = simulate(scenario);
  scenario.cluster.rail.switch_radix = 4;
  expect_folded_to(1, scenario);
  EXPECT_EQ(simulate(scenario).makespan, one_switch.makespan);
}

TEST(Folding, WhatTreatsOpticalRailsDifferentlySwitchesItOff) {
  Scenario random = ring_job(true);
  random.cluster.rail.optical.reconfiguration = {DelayDistribution::Kind::kUniform, us(1), us(50)};
  EXPECT_EQ(why_off(random), "reconfiguration delays are drawn at random for each rail");

  Scenario queue = ring_job(true);
  queue.controller.service = us(1);
  EXPECT_EQ(why_off(queue), "requests queue at the controller one after another");

  Scenario hops = ring_job(true);
  hops.cluster.rail.forwarding = true;
  EXPECT_EQ(why_off(hops), "messages may be forwarded over other GPUs");

  Scenario pause = ring_job(true);
  pause.cluster.rail.on_dark = OnDark::kPause;
  EXPECT_EQ(why_off(pause), "circuits in use may be darkened");

  Scenario fixed = ring_job(true);
  fixed.controller = ControllerSpec{};
  fixed.controller.name = "static";
  for (std::uint32_t r = 0; r < 8; ++r) fixed.controller.circuits.push_back({GpuId{r}, GpuId{(r + 1) % 8}, 0, 0});
  EXPECT_EQ(why_off(fixed), "the controller may treat equal ranks differently");
}

// One straggler in a ring: its ring neighbours are at different distances from it, so that no two ranks are equal.
TEST(Folding, OneRankWithOtherTasksBreaksTheSymmetryOfItsRing) {
  const auto ring = [](bool straggler) {
    Job job(6);
    const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5};
    const auto group = job.group(all);
    if (straggler) job.compute(3, us(50));
    job.collective(group, all, CollectiveOp::kAllReduce, 6 << 20).build();
    return job.scenario;
  };
  EXPECT_EQ(why_off(ring(true)), "no two ranks are alike");
  expect_folded_to(1, ring(false));
}

StragglerSpec slow_ranks(std::vector<RankId> ranks) {
  StragglerSpec slow;
  slow.whom = StragglerSpec::Whom::kListed;
  slow.ranks = std::move(ranks);
  slow.slowdown = 2.0;
  return slow;
}

TEST(Folding, OneSlowRankOfARingLeavesNoTwoAlike) {
  Scenario scenario = ring_job(false);
  scenario.stragglers.push_back(slow_ranks({RankId{3u}}));
  EXPECT_EQ(why_off(scenario), "no two ranks are alike");
}

TEST(Folding, WhatIsDrawnForEachStepSwitchesItOff) {
  Scenario scenario = ring_job(false);
  scenario.stragglers.push_back(slow_ranks({}));
  scenario.stragglers[0].whom = StragglerSpec::Whom::kOneAtRandom;
  EXPECT_EQ(why_off(scenario), "some ranks are late or slow at random");
}

// Two stages of eight ranks, of which one is slow as a whole: as many classes as without it. A second straggler in every
// other rank of both stages makes two of each.
TEST(Folding, ASlowStageKeepsItsRanksAlike) {
  Scenario scenario = training({2, 2, 4, false});
  std::vector<RankId> stage;
  std::vector<RankId> odd;
  for (std::size_t r = 0; r < scenario.graph.ranks(); ++r) {
    if (scenario.graph.program_of(RankId{r}) == scenario.graph.program_of(RankId{0u})) stage.push_back(RankId{r});
    if (r % 2 == 1) odd.push_back(RankId{r});
  }
  ASSERT_EQ(stage.size(), scenario.graph.ranks() / 2);
  scenario.stragglers.push_back(slow_ranks(stage));
  expect_folded_to(2, scenario);
  expect_folded_to(2, optical(scenario, "provisioned"));
  EXPECT_GT(simulate(scenario).makespan, simulate(training({2, 2, 4, false})).makespan);
  scenario.stragglers.push_back(slow_ranks(odd));
  expect_folded_to(4, scenario);
}

TEST(Folding, AnAlgorithmThatWorksAroundAStragglerSwitchesItOff) {
  Scenario scenario = ring_job(false);
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = "stragglar";
  EXPECT_EQ(why_off(scenario), "'stragglar' treats the member that comes last differently");
}

// Groups inside servers and groups on rails, of algorithms that know one from the other: groups of one kind have one plan.
TEST(Folding, AnAlgorithmThatKnowsPlacesIsFoldedOnOneLevel) {
  for (const char* algorithm : {"hierarchical", "hierarchical_reversed", "ring"}) {
    Job job(16, 4);
    for (std::size_t server = 0; server < 16; server += 4) {
      const std::vector<std::size_t> tp{server, server + 1, server + 2, server + 3};
      job.collective(job.group(tp, Dimension::kTp), tp, CollectiveOp::kAllReduce, 4 << 20);
    }
    for (std::size_t rail = 0; rail < 4; ++rail) {
      const std::vector<std::size_t> dp{rail, rail + 4, rail + 8, rail + 12};
      job.collective(job.group(dp), dp, CollectiveOp::kAllReduce, 4 << 20);
      job.collective(job.group(dp, Dimension::kEp), dp, CollectiveOp::kAllToAll, 4 << 20);
    }
    job.build();
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = algorithm;
    expect_folded_to(1, job.scenario);
  }
}

// The all-to-all of a group over servers and rails follows the servers; its messages change rails. Servers are alike, and
// GPUs of one are not: those of the exchange that begin in the last GPU of a server are the first to leave it.
TEST(Folding, AnAllToAllOverServersAndRailsFoldsToOneServer) {
  for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
    Job job(12, 3);
    std::vector<std::size_t> all(12);
    std::iota(all.begin(), all.end(), 0);
    job.collective(job.group(all, Dimension::kEp), all, CollectiveOp::kAllToAll, 12 << 20);
    job.collective(job.group(all), all, CollectiveOp::kAllReduce, 12 << 20).build();
    job.scenario.run.fidelity = fidelity;
    expect_folded_to(3, job.scenario);
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
    expect_folded_to(3, job.scenario);
  }
}

TEST(Folding, UnevenDemandsSwitchItOff) {
  auto demands = std::make_shared<DemandTable>();
  TrafficMatrix matrix(2);
  matrix.at(0, 1) = matrix.at(1, 0) = Bytes{1 << 20};
  const std::uint32_t number = demands->add(matrix);
  Job job(2);
  job.demands(demands).all_to_all(job.group({0, 1}, Dimension::kEp), {0, 1}, number).build();
  EXPECT_EQ(why_off(job.scenario), "pairs of ranks have uneven demands");
}

// Of 5 bytes in 3 shards two are a byte larger: the members of the ring differ.
TEST(Folding, BytesThatDoNotDivideTellMembersApart) {
  Job job(3);
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 5).build();
  EXPECT_EQ(why_off(job.scenario), "no two ranks are alike");
}

// Three groups of two, each with its own root: ranks of one place are alike, whatever the plan does inside the group.
TEST(Folding, GroupsWhosePlanCannotBeFoldedStandForEachOther) {
  Job job(6);
  for (std::size_t g = 0; g < 6; g += 2) {
    job.collective(job.group({g, g + 1}), {g, g + 1}, CollectiveOp::kBroadcast, 1 << 20);
  }
  job.build();
  expect_folded_to(2, job.scenario);
}

// Ranks 0, 1 in server 0 and 2, 3 in server 1: the ring goes through both a server and a rail of another index.
TEST(Folding, GroupsThatChangeRailsInsideAServerFoldByServers) {
  Job job(4, 2);
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllReduce, 4 << 20).build();
  expect_folded_to(2, job.scenario);
  expect_folded_to(2, job.optical(us(40)).scenario);
}

// The second server has a GPU without a rank, over whose port messages leave it.
TEST(Folding, GpusWithoutARankThatPassMessagesOnSwitchItOff) {
  Job job(4, 2);
  job.scenario.cluster.servers = 3;
  job.scenario.gpu_of_rank = {GpuId{0u}, GpuId{1u}, GpuId{2u}, GpuId{4u}};
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 3 << 20).build();
  EXPECT_EQ(why_off(job.scenario), "messages of group '0-1-2' change rails inside a server that has GPUs without a rank");
}

// A ring over sixteen servers beside rings of two of them: the circuit to the next server is the same in both rings for
// every second server, and for the others it is not. With two ports a GPU has no sheets, and every fourth server is alike:
// every second has neighbours of one class in both rings.
TEST(Folding, OnCircuitsMembersOfRingsAreToldApart) {
  Job job(16);
  std::vector<std::size_t> all(16);
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t r = 0; r < 16; r += 2) {
    job.collective(job.group({r, r + 1}, Dimension::kCp), {r, r + 1}, CollectiveOp::kAllReduce, 2 << 20);
  }
  job.collective(job.group(all), all, CollectiveOp::kAllReduce, 16 << 20).build();
  expect_folded_to(1, job.scenario);
  expect_folded_to(2, job.optical(us(40)).scenario);
  job.scenario.cluster.nic.ports = 2;
  expect_folded_to(4, job.scenario);
}

// Every rank runs the same; but 0 and 1 share a server with no other member of their group, 2 and 3 with each other.
TEST(Folding, AnUnevenPlacementTellsGroupsApart) {
  Job job(4, 2);
  job.scenario.cluster.servers = 3;
  job.scenario.gpu_of_rank = {GpuId{0u}, GpuId{2u}, GpuId{4u}, GpuId{5u}};  // 0-1 over rail 0, 2-3 inside server 2
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 2 << 20);
  job.collective(job.group({2, 3}), {2, 3}, CollectiveOp::kAllReduce, 2 << 20).build();
  expect_folded_to(2, job.scenario);
}

// Rows and columns of a 2 x 2 grid: on circuits a rank would have two different ones to ranks of its own class. On
// electrical rails both share one port, as they do for every rank. Sheets tell them apart; where there are none, the ranks
// of a row are.
TEST(Folding, CircuitsToTwoRanksOfOneClassTellThemApart) {
  Job job(4);
  const auto everyone = {0u, 1u, 2u, 3u};
  const CommunicatorId rows[] = {job.group({0, 1}), job.group({2, 3})};
  const CommunicatorId columns[] = {job.group({0, 2}, Dimension::kTp), job.group({1, 3}, Dimension::kTp)};
  for (const std::size_t r : everyone) job.collective(rows[r / 2], {r}, CollectiveOp::kAllReduce, 2 << 20);
  for (const std::size_t r : everyone) job.collective(columns[r % 2], {r}, CollectiveOp::kAllReduce, 2 << 20);
  job.build();
  expect_folded_to(1, job.scenario);
  expect_folded_to(1, job.optical(us(40)).scenario);
  job.scenario.cluster.nic.ports = 2;
  expect_folded_to(2, job.scenario);
}

TEST(Folding, ADeadlockNamesTheRanksOfTheJob) {
  const auto stuck = [](bool folding) -> std::string {
    Job job(4);
    job.scenario.run.folding = folding;
    job.send(0, 1, 8 << 20).send(2, 3, 8 << 20).build();
    try {
      (void)simulate(job.scenario);
    } catch (const DeadlockError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(stuck(true), "");
  EXPECT_EQ(stuck(true), stuck(false));
}

}  // namespace
}  // namespace photonrail::test
