// Many timers, and many launches, of one agent.
#include "run/job.hpp"

#include "photonrail/workload/agent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

Scenario one_idle_rank() {
  Job job(1);
  job.build();
  job.scenario.graph = idle_graph(1);
  return job.scenario;
}

/// Sets a timer for every picosecond. 7,919 is prime, so that each has one, and they are set in another order.
struct TimerForEachInstant : WorkloadAgent {
  static constexpr std::uint64_t kTimers = 100'000;
  void on(const WorkEvent& event, WorkSink& sink) override {
    for (std::uint64_t i = 0; i < kTimers && event.kind == WorkEvent::Kind::kBegin; ++i) {
      const std::uint64_t at = i * 7919 % kTimers;
      sink.wake_at(Time{static_cast<std::int64_t>(at)}, at);
    }
    if (event.kind == WorkEvent::Kind::kBegin) return;
    if (event.token != told || event.now != Time{static_cast<std::int64_t>(told)}) ++out_of_turn;
    ++told;
  }
  [[nodiscard]] bool finished() const override { return told == kTimers; }
  std::uint64_t told = 0;
  std::uint64_t out_of_turn = 0;
};

TEST(AgentLoad, TimersAreToldInTurn) {
  TimerForEachInstant agent;
  static_cast<void>(simulate(one_idle_rank(), agent));
  EXPECT_EQ(agent.told, TimerForEachInstant::kTimers);
  EXPECT_EQ(agent.out_of_turn, 0u);
}

/// Makes a graph for each launch, and counts those that are in memory.
struct GraphForEachLaunch : WorkloadAgent {
  static constexpr int kLaunches = 2000;
  void on(const WorkEvent&, WorkSink& sink) override {
    most = std::max(most, alive);
    if (launched == kLaunches) return;
    ++launched;
    TaskGraphBuilder builder(1);
    const auto program = builder.add_program();
    builder.add_delay(program, us(1));
    builder.assign(RankId{0U}, program);
    ++alive;
    const auto give_back = [this](const TaskGraph* graph) {
      --alive;
      delete graph;
    };
    static_cast<void>(sink.launch({{new TaskGraph(std::move(builder).build()), give_back}, {RankId{0U}}}));
  }
  [[nodiscard]] bool finished() const override { return launched == kLaunches; }
  int launched = 0;
  int alive = 0;
  int most = 0;
};

// Some hundred graphs of launches that have ended are kept, as they may be launched again.
TEST(AgentLoad, LaunchesThatEndedGiveTheirGraphsBack) {
  GraphForEachLaunch agent;
  EXPECT_EQ(simulate(one_idle_rank(), agent).makespan, us(GraphForEachLaunch::kLaunches));
  EXPECT_GT(agent.most, 10);
  EXPECT_LT(agent.most, 300);
  EXPECT_EQ(agent.alive, 0);
}

}  // namespace
}  // namespace photonrail::test
