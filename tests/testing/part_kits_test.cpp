// The kits of agents and schedulers: what is right passes, and each law finds what breaks it. Factories that are wrong.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "photonrail/workload/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class LambdaScheduler : public SchedulingPolicy {
 public:
  using Decide = std::function<StepDecision(const EngineView&)>;
  explicit LambdaScheduler(Decide decide) : decide_(std::move(decide)) {}
  [[nodiscard]] std::string name() const override { return "lambda"; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override { return decide_(view); }

 private:
  Decide decide_;
};

std::string scheduler_law(LambdaScheduler::Decide decide) {
  return testing::scheduler_problem(LambdaScheduler(std::move(decide)));
}

// The first request alone, once KV that was sent here for others leaves it blocks.
StepDecision first_alone(const EngineView& view) {
  const std::uint32_t most = view.longest_prefill > 0 ? view.longest_prefill : view.token_budget;
  const auto some = [&](const RequestView& request) { return StepDecision::Share{0, std::min(request.wanted(), most)}; };
  if (!view.running.empty()) return {{}, {some(view.running[0])}, {}};
  const StepDecision::Share share = some(view.waiting[0]);
  if (view.more_blocks(view.waiting[0], view.waiting[0].computed + share.tokens) > view.free_blocks) return {};
  return {{}, {}, {share}};
}

TEST(SchedulerKit, WhatIsRightKeepsEveryLaw) {
  EXPECT_EQ(testing::scheduler_problem(*SchedulerRegistry::builtin().make("shortest_first"), 200), "");
  EXPECT_EQ(scheduler_law(first_alone), "");
}

TEST(SchedulerKit, EachLawFindsWhatBreaksIt) {
  EXPECT_THAT(scheduler_law([](const EngineView&) { return StepDecision{}; }), HasSubstr("nothing runs"));
  EXPECT_THAT(scheduler_law([](const EngineView&) {
                return StepDecision{{}, {}, {{0, 100'000}}};
              }),
              HasSubstr("case 0: the scheduler lambda gives waiting request 0"));
  EXPECT_THAT(scheduler_law([](const EngineView&) -> StepDecision { throw std::runtime_error("no idea"); }),
              HasSubstr("case 0: no idea"));
  int asked = 0;
  EXPECT_THAT(scheduler_law([&](const EngineView& view) { return ++asked % 2 == 0 ? StepDecision{} : first_alone(view); }),
              HasSubstr("decides otherwise"));
}

SchedulerRegistry with_lambda(LambdaScheduler::Decide decide) {
  SchedulerRegistry known = SchedulerRegistry::builtin();
  known.add({"lambda", "the test's", [decide] { return std::make_shared<LambdaScheduler>(decide); }});
  return known;
}

TEST(SchedulerKit, WhatIsRightKeepsEveryLawOfServedRequests) {
  EXPECT_EQ(testing::fuzz_scheduler(with_lambda(first_alone), "lambda", 200).problem, "");
  EXPECT_EQ(testing::fuzz_scheduler(SchedulerRegistry::builtin(), "shortest_first", 200).problem, "");
  // A request fills the block whose loss had hidden free ones of the next: that one then finds more than it was shown with.
  EXPECT_EQ(testing::fuzz_scheduler(SchedulerRegistry::builtin(), "shortest_first", 1, 7867).problem, "");
}

// It forgets the budget where a request is admitted beside others: two requests and one engine are enough to show it.
TEST(SchedulerKit, WhatBreaksALawOfServedRequestsIsMadeSmallAndRepeated) {
  const SchedulerRegistry known = with_lambda([](const EngineView& view) {
    StepDecision step = first_alone(view);
    if (view.running.empty() && view.waiting.size() > 1) step.admit.push_back({1, view.waiting[1].wanted()});
    return step;
  });
  const testing::SchedulerFinding found = testing::fuzz_scheduler(known, "lambda", 300);
  EXPECT_THAT(found.problem, HasSubstr("the scheduler lambda "));
  Registries names;
  names.schedulers = known;
  const Scenario scenario = parse_scenario(found.scenario, ".", "found", {}, names);
  try {
    static_cast<void>(simulate(scenario, {}, names));
    ADD_FAILURE() << found.scenario;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the scheduler lambda "));
  }
  EXPECT_THAT(found.scenario, HasSubstr(R"("servers": 1,)"));
  EXPECT_THAT(found.scenario, ::testing::Not(HasSubstr(R"("count": 40)")));
}

TEST(SchedulerKit, AViewIsWrittenInVerbs) {
  testing::QueueView queue;
  queue.running({.prompt = 100, .generated = 3, .output = 10, .computed = 102, .blocks = 7}).waiting({.prompt = 50});
  queue.waiting({.prompt = 20});
  const auto policy = SchedulerRegistry::builtin().make("shortest_first");
  const StepDecision step = policy->decide(queue.view());
  ASSERT_EQ(step.run.size(), 1U);
  EXPECT_EQ(step.run[0].tokens, 1U);
  ASSERT_EQ(step.admit.size(), 2U);
  EXPECT_EQ(step.admit[0].request, 1U);  // the shorter prompt
  EXPECT_EQ(step.admit[1].tokens, 50U);
}

// The first request lacks a block, and none is free. The last holds two, of which one is shared: preempting it frees the
// other. Where it shares both, the one before it goes too.
TEST(SchedulerKit, APreemptionFreesWhatIsNotShared) {
  const auto policy = SchedulerRegistry::builtin().make("shortest_first");
  const auto preempted = [&](std::uint32_t shared) {
    testing::QueueView queue;
    queue.running({.prompt = 16, .generated = 1, .computed = 16, .blocks = 1});
    queue.running({.prompt = 20, .generated = 1, .computed = 20, .blocks = 2, .shared = 1});
    queue.running({.prompt = 20, .generated = 1, .computed = 20, .blocks = 2, .shared = shared});
    EngineView engine;
    engine.total_blocks = 4;
    return policy->decide(queue.view(engine)).preempt.size();
  };
  EXPECT_EQ(preempted(1), 1U);
  EXPECT_EQ(preempted(2), 2U);
}

// A policy that counts all blocks of what it preempts is refused in some case.
TEST(SchedulerKit, FindsWhoCountsSharedBlocksAsFree) {
  const auto counts_all = [](EngineView view) {
    std::vector<RequestView> running(view.running.begin(), view.running.end());
    for (RequestView& request : running) request.shared = 0;
    view.running = running;
    return SchedulerRegistry::builtin().make("shortest_first")->decide(view);
  };
  EXPECT_THAT(testing::scheduler_problem(LambdaScheduler(counts_all), 200), HasSubstr("blocks that are not free"));
}

/// Does what a function says, once.
class LambdaAgentOnce : public WorkloadAgent {
 public:
  using On = std::function<void(const WorkEvent&, WorkSink&)>;
  explicit LambdaAgentOnce(On on) : on_(std::move(on)) {}
  void on(const WorkEvent& event, WorkSink& sink) override { on_(event, sink); }
  [[nodiscard]] bool finished() const override { return done; }
  bool done = true;

 private:
  On on_;
};

AgentFactory agent_of(LambdaAgentOnce::On on, bool done = true) {
  return {"lambda", "", [on = std::move(on), done](const AgentSpec&, std::size_t, std::uint64_t) {
            auto agent = std::make_unique<LambdaAgentOnce>(on);
            agent->done = done;
            return agent;
          }};
}

const std::string kPolicies[] = {"lru", "max_weight", "opus"};

std::string fuzzed(const AgentFactory& factory) {
  return testing::fuzz_agent(*named_workload(factory, {}), 8, 40, 1, kPolicies);
}

TEST(AgentFuzzer, RandomAgentsKeepTheLawsOnEveryCluster) {
  EXPECT_EQ(testing::fuzz_agent(*testing::random_workload(3, 30), 8, 60, 1, kPolicies), "");
}

TEST(AgentFuzzer, FindsWhatIsWrong) {
  const auto rank = [](std::uint32_t number) {
    return [number](const WorkEvent& event, WorkSink& sink) {
      if (event.kind == WorkEvent::Kind::kBegin)
        static_cast<void>(sink.compute(std::vector{RankId{number}}, Duration{1000}));
    };
  };
  EXPECT_EQ(fuzzed(agent_of(rank(7))), "");
  EXPECT_THAT(fuzzed(agent_of(rank(8))), HasSubstr("launches something on rank 8, which its job does not have"));
  int made = 0;  // an agent that depends on what was before it
  AgentFactory drifting = agent_of({});
  drifting.make = [&made](const AgentSpec&, std::size_t, std::uint64_t) {
    return std::make_unique<LambdaAgentOnce>([n = ++made](const WorkEvent& event, WorkSink& sink) {
      if (event.kind == WorkEvent::Kind::kBegin)
        static_cast<void>(sink.compute(std::vector{RankId{0U}}, Duration{1000 * n}));
    });
  };
  EXPECT_THAT(fuzzed(drifting), HasSubstr("another history"));
}

std::string run_problem(const AgentFactory& factory, std::uint64_t most_events = 100) {
  testing::TinyJob job(2);
  job.build();
  job.scenario.graph = idle_graph(2);
  try {
    AgentSpec spec;
    spec.most_events = most_events;
    job.scenario.workload = named_workload(factory, spec);
    static_cast<void>(simulate(job.scenario));
  } catch (const DeadlockError& error) {
    return std::string("3: ") + error.what();
  } catch (const ConfigError& error) {
    return std::string("2: ") + error.what();
  }
  return "ran";
}

TEST(NamedWorkload, WhatIsWrongNamesTheAgent) {
  EXPECT_THAT(run_problem({"none", "", [](auto&&...) { return std::unique_ptr<WorkloadAgent>{}; }}),
              HasSubstr("2: the agent none: AgentFactory::make returned no agent"));
  EXPECT_THAT(run_problem({"broken", "", [](auto&&...) -> std::unique_ptr<WorkloadAgent> { throw 7; }}),
              HasSubstr("2: the agent broken: AgentFactory::make threw something that is no std::exception"));
  EXPECT_THAT(run_problem(agent_of([](auto&, auto&) { throw std::runtime_error("no such step"); })),
              HasSubstr("2: the agent lambda: on() failed: no such step"));
  EXPECT_THAT(run_problem(agent_of([](auto&, auto&) { throw 7; })), HasSubstr("2: the agent lambda: on() threw something"));
  EXPECT_THAT(run_problem(agent_of([](auto&, auto&) {}, false)), HasSubstr("3: "));
  const auto again = [](const WorkEvent& event, WorkSink& sink) { sink.wake_at(event.now + Duration{1000}); };
  EXPECT_THAT(run_problem(agent_of(again, false)), HasSubstr("the agent lambda was told of 100 events by 0.000000 s"));
}

TEST(AgentRegistry, NamesAreThereOnce) {
  AgentRegistry agents = AgentRegistry::builtin();
  EXPECT_THROW(agents.add(agents.find("repeat")), ConfigError);
  EXPECT_THROW(agents.add({"", "", [](auto&&...) { return nullptr; }}), ConfigError);
  EXPECT_THROW(agents.add({"mine", "", {}}), ConfigError);
  SchedulerRegistry schedulers = SchedulerRegistry::builtin();
  EXPECT_THROW(schedulers.add({"mine", "", {}}), ConfigError);
  schedulers.add({"mine", "", [] { return std::shared_ptr<const SchedulingPolicy>{}; }});
  EXPECT_THROW(static_cast<void>(schedulers.make("mine")), ConfigError);
  EXPECT_THROW(static_cast<void>(schedulers.make("yours")), ConfigError);
}

}  // namespace
}  // namespace photonrail::test
