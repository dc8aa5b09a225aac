// The oracle is a lower bound: on jobs whose best run is known, against controllers that act at random, and against every
// policy on random jobs.
#include "control/free_ports.hpp"
#include "photonrail/error.hpp"
#include "run/circuit_orders.hpp"
#include "run/drawing.hpp"
#include "run/job.hpp"
#include "run/optimum.hpp"
#include "run/stream_order.hpp"
#include "support/errors.hpp"
#include "support/sizes.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

using control::FreePorts;

namespace {

Duration bound(Scenario scenario, bool forwarding = false) {
  const ControllerSpec delays = scenario.controller;
  scenario.controller = ControllerSpec{};
  scenario.controller.name = "oracle";
  scenario.controller.command = delays.command;
  scenario.controller.acknowledgement = delays.acknowledgement;
  scenario.controller.parameters.set("forwarding", forwarding ? 1.0 : 0.0);
  const RunResult result = simulate(scenario);
  EXPECT_TRUE(books_balance(result)) << testing::books_problem(result);
  return result.makespan;
}

Duration under(Scenario scenario, const std::string& name, const ParameterValues& parameters = {}) {
  scenario.controller = ControllerSpec{};
  scenario.controller.name = name;
  scenario.controller.parameters = parameters;
  return simulate(scenario).makespan;
}

// 20 ms of bytes from 0 to 1, then 4 ms of computation, then 20 ms of bytes from 0 to 2; circuits take 10 ms.
Job two_hops(std::uint32_t ports) {
  Job job(3);
  job.optical(ms(10));
  job.scenario.cluster.nic.ports = ports;
  job.send(0, 1, 20 * kMs).receive(0, 1, 20 * kMs).compute(0, ms(4));
  job.send(0, 2, 20 * kMs, 1).receive(0, 2, 20 * kMs, 1);
  job.build();
  return job;
}

// Lit at 10 ms, over at 30; 0's fibre has turned at 40, when the computation is over; 60. On demand it turns from 34 on.
TEST(LowerBound, AFibreTurnsWhileItsRankComputes) {
  const Job job = two_hops(1);
  EXPECT_EQ(bound(job.scenario), ms(60));
  EXPECT_EQ(under(job.scenario, "opus", ParameterValues().set("mode", "provisioned")), ms(60));
  EXPECT_EQ(under(job.scenario, "opus"), ms(64));
}

// Both hops have a port; at best each has both ports in turn, and nothing says that they cannot: 10 + 10 + 4 + 10.
TEST(LowerBound, WithTwoPortsNothingTurns) {
  const Job job = two_hops(2);
  EXPECT_EQ(bound(job.scenario), ms(34));
  EXPECT_GE(under(job.scenario, "opus", ParameterValues().set("mode", "provisioned")), ms(34));
}

// Rounds of an all-to-all among four: three, with 4 MB / 4 for each pair, which is 20 us, and each turns all fibres.
TEST(LowerBound, EveryRoundOfACollectiveTurnsTheFibres) {
  Job job(4);
  job.optical(ms(10));
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
  const auto all = job.group({0, 1, 2, 3});
  job.collective(all, {0, 1, 2, 3}, CollectiveOp::kAllToAll, 4'000'000).build();
  EXPECT_EQ(bound(job.scenario), 3 * ms(10.02));
  EXPECT_EQ(under(job.scenario, "opus"), 3 * ms(10.02));
}

// A direct all-to-all of one round wants three circuits of every GPU: with one port they are there one after another.
TEST(LowerBound, AFibreIsOnOnePeerAtATime) {
  Job job(4);
  job.optical(ms(10));
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  const auto all = job.group({0, 1, 2, 3});
  job.collective(all, {0, 1, 2, 3}, CollectiveOp::kAllToAll, 4'000'000).build();
  EXPECT_EQ(bound(job.scenario), 3 * ms(10.02));
  EXPECT_GE(under(job.scenario, "solstice"), 3 * ms(10.02));
}

// A pipeline of three stages with two ports a NIC: each neighbour has a port, and after the first circuits nothing is
// re-pointed.
TEST(TwoPorts, OpusGivesEachNeighbourOfAStageOne) {
  for (const char* mode : {"on_demand", "provisioned"}) {
    Job job(3);
    job.optical(ms(10));
    job.scenario.cluster.nic.ports = 2;
    job.scenario.controller.parameters.set("mode", mode);
    job.scenario.run.iterations = 3;
    for (const auto& [from, to] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 2}, {2, 1}, {1, 0}}) {
      job.compute(from, ms(1)).send(from, to, kMs).receive(from, to, kMs);
    }
    const RunResult result = job.run();
    EXPECT_EQ(result.reconfigurations.count, 4u) << "one for each pair";
  }
}

// Two receivers of 20 ms each, in any order: nothing orders them, but one port sends 40 ms, and turns once.
TEST(LowerBound, WhatAFibreCarriesTakesItsTime) {
  Job job(3);
  job.optical(ms(10));
  job.send(0, 1, 20 * kMs).receive(0, 1, 20 * kMs).detach(0);
  job.send(0, 2, 20 * kMs).receive(0, 2, 20 * kMs).build();
  EXPECT_EQ(bound(job.scenario), ms(60));
  EXPECT_EQ(under(job.scenario, "opus"), ms(60));
}

// Sent over 1, the second hop needs no circuit of its own.
TEST(LowerBound, ForwardingIsABoundOfItsOwn) {
  const Job job = two_hops(1);
  EXPECT_EQ(bound(job.scenario, true), ms(54));
  Scenario forwards = job.scenario;
  forwards.cluster.rail.forwarding = true;
  EXPECT_EQ(bound(forwards), ms(54));
}

// A job that is alone is no slower than among others; beside a policy there is no bound.
TEST(LowerBound, JobsThatShareAClusterAreBoundedOneByOne) {
  Scenario shared;
  const Job job = two_hops(1);
  shared.cluster = job.scenario.cluster;
  shared.jobs = {job.scenario, job.scenario};
  shared.jobs[0].name = "first";
  shared.jobs[1].name = "second";
  for (JobSpec& of : shared.jobs) of.controller.name = "oracle";
  shared.cluster.servers = 6;
  shared.jobs[1].gpu_of_rank = {GpuId{3u}, GpuId{4u}, GpuId{5u}};
  shared.jobs[1].start = Time{} + ms(5);
  const RunResult result = simulate(shared);
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[0].makespan, ms(60));
  EXPECT_EQ(result.makespan, ms(65));
  shared.jobs[1].controller.name = "opus";
  EXPECT_THROW((void)simulate(shared), ConfigError);
}

/// Serves what waits, or is announced, in a random order; now and then something is left for later.
class Haphazard : public Controller {
 public:
  explicit Haphazard(std::uint64_t seed) : random_(seed, "haphazard") {}

  Decision decide(const FabricView& view) override {
    ports_.begin(view);
    CircuitPlan plan;
    std::vector<const CircuitRequest*> list;
    for (const CircuitRequest& demand : view.requests) list.push_back(&demand);
    for (const CircuitRequest& demand : view.partial_requests) list.push_back(&demand);
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
    for (const CircuitRequest* demand : list) {
      if (random_.below(8) == 0) continue;
      const auto width = static_cast<std::uint32_t>(1 + random_.below(view.ports_per_gpu));
      (void)ports_.serve_all(demand->pairs, width, plan.connect);
    }
    Decision decision;
    if (!plan.connect.empty()) decision = plan;
    decision.ask_again = view.now + us(20);
    return decision;
  }

 private:
  RandomStream random_;
  FreePorts ports_;
};

Registries haphazard(std::uint64_t seed) {
  Registries known;
  ControllerFactory factory;
  factory.name = "haphazard";
  factory.make = [seed](const ControllerSpec&, RailId rail, std::uint32_t, std::uint32_t) {
    return std::make_unique<Haphazard>(100 * seed + rail.value);
  };
  factory.needs = [](const ControllerSpec&) {
    PolicyNeeds needs;
    needs.ranks.announce = Announcement::kAhead;
    return needs;
  };
  known.controllers.add(factory);
  return known;
}

// A search through small jobs: of many runs under controllers that act at random none is shorter, and some are as short.
TEST(LowerBound, NoRandomControllerBeatsItAndSomeReachIt) {
  RandomStream random(1, "jobs for controllers that act at random");
  int reached = 0;
  for (int n = 0; n < 40; ++n) {
    Scenario scenario = testing::scenario_of(testing::draw_case(random));
    scenario.cluster.rail.forwarding = false;
    const Duration least = bound(scenario);
    scenario.controller.name = "haphazard";
    Duration best = Duration::max();
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      try {
        best = std::min(best, simulate(scenario, {}, haphazard(seed)).makespan);
      } catch (const DeadlockError&) {  // rails that act at random may wait for each other
      }
    }
    ASSERT_GE(best, least) << "case " << n;
    reached += best == least ? 1 : 0;
  }
  EXPECT_GT(reached, 0);
}

std::vector<ControllerSpec> all_policies() {
  std::vector<ControllerSpec> specs;
  const ControllerRegistry registry = ControllerRegistry::builtin();
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.bound || factory.name == "electrical" || factory.name == "static") continue;
    specs.emplace_back().name = factory.name;
    if (factory.name == "coalesce") specs.back().parameters.set("rehearse", 0.0);
    if (factory.name != "opus") continue;
    specs.push_back(specs.back());
    specs.back().parameters.set("mode", "provisioned");
    specs.push_back(specs.back());
    specs.back().parameters.set("order", "free");
  }
  return specs;
}

TEST(LowerBound, NoPolicyBeatsItOnRandomScenarios) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  const std::vector<ControllerSpec> specs = all_policies();
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario drawn = Drawing(seed, {.rail = RailKind::kOptical}).scenario;
    if (drawn.cluster.rail.kind != RailKind::kOptical) continue;
    const Duration direct = bound(drawn);
    const Duration forwarded = bound(drawn, true);
    ASSERT_LE(forwarded, direct) << "seed " << seed;
    for (const ControllerSpec& spec : specs) {
      Scenario scenario = drawn;
      scenario.controller = spec;
      scenario.controller.command = drawn.controller.command;
      scenario.controller.acknowledgement = drawn.controller.acknowledgement;
      const bool hops = registry.find(spec.name).needs_of(spec).hops > 0;
      try {
        ASSERT_GE(simulate(scenario).makespan, hops ? forwarded : direct) << spec.describe() << ", seed " << seed;
        ++compared;
      } catch (const DeadlockError&) {  // it wants more circuits than there are ports
      } catch (const ControllerError&) {
      }
    }
  }
  EXPECT_GT(compared, 1000u);
}

// Two computations wait for one: the lower goes first, whatever it is good for; and so does what waits for the higher.
TEST(StreamOrder, OfTwoThatAreReadyTheLowerGoesFirst) {
  TaskGraphBuilder builder(1);
  const ProgramId p = builder.add_program();
  const TaskId first = builder.add_delay(p, ms(1));
  const TaskId weights = builder.add_delay(p, ms(2), "", std::vector{first});
  const TaskId inputs = builder.add_delay(p, ms(3), "", std::vector{first});
  const TaskId next = builder.add_delay(p, ms(4), "", std::vector{inputs});
  const TaskId free = builder.add_delay(p, ms(5));
  builder.assign(RankId{0u}, p);
  const TaskGraph graph = std::move(builder).build();
  const run::StreamOrder order(graph.programs().front(), {});
  const auto after = [&](TaskId task) { return std::vector<TaskId>(order.after(task).begin(), order.after(task).end()); };
  EXPECT_EQ(after(weights), std::vector{inputs});
  EXPECT_TRUE(after(inputs).empty());
  EXPECT_EQ(order.waits(inputs), 1u);
  EXPECT_EQ(order.waits(next), 0u);  // it waits for what waits
  EXPECT_EQ(after(first), std::vector{free}) << "the lower of two that are ready at the begin";
}

// The second call of a lane waits for a computation that waits for the first; a third is ready with the first.
TEST(StreamOrder, CollectivesOfALaneKeepTheirOrderWhereAllMembersHaveIt) {
  for (const bool alike : {true, false}) {
    TaskGraphBuilder builder(2);
    const CommunicatorId pair = builder.add_communicator("pair", {RankId{0u}, RankId{1u}}, Dimension::kTp);
    for (std::size_t r = 0; r < 2; ++r) {
      const ProgramId p = builder.add_program();
      const TaskId begin = builder.add_delay(p, ms(1));
      const TaskId elsewhere = builder.add_delay(p, ms(1), "", {}, Stream::kHost);
      const auto gather = [&](TaskId after) {
        return builder.add_collective(p, pair, CollectiveOp::kAllGather, Bytes{1000}, "", std::vector{after});
      };
      static_cast<void>(gather(begin));
      static_cast<void>(gather(alike || r == 0 ? begin : elsewhere));
      static_cast<void>(gather(builder.add_delay(p, ms(1), "", std::vector{begin})));
      builder.assign(RankId{r}, p);
    }
    const TaskGraph graph = std::move(builder).build();
    const auto calls = [&](bool in_server) { return run::stream_orders(graph, {in_server}).front().calls(); };
    EXPECT_TRUE(calls(false).empty());
    EXPECT_EQ(calls(true).empty(), !alike);
    if (alike) {
      EXPECT_EQ(calls(true), (std::vector<run::CallOrder>{{0, 0, 1}, {0, 1, 2}}));
    }
  }
}

// After 10 ms a rank has 20 ms of work whose result nobody waits for, then 10 ms for what it sends: 10 + 20 + 10 + 5, which
// a relaxation without the order of the stream has at 10 + 10 + 5.
TEST(LowerBound, AStreamKeepsItsOrder) {
  TaskGraphBuilder builder(2);
  const ProgramId sender = builder.add_program();
  const ProgramId receiver = builder.add_program();
  const CommunicatorId link = builder.link(RankId{0u}, RankId{1u}, Dimension::kPp);
  const TaskId begin = builder.add_delay(sender, ms(10));
  builder.add_delay(sender, ms(20), "", std::vector{begin});
  const TaskId needed = builder.add_delay(sender, ms(10), "", std::vector{begin});
  builder.add_send(sender, link, Bytes{5 * kMs}, 0, "", std::vector{needed});
  builder.add_receive(receiver, link, Bytes{5 * kMs}, 0);
  builder.assign(RankId{0u}, sender);
  builder.assign(RankId{1u}, receiver);
  Job job(2);
  job.optical(ms(10)).build();
  job.scenario.graph = std::move(builder).build();
  EXPECT_EQ(bound(job.scenario), ms(45));
  EXPECT_EQ(under(job.scenario, "opus", ParameterValues().set("mode", "provisioned")), ms(45));
}

// A sends to B and to C, which each send on; nothing says which goes first. Either way one of the two ways has both
// transfers and both turns before it: 10 + 20 + 10 + 20, and then 5 more for the way on.
TEST(LowerBound, OneOfTwoThatShareAFibreComesLater) {
  Job job(5);
  job.optical(ms(10));
  job.send(0, 1, 20 * kMs).receive(0, 1, 20 * kMs).send(1, 3, 5 * kMs).receive(1, 3, 5 * kMs).detach(0);
  job.send(0, 2, 20 * kMs).receive(0, 2, 20 * kMs).send(2, 4, 5 * kMs).receive(2, 4, 5 * kMs).build();
  EXPECT_EQ(bound(job.scenario), ms(65));
  EXPECT_EQ(under(job.scenario, "opus", ParameterValues().set("mode", "provisioned")), ms(75));  // 2 asks for 4 at 60
}

struct Distance {
  Duration bound{};
  std::optional<Duration> best{};  // none: no policy ends
};

/// Of the best of all policies that forward nothing.
Distance distance(Scenario scenario, bool by_round) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  scenario.cluster.rail.forwarding = false;
  const ControllerSpec delays = scenario.controller;
  Distance found{bound(scenario)};
  for (const ControllerSpec& spec : all_policies()) {
    const PolicyNeeds needs = registry.find(spec.name).needs_of(spec);
    if (needs.hops > 0 || (by_round && needs.by_pair())) continue;
    scenario.controller = spec;
    scenario.controller.command = delays.command;
    scenario.controller.acknowledgement = delays.acknowledgement;
    try {
      const Duration makespan = simulate(scenario).makespan;
      found.best = std::min(makespan, found.best.value_or(makespan));
    } catch (const DeadlockError&) {  // it wants more circuits than there are ports
    } catch (const ControllerError&) {
    }
  }
  return found;
}

Scenario drawn_at(std::uint64_t seed) {
  constexpr double kDelays[] = {1, 3, 10, 30, 100};
  Scenario scenario = Drawing(seed, {.rail = RailKind::kOptical}).scenario;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(ms(kDelays[seed % 5]));
  return scenario;
}

// The best policy over the bound, of 200 drawn jobs at delays of 1 to 100 ms.
TEST(LowerBound, HalfOfAllJobsHaveAPolicyWithinThreePercent) {
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; ratios.size() < 200; ++seed) {
    const Scenario scenario = drawn_at(seed);
    if (scenario.cluster.rail.kind != RailKind::kOptical) continue;
    const auto [least, best] = distance(scenario, false);
    if (!best) continue;
    ASSERT_GE(*best, least) << "seed " << seed;
    ratios.push_back(least > Duration{} ? to_seconds(*best) / to_seconds(least) : 1.0);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[ratios.size() / 2], 1.03);
  const auto close = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio <= 1.03; });
  EXPECT_GT(close, 140);
}

// Up to 8 ranks and 3 groups: the shortest run over all orders of circuits lies between the bound and the best policy that
// serves rounds.
TEST(LowerBound, TheOptimumOfSmallJobsLiesBetweenTheBoundAndTheBestPolicy) {
  const std::uint64_t jobs = test_cases(25);
  std::uint64_t seen = 0;
  std::uint64_t proven = 0;
  std::uint64_t reached = 0;  // by the bound
  for (std::uint64_t seed = 1; seen < jobs; ++seed) {
    Scenario scenario = drawn_at(seed);
    const bool small = scenario.graph.ranks() <= 8 && scenario.graph.communicators().size() <= 3;
    if (!small || scenario.graph.task_count() == 0) continue;
    const auto [least, best] = distance(scenario, true);
    if (!best || least == Duration{}) continue;
    ++seen;
    scenario.cluster.rail.forwarding = false;
    ControllerSpec delays;
    delays.command = scenario.controller.command;
    delays.acknowledgement = scenario.controller.acknowledgement;
    scenario.controller = delays;
    const Optimum optimum = OptimumSearch(scenario, *best, least).find(300);
    if (optimum.least) {
      ASSERT_GE(*optimum.least, least) << "seed " << seed;
    }
    if (!optimum.proven) continue;
    ++proven;
    ASSERT_TRUE(optimum.least) << "seed " << seed << ": no order is as good as the best policy";
    EXPECT_LE(*optimum.least, *best) << "seed " << seed;
    reached += *optimum.least <= least + least / 1000 ? 1 : 0;
  }
  EXPECT_GE(10 * proven, 8 * seen);
  EXPECT_GE(10 * reached, 9 * proven);
}

// What ranks do is kept for observers only where one of them wants to know.
TEST(LowerBound, TellsOfRanksOnlyWhoWatchesThem) {
  class Watcher : public Observer {
   public:
    explicit Watcher(bool every) : every_(every) {}
    [[nodiscard]] bool needs_every_rank() const override { return every_; }
    void compute(const ComputeEvent&) override { ++computations; }
    void operation(const OperationEvent&) override { ++operations; }
    void end(Time at) override { last = at; }
    int computations = 0;
    int operations = 0;
    Time last{};

   private:
    bool every_;
  };
  Job job = two_hops(1);
  job.scenario.controller = ControllerSpec{};
  job.scenario.controller.name = "oracle";
  for (const bool every : {false, true}) {
    Watcher watcher(every);
    Observer* const observers[] = {&watcher};
    const RunResult result = simulate(job.scenario, observers);
    EXPECT_EQ(result.makespan, ms(60));
    EXPECT_EQ(watcher.last, Time{} + ms(60));
    EXPECT_EQ(watcher.computations, every ? 1 : 0);
    EXPECT_EQ(watcher.operations > 0, every);
  }
}

// Two servers of two GPUs: what 0 sends to 3 changes to rail 1 in its server and arrives over the circuit that 1 uses as
// well. One circuit a direction and rail serves the whole all-to-all.
TEST(LowerBound, GpusOfOneServerAreOnePeer) {
  Job job(4, 2);
  job.optical(ms(10));
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllToAll, 4 * kMs).build();
  EXPECT_GE(bound(job.scenario), ms(10 + 2));  // two times 1 ms over a port
  for (const char* policy : {"opus", "lru", "mixnet", "harvest"})
    EXPECT_LE(bound(job.scenario), under(job.scenario, policy)) << policy;
}

// Two messages, one after the other, of 26 days each: as a run that is simulated, one that is bounded is too long to be
// told.
TEST(LowerBound, GoesNoFurtherThanARun) {
  Job job(3);
  job.optical(Duration{});
  job.scenario.cluster.nic.latency = std::chrono::hours(26 * 24);
  job.send(0, 1, 1000).receive(0, 1, 1000).send(1, 2, 1000).receive(1, 2, 1000).build();
  const std::string simulated = error_of([&] { static_cast<void>(under(job.scenario, "opus")); }).problem();
  EXPECT_NE(simulated.find("would take 52"), std::string::npos) << simulated;
  EXPECT_EQ(error_of([&] { static_cast<void>(bound(job.scenario)); }).problem(), simulated);
}

}  // namespace
}  // namespace photonrail::test
