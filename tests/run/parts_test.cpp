// The parts of one run, each built alone.
#include "collective/algorithm_table.hpp"
#include "execution/part_fixture.hpp"
#include "photonrail/error.hpp"
#include "run/circuit_history.hpp"
#include "run/folding_cache.hpp"
#include "run/job_setup.hpp"
#include "run/lower_bound.hpp"
#include "run/operation_bound.hpp"
#include "run/profiling_runs.hpp"
#include "run/rehearsals.hpp"
#include "run/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::run {
namespace {

using test::Job;
using test::PartFixture;
using test::us;
using ::testing::ElementsAre;

// A NIC of two ports that needed circuits to peers 1, 2 and 3 until 10, 20 and 30: the first fibre that can turn to peer 4
// is the one that peer 2 had, as another has been with peer 3 since.
TEST(CircuitHistory, SaysWhenTheFirstFibreCanHaveTurned) {
  CircuitHistory history;
  for (std::uint32_t peer = 1; peer <= 3; ++peer) history.used(peer, Time{10 * peer}, 2);
  EXPECT_EQ(history.turns(4, 2), Time{20});
  EXPECT_EQ(history.turns(3, 2), Time{10}) << "of the others the second latest";
  history.used(1, Time{40}, 2);
  EXPECT_EQ(history.turns(4, 2), Time{30}) << "a peer counts once, with its latest use";
}

TEST(CircuitHistory, AFibreThatNeverHadACircuitCanTurnAtOnce) {
  CircuitHistory history;
  history.used(1, Time{10}, 2);
  EXPECT_FALSE(history.turns(2, 2));
  CircuitHistory other;
  other.used(3, Time{7}, 2);
  history.merge(other, 2);
  EXPECT_EQ(history.turns(2, 2), Time{7});
}

Job two_rings() {
  Job job(4);
  const auto first = job.group({0, 1});
  const auto second = job.group({2, 3});
  job.collective(first, {0, 1}, CollectiveOp::kAllReduce, 100'000'000);
  job.collective(second, {2, 3}, CollectiveOp::kAllReduce, 100'000'000);
  return job;
}

TEST(FoldingCache, AJobIsFoldedOnceForEachTelling) {
  Job job = two_rings();
  job.build();
  const Registries registries;
  FoldingCache cache(job.scenario, registries);
  const folding::FoldingAttempt& equal = cache.fold({}, false);
  ASSERT_TRUE(equal.folding) << equal.why_not;
  EXPECT_LT(equal.folding->graph.ranks(), 4u);
  EXPECT_EQ(&cache.fold({}, false), &equal);
  const std::vector<std::uint32_t> unlike{0, 1, 2, 3};
  EXPECT_NE(&cache.fold(unlike, false), &equal);
  EXPECT_EQ(&cache.fold({}, false), &equal) << "what was returned stays";
}

// 100 MB among two members over one circuit each way: each sends 50 MB twice at 50 GB/s, 2 ms after the 1 ms in which a
// free fibre turns. A fibre that another peer needs until 3 ms turns then.
TEST(OperationBound, AnOperationTakesItsBytesAndWhatItsCircuitsNeedToTurn) {
  Job job(3);
  const auto dp = job.group({0, 1});
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100'000'000).optical(test::ms(1));
  PartFixture part(std::move(job));
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  const execution::Operation& op = part.operations[part.operations.seat(RankId{0u}, task, 0).op];
  OperationBound bound(part.fabric, {.dark = test::ms(1), .ports = 1, .port_rate = Bandwidth::from_gb_per_s(50)});
  std::vector<OperationBound::Part> members(2);
  bound.evaluate(op, Time{}, members);
  EXPECT_EQ(members[0].ends, Time{test::ms(3)});
  EXPECT_EQ(members[1].ends, Time{test::ms(3)});
  EXPECT_EQ(bound.sends(), 4u);
  std::vector<OperationBound::Part> turning(2);
  turning[0].history.transmit.used(2, Time{test::ms(3)}, 1);
  bound.evaluate(op, Time{test::ms(2)}, turning);
  EXPECT_EQ(turning[1].ends, Time{test::ms(6)});
}

TEST(LowerBound, OfOneOperationIsThatOfTheOperation) {
  Job job(2);
  const auto dp = job.group({0, 1});
  job.compute(0, us(5)).compute(1, us(2)).collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100'000'000);
  job.optical(us(3)).build();
  const Registries registries;
  const ControllerSpec controller = registries.controllers.find("oracle").complete(job.scenario.controller);
  RunResult result;
  LowerBound({job.scenario, job.scenario.cluster, controller, job.scenario.run}, registries, {}).run(result);
  EXPECT_EQ(result.makespan, us(5) + test::ms(2)) << "the circuit turns while rank 0 computes";
}

// Rank 0 computes 3 us and then sends to rank 1, which computes 1 us before it receives: on electrical rails both
// operations start in the order of the programs, and the second collective after the first.
TEST(ProfilingRuns, GiveTheOrderOfAJobOnElectricalRails) {
  Job job(2);
  const auto dp = job.group({0, 1});
  job.compute(0, us(3)).compute(1, us(1));
  for (int i = 0; i < 2; ++i) job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 50'000'000);
  job.optical(test::ms(20)).build();
  const Registries registries;
  ProfilingRuns runs(job.scenario, job.scenario.run, registries);
  const Profile profile = runs.of_ranks({.order = true});
  ASSERT_TRUE(profile.order);
  EXPECT_FALSE(profile.slack);
  ASSERT_EQ(profile.order->size(), 2u);
  for (const std::vector<execution::ScheduledTask>& rank : *profile.order) {
    ASSERT_EQ(rank.size(), 2u);
    EXPECT_EQ(rank[0].task, TaskId{1u});
    EXPECT_EQ(rank[0].start, Time{us(3)}) << "the later of both computations";
    EXPECT_EQ(rank[1].start, Time{us(3) + test::ms(1)}) << "50 MB by two ranks: 25 MB twice at 50 GB/s";
  }
  EXPECT_EQ(on_electrical_rails(job.scenario.cluster).rail.kind, RailKind::kElectrical);
}

TEST(Runner, RunsAJobFoldedAsItRunsUnfolded) {
  Job job = two_rings();
  job.build();
  const Registries registries;
  const JobRun whole{job.scenario, registries, job.scenario.run};
  JobRun every_rank = whole;
  every_rank.run.folding = false;
  RunCaches caches(whole);
  RunResult folded;
  RunResult unfolded;
  Runner(whole, job.scenario.controller, caches).run(folded);
  Runner(every_rank, job.scenario.controller, caches).run(unfolded);
  EXPECT_EQ(folded.makespan, test::ms(2));
  EXPECT_EQ(unfolded.makespan, folded.makespan);
  EXPECT_LT(folded.engine.sends, unfolded.engine.sends);
}

/// Fails the test that expects no call.
struct CountingObserver : Observer {
  bool needs_every_rank() const override { return false; }
  MOCK_METHOD(void, begin, (const Scenario&), (override));
  MOCK_METHOD(void, end, (Time), (override));
};

/// Counts what a simulation cannot do without: controllers, and plans of its collectives.
struct Counts {
  int controllers = 0;
  int plans = 0;
};

class CountingRing : public CollectiveAlgorithm {
 public:
  explicit CountingRing(Counts& counts) : counts_(counts) {}
  std::string_view name() const override { return "ring"; }
  std::string_view summary() const override { return "a ring that counts its plans"; }
  bool supports(CollectiveOp op, Member) const override { return op == CollectiveOp::kAllReduce; }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    ++counts_.plans;
    return CollectiveRegistry::builtin().find("ring").expand(call);
  }

 private:
  Counts& counts_;
};

// The policy wants all that profiling runs give, which are simulations too, but not before the job is run.
TEST(Runner, ItsConstructorSimulatesNothing) {
  Counts counts;
  Job job = two_rings();
  job.optical(test::ms(20)).build();
  job.scenario.collectives.own.push_back(std::make_shared<CountingRing>(counts));
  job.scenario.controller.name = "counted";
  Registries registries;
  ControllerFactory counted = registries.controllers.find("opus");
  counted.name = "counted";
  counted.make = [&counts, make = counted.make](auto&&... of) {
    ++counts.controllers;
    return make(of...);
  };
  counted.needs = [needs = counted.needs](const ControllerSpec& spec) {
    PolicyNeeds wanted = needs(spec);
    wanted.view.add(ViewPart::kSchedule);
    wanted.view.add(ViewPart::kDueTimes);
    return wanted;
  };
  registries.controllers.add(counted);
  ::testing::StrictMock<CountingObserver> observer;
  Observer* const observers[] = {&observer};
  const JobRun whole{job.scenario, registries, job.scenario.run, observers};
  RunCaches caches(whole);
  const Runner runner(whole, job.scenario.controller, caches);
  EXPECT_EQ(counts.plans, 0) << "a run or a profiling run was made";
  EXPECT_EQ(counts.controllers, 0);
  (void)caches.profiles.of_ranks({.order = true, .slack = true});
  EXPECT_GT(counts.plans, 0) << "profiling runs are seen";
  EXPECT_CALL(observer, begin);
  EXPECT_CALL(observer, end);
  RunResult result;
  runner.run(result);
  EXPECT_GT(counts.controllers, 0);
}

// Both modes in both orders: the best of four runs, by number. A policy that does not rehearse keeps what the scenario
// says.
TEST(Rehearsals, ChooseTheWayWithTheShortestRun) {
  Job job = two_rings();
  job.optical(test::ms(20)).build();
  const Registries registries;
  const JobRun whole{job.scenario, registries, job.scenario.run};
  RunCaches caches(whole);
  const Rehearsals::Choice kept = Rehearsals(whole, caches).choose();
  EXPECT_EQ(kept.how, "");
  EXPECT_EQ(kept.controller.describe(), job.scenario.controller.describe());

  job.scenario.controller.parameters.set("rehearse", 1.0);
  Rehearsals rehearsals(whole, caches);
  const Rehearsals::Choice chosen = rehearsals.choose_confirmed();
  EXPECT_EQ(chosen.how.find("opus rehearsed 4 ways and took number "), 0u) << chosen.how;
  EXPECT_FALSE(chosen.estimated);
  EXPECT_EQ(rehearsals.choose_exactly().how, chosen.how);
  RunResult best;
  Runner(whole, chosen.controller, caches).run(best);
  for (const char* mode : {"on_demand", "provisioned"}) {
    ControllerSpec other = chosen.controller;
    other.parameters.set("mode", mode);
    RunResult result;
    Runner(whole, other, caches).run(result);
    EXPECT_LE(best.makespan, result.makespan) << mode;
  }
  RunResult whole_run;
  run_job(whole, whole_run);
  EXPECT_EQ(whole_run.makespan, best.makespan);
  EXPECT_EQ(whole_run.choices, std::vector<std::string>{chosen.how});
}

TEST(Simulation, RunsAJobAndReportsIt) {
  Job job = two_rings();
  job.build();
  const Registries registries;
  const ControllerFactory& factory = registries.controllers.find("opus");
  const ControllerSpec controller = factory.complete(job.scenario.controller);
  JobSetup setup{
      .scenario = job.scenario, .registries = registries, .cluster = job.scenario.cluster, .controller = controller};
  setup.run = job.scenario.run;
  execution::Schedule order(4);
  setup.recorded.order = &order;
  Simulation simulation(setup);
  EXPECT_FALSE(simulation.finished());
  simulation.run();
  EXPECT_TRUE(simulation.finished());
  EXPECT_EQ(simulation.tasks_done(), 4u);
  EXPECT_FALSE(simulation.ambiguity().found());
  RunResult result;
  simulation.report(result);
  EXPECT_EQ(result.makespan, test::ms(2));
  EXPECT_THAT(order[3], ::testing::SizeIs(1)) << "the order of rail operations was recorded";
}

TEST(Simulation, OfAJobThatCannotEndNamesWhatIsStuck) {
  Job job(2);
  const auto dp = job.group({0, 1});
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100).optical(us(1), "electrical").build();
  const Registries registries;
  const ControllerSpec controller = registries.controllers.find("electrical").complete(job.scenario.controller);
  JobSetup setup{
      .scenario = job.scenario, .registries = registries, .cluster = job.scenario.cluster, .controller = controller};
  setup.run = job.scenario.run;
  Simulation simulation(setup);
  EXPECT_THROW(simulation.run(), DeadlockError);
  EXPECT_THAT(simulation.stuck().front(), ::testing::HasSubstr("waits for a circuit"));
}

}  // namespace
}  // namespace photonrail::run
