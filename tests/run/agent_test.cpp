// Workloads that an agent decides while the run goes on.
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/drawing.hpp"
#include "support/test_cases.hpp"
#include "workload/agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using workload::Arrivals;
using workload::ArrivingJob;
using workload::poisson_arrivals;
using workload::RepeatedStep;
using workload::whole_servers;
using WorkKind = WorkEvent::Kind;

/// Does what a function says.
class LambdaAgent : public WorkloadAgent {
 public:
  using On = std::function<void(const WorkEvent&, WorkSink&)>;
  explicit LambdaAgent(On on) : on_(std::move(on)) {}

  void on(const WorkEvent& event, WorkSink& sink) override {
    events.push_back(event);
    on_(event, sink);
  }
  [[nodiscard]] bool finished() const override { return done; }
  [[nodiscard]] bool hears_ranks() const override { return hears; }
  [[nodiscard]] std::vector<std::string> kinds() const override { return {"a", "b"}; }
  [[nodiscard]] std::vector<std::string> waiting() const override { return waits_for; }

  std::vector<WorkEvent> events;
  std::vector<std::string> waits_for;
  bool done = true;
  bool hears = false;

 private:
  On on_;
};

/// A cluster of one GPU a server unless said otherwise, 50 GB/s, without latencies, and idle ranks.
Scenario idle_job(std::size_t ranks, std::uint32_t gpus_per_server = 1) {
  Job job(ranks, gpus_per_server);
  job.build();
  job.scenario.graph = idle_graph(ranks);
  return job.scenario;
}

const std::vector<RankId> kRank0{RankId{0U}};

TEST(Agent, ComputationsOfAStreamRunInTheOrderOfTheirLaunches) {
  LambdaAgent agent([](const WorkEvent& event, WorkSink& sink) {
    if (event.kind != WorkKind::kBegin) return;
    for (const int time : {3, 1, 2}) static_cast<void>(sink.compute(kRank0, us(time)));
  });
  const RunResult result = simulate(idle_job(1), agent);
  ASSERT_EQ(agent.events.size(), 4u);
  EXPECT_EQ(agent.events[1].now, Time{us(3)});
  EXPECT_EQ(agent.events[2].now, Time{us(4)});
  EXPECT_EQ(agent.events[3].now, Time{us(6)});
  EXPECT_EQ(agent.events[3].launch, LaunchId{2U});
  EXPECT_EQ(result.makespan, us(6));
  EXPECT_TRUE(books_balance(result));
}

TEST(Agent, AMessageTakesTheWayOfEverySend) {
  LambdaAgent agent([](const WorkEvent& event, WorkSink& sink) {
    if (event.kind == WorkKind::kBegin) static_cast<void>(sink.send(RankId{0U}, RankId{1U}, Bytes{50'000'000}, {1, 77}));
  });
  const RunResult result = simulate(idle_job(2), agent);
  EXPECT_EQ(result.makespan, ms(1));  // 50 MB at 50 GB/s
  EXPECT_EQ(agent.events.back().token, 77u);
  ASSERT_EQ(result.launches.size(), 2u);
  EXPECT_EQ(result.launches[0].count, 0u);
  EXPECT_EQ(result.launches[1].count, 1u);
  EXPECT_EQ(result.launches[1].bytes.count, 50'000'000);
  EXPECT_EQ(result.launches[1].longest, ms(1));
  EXPECT_TRUE(books_balance(result));
}

TEST(Agent, ACollectiveTakesAsLongAsInAGraph) {
  for (const char* controller : {"", "opus", "lru"}) {
    Job job(4);
    job.scenario.cluster.nic.latency = us(2);
    if (*controller != '\0') job.optical(ms(1), controller);
    const auto dp = job.group({0, 1, 2, 3});
    job.collective(dp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400'000'000);
    const RunResult graph = job.run();
    LambdaAgent agent([](const WorkEvent& event, WorkSink& sink) {
      const std::vector<RankId> all{RankId{3U}, RankId{1U}, RankId{2U}, RankId{0U}};  // in any order
      if (event.kind != WorkKind::kBegin) return;
      static_cast<void>(sink.collective(all, CollectiveOp::kAllReduce, Bytes{400'000'000}, Dimension::kDp));
    });
    Scenario idle = job.scenario;
    idle.graph = idle_graph(4);
    const RunResult launched = simulate(idle, agent);
    EXPECT_EQ(launched.makespan, graph.makespan) << controller;
    EXPECT_EQ(launched.reconfigurations.count, graph.reconfigurations.count) << controller;
    EXPECT_EQ(launched.reconfigurations.critical_path, graph.reconfigurations.critical_path) << controller;
    EXPECT_TRUE(books_balance(launched));
  }
}

TEST(Agent, ATimerForThisInstantComesAfterWhatHasEndedAtIt) {
  LambdaAgent agent([&agent](const WorkEvent& event, WorkSink& sink) {
    if (event.kind == WorkKind::kBegin) {
      sink.wake_at(Time{us(5)}, 1);
      sink.wake_at(Time{us(1)}, 2);
      sink.wake_at(Time{us(5)}, 3);
      static_cast<void>(sink.compute(kRank0, us(5), {0, 4}));
    }
    if (event.token == 1) sink.wake_at(sink.now(), 5);
    agent.done = event.token == 5;
  });
  agent.done = false;
  static_cast<void>(simulate(idle_job(1), agent));
  std::vector<std::uint64_t> tokens;
  for (const WorkEvent& event : agent.events) tokens.push_back(event.token);
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[1], 2u);
  EXPECT_EQ(tokens.back(), 5u) << "behind the computation and the timer of the same instant";
  EXPECT_LT(std::find(tokens.begin(), tokens.end(), 1), std::find(tokens.begin(), tokens.end(), 3));
}

TEST(Agent, ARankWithoutALaunchIsIdleAndOneThatWaitsForAPeerIsNot) {
  LambdaAgent agent([](const WorkEvent& event, WorkSink& sink) {
    if (event.kind == WorkKind::kBegin) static_cast<void>(sink.compute(kRank0, ms(3)));
    if (event.kind == WorkKind::kLaunchDone && event.launch == LaunchId{0U}) {
      static_cast<void>(sink.compute(kRank0, ms(2)));
      TaskGraphBuilder builder(2);
      const auto both = builder.add_communicator("both", {RankId{0U}, RankId{1U}}, Dimension::kDp);
      const auto late = builder.add_program();
      const std::vector<TaskId> first{builder.add_delay(late, ms(1))};
      builder.add_collective(late, both, CollectiveOp::kAllReduce, Bytes{50'000'000}, "sum", first);
      const auto early = builder.add_program();
      builder.add_collective(early, both, CollectiveOp::kAllReduce, Bytes{50'000'000}, "sum");
      builder.assign(RankId{0U}, late);
      builder.assign(RankId{1U}, early);
      const auto graph = std::make_shared<const TaskGraph>(std::move(builder).build());
      static_cast<void>(sink.launch({graph, {RankId{0U}, RankId{2U}}}, {1, 0}));
    }
  });
  const RunResult result = simulate(idle_job(3), agent);
  // Rank 0 computes 3 ms, then 2 ms of the older launch and 1 ms of the younger; an all-reduce of two takes 50 MB each way.
  EXPECT_EQ(result.makespan, ms(7));
  EXPECT_EQ(result.ranks[0].compute, ms(6));
  EXPECT_EQ(result.ranks[0].idle, Duration{});
  EXPECT_EQ(result.ranks[1].idle, ms(7));
  EXPECT_EQ(result.ranks[2].idle, ms(3));
  EXPECT_EQ(result.ranks[2].peer_wait, ms(3));
  EXPECT_EQ(result.ranks[2].exposed_communication, ms(1));
  EXPECT_EQ(result.launches[0].time.picoseconds(), static_cast<double>(ms(5).count()));
  EXPECT_TRUE(books_balance(result));
}

TEST(Agent, RanksEnterALaunchOneByOne) {
  TaskGraphBuilder builder(2);
  const auto program = builder.add_program();
  const auto both = builder.add_communicator("both", {RankId{0U}, RankId{1U}}, Dimension::kDp);
  builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{50'000'000}, "sum");
  for (std::size_t r = 0; r < 2; ++r) builder.assign(RankId{r}, program, {both});
  const auto graph = std::make_shared<const TaskGraph>(std::move(builder).build());
  LaunchId launch;
  LambdaAgent agent([&](const WorkEvent& event, WorkSink& sink) {
    if (event.kind == WorkKind::kBegin) {
      launch = sink.open({graph, {RankId{0U}, RankId{1U}}});
      sink.enter(launch, RankId{1U});
      sink.wake_at(Time{ms(2)}, 0);
    }
    if (event.kind == WorkKind::kTimer) sink.enter(launch, RankId{0U});
  });
  agent.hears = true;
  const RunResult result = simulate(idle_job(2), agent);
  EXPECT_EQ(result.makespan, ms(3));
  EXPECT_EQ(result.ranks[0].idle, ms(2));
  EXPECT_EQ(result.ranks[1].peer_wait, ms(2));
  EXPECT_EQ(agent.events[2].kind, WorkKind::kRankDone);
  EXPECT_EQ(agent.events[4].kind, WorkKind::kLaunchDone);
  EXPECT_EQ(agent.events[4].launched, Time{});
}

// ---- the agent that repeats a step

struct Happening {
  Time at{};
  std::uint32_t what = 0;  // a computation, or the state in an operation
  std::uint32_t rank = 0;
  std::uint32_t task = 0;
  std::uint32_t sequence = 0;
  std::uint32_t communicator = 0;

  friend bool operator==(const Happening&, const Happening&) = default;
};

class Historian : public Observer {
 public:
  void compute(const ComputeEvent& e) override { history.push_back({e.finish, 9, e.rank.value, e.task.value}); }
  void operation(const OperationEvent& e) override {
    history.push_back(
        {e.at, static_cast<std::uint32_t>(e.state), e.rank.value, e.task.value, e.sequence, e.communicator.value});
  }
  void circuit(const CircuitEvent& e) override {
    history.push_back({e.at, 10 + static_cast<std::uint32_t>(e.state), e.circuit.from.value, e.circuit.to.value,
                       e.rail.value, e.serves.value});
  }
  std::vector<Happening> history;
};

// Under a policy that needs no schedule. Opus divides the ports of a NIC by one.
Scenario without_schedule(Scenario scenario) {
  if (scenario.cluster.rail.kind == RailKind::kOptical && scenario.cluster.nic.ports == 1) {
    scenario.controller.parameters.set("mode", "on_demand").set("order", "free");
  } else if (scenario.cluster.rail.kind == RailKind::kOptical) {
    scenario.controller.name = "lru";
    scenario.controller.parameters = {};
  }
  scenario.run.critical_path = false;
  return scenario;
}

TEST(Agent, AStepLaunchedAgainAndAgainHasTheHistoryOfTheJobThatRepeatsIt) {
  std::uint64_t events = 0;
  for (std::uint64_t seed = 0; seed < test_cases(150); ++seed) {
    const Drawing drawn(seed, {.rail = seed % 2 == 0 ? RailKind::kElectrical : RailKind::kOptical});
    Scenario scenario = without_schedule(drawn.scenario);
    scenario.run.iterations = 1 + static_cast<std::uint32_t>(seed % 4);
    if (const char* const by_pair = seed % 6 == 1 ? "max_weight" : "mixnet";
        scenario.cluster.rail.kind == RailKind::kOptical && seed % 6 != 5) {
      scenario.controller = {};
      scenario.controller.name = by_pair;
    }
    if (seed % 3 == 0)
      scenario.stragglers.push_back({.slowdown = 1.5, .delay = {DelayDistribution::Kind::kUniform, us(1), us(50)}});
    Historian repeated;
    Historian launched;
    Observer* const of_repeated[] = {&repeated};
    Observer* const of_launched[] = {&launched};
    RunResult expected;
    try {
      expected = simulate(scenario, of_repeated);
    } catch (const DeadlockError&) {
      continue;  // too few ports
    }
    Scenario idle = scenario;
    idle.graph = idle_graph(scenario.graph.ranks());
    idle.run.iterations = 1;
    RepeatedStep agent(std::make_shared<const TaskGraph>(scenario.graph), scenario.run.iterations, true);
    const RunResult result = simulate(idle, agent, of_launched);
    ASSERT_EQ(result.makespan, expected.makespan) << "seed " << seed;
    ASSERT_EQ(launched.history, repeated.history) << "seed " << seed;
    EXPECT_EQ(result.reconfigurations.critical_path, expected.reconfigurations.critical_path) << "seed " << seed;
    EXPECT_EQ(result.traffic, expected.traffic) << "seed " << seed;
    EXPECT_TRUE(books_balance(result)) << "seed " << seed;
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
      RankTime of = result.ranks[r];
      of.peer_wait += std::exchange(of.idle, Duration{});
      EXPECT_EQ(of, expected.ranks[r]) << "seed " << seed << ", rank " << r;
    }
    events += repeated.history.size();
  }
  EXPECT_GT(events, 1000u);
}

TEST(Agent, AKnownFutureIsRunAsTheJobItIs) {
  Job job(8);
  const auto dp = job.group({0, 1, 2, 3, 4, 5, 6, 7});
  job.collective(dp, {0, 1, 2, 3, 4, 5, 6, 7}, CollectiveOp::kAllReduce, 400'000'000);
  job.scenario.run.iterations = 3;
  const RunResult expected = job.run();
  Scenario idle = job.scenario;
  idle.graph = idle_graph(8);
  idle.run.iterations = 1;
  RepeatedStep agent(std::make_shared<const TaskGraph>(job.scenario.graph), 3);
  const RunResult result = simulate(idle, agent);
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(result.folding.classes, expected.folding.classes);
  EXPECT_LT(result.folding.classes, 8u);
}

// ---- queues

// The mean wait in one queue, in units of the mean service time.
double mean_wait(const std::vector<Time>& at, const std::vector<Duration>& service, Duration mean) {
  std::vector<ArrivingJob> jobs;
  std::map<Duration, std::shared_ptr<const TaskGraph>> graphs;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::shared_ptr<const TaskGraph>& graph = graphs[service[i]];
    if (graph == nullptr) {
      TaskGraphBuilder builder(1);
      const auto program = builder.add_program();
      builder.add_delay(program, service[i]);
      builder.assign(RankId{0U}, program);
      graph = std::make_shared<const TaskGraph>(std::move(builder).build());
    }
    jobs.push_back({at[i], graph, 1});
  }
  Arrivals agent(std::move(jobs));
  const RunResult result = simulate(idle_job(1), agent);
  EXPECT_TRUE(books_balance(result));
  // Lindley (1952): a job waits for what is left of those before it, to the picosecond.
  Duration wait{};
  Duration sum{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (i > 0) wait = std::max(Duration{}, wait + service[i - 1] - (at[i] - at[i - 1]));
    if (agent.records()[i].began - at[i] != wait) ADD_FAILURE() << "job " << i;
    sum += wait;
  }
  return static_cast<double>(sum.count()) / static_cast<double>(at.size()) / static_cast<double>(mean.count());
}

// Pollaczek and Khinchine: W = lambda E[S^2] / (2 (1 - rho)).
TEST(Agent, WaitsOfAQueueAreThoseOfItsClosedForm) {
  constexpr std::size_t kJobs = 200'000;
  const Duration service = us(100);
  const double load = 0.5;
  const std::vector<Time> at = poisson_arrivals(load / to_seconds(service), kJobs, 1);
  const std::vector<Time> others = poisson_arrivals(load / to_seconds(service), kJobs, 3);
  // M/D/1: W / S = rho / (2 (1 - rho)).
  EXPECT_NEAR(mean_wait(at, std::vector<Duration>(kJobs, service), service), 0.5, 0.005);
  // M/G/1 with half of the services 0.5, half 1.5 times the mean: E[S^2] = 1.25, W = 0.5 * 1.25 / (2 * 0.5).
  RandomStream random(7, "services");
  std::vector<Duration> mixed;
  for (std::size_t i = 0; i < kJobs; ++i) mixed.push_back(random.below(2) == 0 ? us(50) : us(150));
  EXPECT_NEAR(mean_wait(others, mixed, service), 0.625, 0.00625);
}

TEST(Agent, JobsWaitForWholeServers) {
  TaskGraphBuilder builder(2);
  const auto program = builder.add_program();
  builder.add_delay(program, ms(10));
  for (std::size_t r = 0; r < 2; ++r) builder.assign(RankId{r}, program);
  const auto graph = std::make_shared<const TaskGraph>(std::move(builder).build());
  Arrivals agent({{Time{}, graph, 1}, {Time{ms(1)}, graph, 2}, {Time{ms(2)}, graph, 1}}, whole_servers(2));
  const RunResult result = simulate(idle_job(4, 2), agent);
  EXPECT_EQ(agent.records()[1].began, Time{ms(1)});
  EXPECT_EQ(agent.records()[1].ended, Time{ms(21)});
  EXPECT_EQ(agent.records()[2].began, Time{ms(10)});
  EXPECT_THAT(agent.records()[2].ranks, ElementsAre(RankId{0U}, RankId{1U}));
  EXPECT_EQ(result.makespan, ms(21));
}

// ---- mistakes

std::string problem_of(const LambdaAgent::On& on, Scenario scenario = idle_job(2)) {
  LambdaAgent agent(on);
  agent.done = false;
  agent.waits_for = {"request 7 waits for a slot"};
  try {
    static_cast<void>(simulate(scenario, agent));
  } catch (const DeadlockError& error) {
    std::string text = "stuck";
    for (const std::string& line : error.stuck()) text += "\n" + line;
    return text;
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Agent, MistakesAreSaidInASentence) {
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { static_cast<void>(sink.compute(std::vector{RankId{2U}}, us(1))); }),
              HasSubstr("launches something on rank 2, which its job does not have (it has 2 ranks)"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { static_cast<void>(sink.send(RankId{1U}, RankId{1U}, Bytes{1})); }),
              HasSubstr("twice on rank 1"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { static_cast<void>(sink.compute({}, us(1))); }),
              HasSubstr("on no rank"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { static_cast<void>(sink.launch({})); }), HasSubstr("without a graph"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) {
                static_cast<void>(sink.compute(kRank0, us(1), {2, 0}));
              }),
              HasSubstr("of kind 2, and names 2 kinds"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) {
                sink.wake_at(Time{us(3)});
                if (sink.now() > Time{}) sink.wake_at(Time{us(1)});
              }),
              HasSubstr("sets a timer for"));
  EXPECT_THAT(problem_of([](auto&, WorkSink&) { throw std::runtime_error("no such request"); }),
              HasSubstr("its agent failed at 0.000000 s: no such request"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { sink.enter(LaunchId{3U}, RankId{0U}); }),
              HasSubstr("rank 0 enters launch 3, which is not open or not on that rank"));
}

TEST(Agent, ARunThatStopsNamesTheLaunchAndWhatTheAgentWaitsFor) {
  const std::string text = problem_of([](const WorkEvent& event, WorkSink& sink) {
    if (event.kind != WorkKind::kBegin) return;
    TaskGraphBuilder builder(2);
    const auto program = builder.add_program();
    const auto both = builder.add_communicator("both", {RankId{0U}, RankId{1U}}, Dimension::kDp);
    builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{50'000'000}, "sum");
    for (std::size_t r = 0; r < 2; ++r) builder.assign(RankId{r}, program, {both});
    const LaunchId id =
        sink.open({std::make_shared<const TaskGraph>(std::move(builder).build()), {RankId{0U}, RankId{1U}}}, {1, 0});
    sink.enter(id, RankId{1U});
  });
  EXPECT_THAT(text, HasSubstr("rank 1, launch 0, task 0 'sum'"));
  EXPECT_THAT(text, HasSubstr("waits for rank 0 to reach it"));
  EXPECT_THAT(text, HasSubstr("launch 0 (b) of 0.000000 s: 1 rank of 2 in it; never entered by rank 0"));
  EXPECT_THAT(text, HasSubstr("request 7 waits for a slot"));
  EXPECT_THAT(problem_of([](auto&, auto&) {}), HasSubstr("launched nothing more, and is not finished"));
}

TEST(Agent, ARunThatDoesNotEndStopsAtItsHorizon) {
  Scenario scenario = idle_job(2);
  scenario.run.horizon = Time{ms(2)};
  const auto again = [](auto&, WorkSink& sink) { static_cast<void>(sink.compute(kRank0, us(10))); };
  EXPECT_THAT(problem_of(again, scenario), HasSubstr("has not ended at its horizon of 0.002"));
  EXPECT_THAT(problem_of([](auto&, WorkSink& sink) { static_cast<void>(sink.compute(kRank0, Duration{})); }),
              HasSubstr("time does not pass"));
}

TEST(Agent, WhatNeedsAKnownFutureIsRefused) {
  const auto idle = [](const WorkEvent&, WorkSink&) {};
  Job job(2);
  job.optical(ms(1), "opus").build();
  Scenario scenario = job.scenario;
  scenario.graph = idle_graph(2);
  scenario.controller.parameters.set("mode", "provisioned");
  EXPECT_THAT(problem_of(idle, scenario), HasSubstr("opus announces what comes next of a known schedule"));
  scenario.controller = {};
  scenario.controller.name = "coalesce";
  EXPECT_THAT(problem_of(idle, scenario), HasSubstr("the workload decides while the run goes on"));
  scenario.controller.name = "lru";
  scenario.run.critical_path = true;
  EXPECT_THAT(problem_of(idle, scenario), HasSubstr("tasks that are known before the run"));
}

// ---- laws

TEST(Agent, RandomLaunchesKeepTheLaws) {
  for (std::uint64_t seed = 0; seed < test_cases(60); ++seed) {
    const Drawing drawn(seed, {.rail = seed % 2 == 0 ? RailKind::kElectrical : RailKind::kOptical});
    Scenario scenario = without_schedule(drawn.scenario);
    if (scenario.cluster.rail.kind == RailKind::kOptical && seed % 3 != 0) {
      scenario.controller = {};
      scenario.controller.name = seed % 3 == 1 ? "lru" : "max_weight";
    }
    EXPECT_EQ(testing::agent_problem(*testing::random_workload(seed, 40), scenario), "") << "seed " << seed;
  }
}

TEST(AgentKit, AnAgentNeedsNoCluster) {
  LambdaAgent agent([](const WorkEvent& event, WorkSink& sink) {
    if (event.kind == WorkKind::kBegin) sink.wake_at(Time{ms(1)}, 5);
    if (event.kind == WorkKind::kTimer) static_cast<void>(sink.compute(kRank0, ms(2), {0, event.token}));
  });
  testing::AgentKit kit(agent, 1);
  kit.begin();
  EXPECT_TRUE(kit.wake());
  ASSERT_EQ(kit.open().size(), 1u);
  EXPECT_EQ(kit.open().front().time, ms(2));
  kit.end(LaunchId{0U}, Time{ms(4)});
  EXPECT_EQ(agent.events.back().kind, WorkKind::kLaunchDone);
  EXPECT_EQ(agent.events.back().launched, Time{ms(1)});
  EXPECT_FALSE(kit.wake());
}

TEST(AgentKit, RunsAQueueAsTheClusterDoes) {
  const auto jobs = [] {
    TaskGraphBuilder builder(1);
    const auto program = builder.add_program();
    builder.add_delay(program, ms(10));
    builder.assign(RankId{0U}, program);
    const auto graph = std::make_shared<const TaskGraph>(std::move(builder).build());
    return std::vector<ArrivingJob>{{Time{}, graph, 1}, {Time{ms(1)}, graph, 3}, {Time{ms(2)}, graph, 1}};
  };
  Arrivals alone(jobs());
  testing::AgentKit kit(alone, 2);
  const Time end = kit.run([](const testing::AgentCall&) { return ms(10); });
  Arrivals beside(jobs());
  EXPECT_EQ(simulate(idle_job(2), beside).makespan, end.since_start());
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(alone.records()[j].ended, beside.records()[j].ended);
}

}  // namespace
}  // namespace photonrail::test
