// "workload/agent" of a scenario: agents by name run from a file, and what wrong files say.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "run/expected_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// An all-reduce of 200 MB among two at 50 GB/s is two steps of 100 MB: 4 ms.
constexpr const char* kStepOfAgent = R"("collective": {"op": "all_reduce", "bytes": 200000000, "ranks": 2})";

std::string agent_scenario(const std::string& workload, const std::string& run = "{}") {
  return R"({"schema": "photonrail.scenario/1", "name": "agents",
             "cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"ports": 1, "port_gb_per_s": 50},
                         "rail": {"kind": "electrical"}},
             "run": )" +
         run + R"(, "workload": {)" + workload + "}}";
}

RunResult run_agent(const std::string& workload, const std::string& run = "{}") {
  return simulate(parse_scenario(agent_scenario(workload, run), "."));
}

std::string refused_agent(const std::string& workload, const std::string& run = "{}") {
  try {
    static_cast<void>(run_agent(workload, run));
  } catch (const Error& error) {
    return file_words(error);
  }
  return "accepted";
}

TEST(AgentKeys, RepeatIsTheJobWithoutAnAgent) {
  const RunResult agent = run_agent(std::string(R"("agent": {"name": "repeat", "steps": 3}, )") + kStepOfAgent);
  const RunResult job = run_agent(kStepOfAgent, R"({"iterations": 3})");
  EXPECT_EQ(agent.makespan, 12ms);
  EXPECT_EQ(agent.makespan, job.makespan);
  EXPECT_EQ(agent.engine.events, job.engine.events);
  EXPECT_EQ(agent.ranks.size(), 2U);
}

// Four GPUs take two jobs at once. Those of 0, 1 and 2 ms find two places: the third waits until 4 ms. The last ends at 14.
TEST(AgentKeys, JobsArriveAtTheTimesOfTheList) {
  const RunResult result =
      run_agent(std::string(R"("agent": {"name": "arrivals", "at_s": [0, 0.001, 0.002, 0.010]}, )") + kStepOfAgent);
  EXPECT_EQ(result.ranks.size(), 4U);
  EXPECT_EQ(result.makespan, 14ms);
  ASSERT_EQ(result.launches.size(), 1U);
  EXPECT_EQ(result.launches[0].count, 4U);
  EXPECT_EQ(result.launches[0].time, 16ms);
}

TEST(AgentKeys, JobsArriveAtARate) {
  const std::string drawn =
      std::string(R"("agent": {"name": "arrivals", "jobs": 200, "per_s": 100, "steps": 2}, )") + kStepOfAgent;
  const RunResult result = run_agent(drawn);
  EXPECT_EQ(result.launches[0].count, 400U);
  EXPECT_NEAR(to_seconds(result.makespan), 2.0, 0.5);  // the 200th of a Poisson process: 2 s, and 0.14 of deviation
  EXPECT_EQ(result.makespan, run_agent(drawn).makespan);
  EXPECT_NE(result.makespan, run_agent(drawn, R"({"seed": 2})").makespan);
}

// 4,000 launches of two tasks: some milliseconds. Ten million jobs of a thousand steps: hours.
TEST(AgentKeys, TheWorkIsKnownBefore) {
  const auto seconds_of = [](const std::string& jobs, const std::string& steps) {
    const std::string agent =
        R"("agent": {"name": "arrivals", "per_s": 100, "jobs": )" + jobs + R"(, "steps": )" + steps + "}, ";
    return run::expected_work(parse_scenario(agent_scenario(agent + kStepOfAgent), "."), Registries{}).seconds();
  };
  EXPECT_LT(seconds_of("400", "10"), 0.1);
  EXPECT_GT(seconds_of("10000000", "1000"), 5'000.0);
}

TEST(AgentKeys, AJobOfSeveralMayHaveAnAgent) {
  const std::string text = R"({"schema": "photonrail.scenario/1", "name": "two",
      "cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"ports": 1, "port_gb_per_s": 50}, "rail": {"kind": "electrical"}},
      "jobs": [{"servers": [0, 1], "workload": {)" +
                           std::string(kStepOfAgent) + R"(}},
               {"servers": [2, 3], "start_s": 0.001, "workload": {"agent": {"name": "arrivals", "at_s": [0, 0.001]}, )" +
                           kStepOfAgent + "}}]}";
  const RunResult result = simulate(parse_scenario(text, "."));
  ASSERT_EQ(result.jobs.size(), 2U);
  EXPECT_EQ(result.makespan, 9ms);  // begins at 1, runs one job after the other
}

/// On every rank a computation of the key's length, once.
class Once : public WorkloadAgent {
 public:
  explicit Once(Duration time) : time_(time) {}
  void on(const WorkEvent& event, WorkSink& sink) override {
    if (event.kind != WorkEvent::Kind::kBegin) return;
    std::vector<RankId> ranks;
    for (std::size_t r = 0; r < sink.ranks(); ++r) ranks.emplace_back(r);
    static_cast<void>(sink.compute(ranks, time_));
  }
  [[nodiscard]] bool finished() const override { return true; }

 private:
  Duration time_;
};

TEST(AgentKeys, AnAgentOfTheCallerHasItsOwnKeys) {
  Registries known;
  AgentFactory factory{"once", "computes once", {}};
  factory.parameters = {ControllerParameter::duration("time", 1ms, "Of the computation.")};
  factory.make = [](const AgentSpec& spec, std::size_t, std::uint64_t) {
    return std::make_unique<Once>(spec.parameters.duration("time"));
  };
  known.agents.add(factory);
  const auto run = [&](const std::string& keys) {
    const std::string text = agent_scenario(R"("agent": {"name": "once")" + keys + "}");
    return simulate(parse_scenario(text, ".", "s.json", {}, known), {}, known);
  };
  EXPECT_EQ(run("").makespan, 1ms);
  EXPECT_EQ(run("").ranks.size(), 4U);
  EXPECT_EQ(run(R"(, "time_us": 5, "ranks": 3)").makespan, 5us);
  EXPECT_EQ(run(R"(, "ranks": 3)").ranks.size(), 3U);
  EXPECT_THROW(static_cast<void>(run(R"(, "time": 5)")), ConfigError);
}

class Announcing : public Once {
 public:
  using Once::Once;
  [[nodiscard]] bool announces() const override { return true; }
};

// A policy that provisions is refused beside an agent that announces nothing.
TEST(AgentKeys, ANamedAgentThatAnnouncesIsKnownToDoSo) {
  Registries known;
  known.agents.add({"quiet", "computes once", [](auto&&...) { return std::make_unique<Once>(1ms); }});
  known.agents.add({"loud", "and announces", [](auto&&...) { return std::make_unique<Announcing>(1ms); }});
  for (const std::string name : {"quiet", "loud"}) {
    const std::string text = agent_scenario(R"("agent": {"name": ")" + name + "\"}");
    const Scenario scenario = parse_scenario(text, ".", "s.json", {}, known);
    EXPECT_EQ(scenario.workload->make(scenario, 1)->announces(), name == "loud");
  }
}

TEST(AgentKeys, SaysWhatIsWrong) {
  const std::string step = std::string(", ") + kStepOfAgent;
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeet"})" + step),
              HasSubstr("/workload/agent/name: unknown agent \"repeet\" (did"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat"})"), HasSubstr("launches a step, and none is given"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "ranks": 3})" + step),
              HasSubstr("the step has 2 ranks and the job 3"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "ranks": 5})" + step),
              HasSubstr("5 ranks do not fit the cluster"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "steps": 0})" + step),
              HasSubstr("/workload/agent/steps: must be"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "jobs": 2})" + step), HasSubstr("/workload/agent"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "at_s": [1]})" + step), HasSubstr("has no use for times"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat"})" + step, R"({"iterations": 2})"),
              HasSubstr("/run/iterations: has no effect: the agent says how often"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat", "most_events": 2})" + step),
              HasSubstr("/workload/agent/most_events: has no effect: the agent says before the run"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals"})" + step), HasSubstr("says no arrivals"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals", "at_s": [1], "jobs": 3})" + step),
              HasSubstr("keep one of them"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals", "at_s": [1, 0]})" + step), HasSubstr("must ascend"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals", "at_s": [-1]})" + step), HasSubstr("/workload/agent/at_s/0"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals", "at_s": [1], "ranks": 1})" + step),
              HasSubstr("a job has 2 ranks"));
  EXPECT_THAT(refused_agent(R"("agent": {})" + step), HasSubstr("/workload/agent"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat"}, "serving": {})"), HasSubstr("has an agent of its own"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "repeat"}, "checkpoint": {})" + step), HasSubstr("/workload/checkpoint"));
  EXPECT_THAT(refused_agent(R"("agent": {"name": "arrivals", "at_s": [0, 1], "most_events": 2})" + step),
              HasSubstr("was told of 2 events by 0"));
}

}  // namespace
}  // namespace photonrail::test
