// Many timers, and many launches, of one agent.
#include "run/job.hpp"

#include "photonrail/workload/agent.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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

/// Launches one all-reduce after another, and looks at the memory in use twice.
struct ReductionAfterReduction : WorkloadAgent {
  static constexpr int kLaunches = 6000;
  explicit ReductionAfterReduction(Fragment of) : step(std::move(of)) {}
  void on(const WorkEvent&, WorkSink& sink) override {
    if (launched == kLaunches / 10) early = bytes_in_use();
    if (launched == kLaunches) late = bytes_in_use();
    if (launched == kLaunches) return;
    ++launched;
    static_cast<void>(sink.launch(step));
  }
  [[nodiscard]] bool finished() const override { return launched == kLaunches; }
  [[nodiscard]] static std::size_t bytes_in_use() {
    const auto books = ::mallinfo2();
    return books.uordblks + books.hblkhd;
  }
  Fragment step;
  int launched = 0;
  std::size_t early = 0;
  std::size_t late = 0;
};

// Nine in ten of the launches add nothing to what is in use: a list of them with 8 bytes for each would be 43 kB.
TEST(AgentLoad, MemoryOfLaunchesIsFlat) {
  for (const char* const policy : {"", "lru", "max_weight", "mixnet", "opus"}) {
    Job job(8);
    const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
    job.collective(job.group(all), all, CollectiveOp::kAllReduce, kMegabyte);
    if (*policy != '\0') job.optical(us(1), policy);
    if (std::string(policy) == "opus") job.scenario.controller.parameters.set("mode", "on_demand").set("order", "free");
    job.build();
    Fragment step{std::make_shared<const TaskGraph>(job.scenario.graph), {}};
    for (const std::size_t rank : all) step.ranks.emplace_back(rank);
    Scenario scenario = job.scenario;
    scenario.graph = idle_graph(8);
    scenario.run.fidelity = Fidelity::kStream;
    ReductionAfterReduction agent(std::move(step));
    const RunResult result = simulate(scenario, agent);
    EXPECT_EQ(result.launches[0].count, static_cast<std::uint64_t>(ReductionAfterReduction::kLaunches)) << policy;
    EXPECT_LT(agent.late, agent.early + 20'000) << policy;
  }
}

}  // namespace
}  // namespace photonrail::test
