// The parts that carry out the launches of an agent, each built alone.
#include "execution/launches.hpp"
#include "execution/announcements.hpp"
#include "execution/part_fixture.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace photonrail::execution {
namespace {

using test::PartFixture;
using test::us;
using ::testing::ElementsAre;

const std::vector<GpuId> kFourGpus{GpuId{7U}, GpuId{5U}, GpuId{3U}, GpuId{1U}};

void fill(LaunchTable& table, Launch& launch, std::uint32_t first_rank) {
  for (std::size_t part = 0; part < launch.parts.size(); ++part) launch.parts[part].rank = RankId{first_rank + part};
  table.list(launch);
}

TEST(LaunchTable, NumbersOfOlderLaunchesAreLower) {
  LaunchTable table(kFourGpus);
  Launch& first = table.open(2, 3);
  fill(table, first, 0);
  Launch& second = table.open(2, 5);
  fill(table, second, 1);
  EXPECT_EQ(first.first, TaskId{0U});
  EXPECT_EQ(second.first, TaskId{3U});
  EXPECT_EQ(table.place(RankId{1U}, TaskId{2U}).launch, &first);
  EXPECT_EQ(table.place(RankId{1U}, TaskId{2U}).part, 1u);
  EXPECT_EQ(table.place(RankId{1U}, TaskId{7U}).launch, &second);
  EXPECT_EQ(table.place(RankId{2U}, LaunchId{0U}).launch, nullptr) << "not on that rank";
  table.close(first);
  EXPECT_EQ(table.place(RankId{1U}, LaunchId{0U}).launch, nullptr);
  EXPECT_EQ(table.open_launches(), 1u);
  table.close(second);
  Launch& third = table.open(1, 1);
  EXPECT_EQ(third.first, TaskId{0U}) << "numbers begin again when no launch is open";
  EXPECT_EQ(third.id, LaunchId{2U});
}

// A rank that is in a launch asks for what it announces when its operation there is over, another one at once.
TEST(Announcements, AskBehindTheLastMessage) {
  test::Job job(2);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1'000'000);
  PartFixture part{std::move(job)};
  LaunchTable table(part.job_.scenario.gpu_of_rank);
  const TaskGraph idle = idle_graph(2);
  const auto placement = folding::MemberPlacement::of(idle, part.job_.scenario.gpu_of_rank);
  OperationTable operations(idle, placement, part.fabric, part.plans, nullptr, &table);
  const RunContext context{part.engine,     part.fabric, operations,    part.accounting,
                           part.stragglers, part.gpus,   part.observers};
  LaunchedGraphs graphs(table, context);
  test::FakeCircuits circuits;
  const RankBehaviour behaviour{.announces = {true, true}};
  Announcements announcements(table, operations, {&circuits, &behaviour});
  const Fragment fragment{std::make_shared<const TaskGraph>(part.graph()), {RankId{0U}, RankId{1U}}};
  const auto open = [&]() -> Launch& {
    Launch& launch = table.open(2, 1);
    launch.graph = &graphs.of(fragment);
    fill(table, launch, 0);
    return launch;
  };
  Launch& busy = open();
  Launch& next = open();
  announcements.entered(busy, 0);
  announcements.announce(next, 0);
  announcements.announce(next, 1);
  EXPECT_TRUE(announcements.take_asked().empty()) << "rank 0 has an operation to end";
  announcements.completed(busy, 0, TaskId{0U});
  EXPECT_THAT(announcements.take_asked(), ElementsAre(&next));
  EXPECT_TRUE(announcements.take_asked().empty()) << "once";
}

TEST(LaunchedGroups, EqualGroupsAreOne) {
  LaunchedGroups groups(kFourGpus);
  const std::vector<RankId> members{RankId{0U}, RankId{2U}};
  const LaunchedGroups::Found first = groups.find_or_add({.members = members, .dimension = Dimension::kTp});
  EXPECT_TRUE(first.is_new);
  EXPECT_FALSE(groups.find_or_add({.members = members, .dimension = Dimension::kTp}).is_new);
  EXPECT_TRUE(groups.find_or_add({.members = members, .dimension = Dimension::kDp}).is_new);
  EXPECT_TRUE(groups.find_or_add({.name = "tp", .members = members, .dimension = Dimension::kTp}).is_new);
  EXPECT_TRUE(groups.find_or_add({.members = members, .dimension = Dimension::kTp, .point_to_point = true}).is_new);
  EXPECT_TRUE(groups.find_or_add({.members = members, .dimension = Dimension::kTp, .ordinal = 1}).is_new);
  EXPECT_THAT(std::vector<GpuId>(groups.gpus(first.id).begin(), groups.gpus(first.id).end()),
              ElementsAre(GpuId{7U}, GpuId{3U}));
  EXPECT_EQ(groups[first.id].name, "tp.0-2");
}

TEST(IdleTimes, ARankWithALaunchIsNotIdle) {
  IdleTimes idle(2);
  idle.work_began(RankId{0U}, us(2));
  idle.work_began(RankId{0U}, us(3));
  idle.work_ended(RankId{0U}, us(4));
  idle.work_ended(RankId{0U}, us(6));
  std::vector<RankTime> times(2);
  times[0].peer_wait = us(10);
  times[1].peer_wait = us(10);
  idle.divide(times);
  EXPECT_EQ(times[0].idle, us(6));  // 2 before, 4 after
  EXPECT_EQ(times[0].peer_wait, us(4));
  EXPECT_EQ(times[1].idle, us(10));
}

struct TimerTarget {
  void due(std::uint64_t) {
    while (const auto timer = timers->take()) told.push_back(timer->token);
    if (again) timers->add(engine->now(), 9, 0);
    again = false;
  }
  engine::Engine* engine = nullptr;
  LaunchTimers* timers = nullptr;
  std::vector<std::uint64_t> told;
  bool again = true;
};

TEST(LaunchTimers, AreToldByTimeAndThenInTheOrderInWhichTheyWereSet) {
  engine::Engine engine;
  TimerTarget target;
  LaunchTimers timers(engine, engine::Action::to<&TimerTarget::due>(target));
  target.engine = &engine;
  target.timers = &timers;
  timers.add(Time{us(5)}, 1, 0);
  timers.add(Time{us(2)}, 2, 0);
  timers.add(Time{us(5)}, 3, 0);
  EXPECT_EQ(engine.pending(), 1u) << "the next alone is an event";
  engine.run();
  EXPECT_THAT(target.told, ElementsAre(2, 9, 1, 3));
  EXPECT_EQ(engine.now(), Time{us(5)});
  timers.add(Time{us(8)}, 4, 0);
  timers.cancel();
  engine.run();
  EXPECT_EQ(target.told.size(), 4u);
}

/// Launches one computation on each rank at the beginning, and ends with them.
struct TwoComputations : WorkloadAgent {
  void on(const WorkEvent& event, WorkSink& sink) override {
    events.push_back(event.kind);
    if (event.kind != WorkEvent::Kind::kBegin) return;
    for (std::uint32_t r = 0; r < 2; ++r) static_cast<void>(sink.compute(std::vector{RankId{r}}, us(1)));
  }
  [[nodiscard]] bool finished() const override { return events.size() == 3; }
  std::vector<WorkEvent::Kind> events;
};

struct LaunchedTasks : ProgramListener {
  void iteration_began(RankId, std::uint32_t, double) override {}
  void all_ranks_finished() override { ++finished; }
  void task_ready(RankId rank, TaskId task, CriticalPathTag) override { ready.emplace_back(rank, task); }
  std::vector<std::pair<RankId, TaskId>> ready;
  int finished = 0;
};

/// The launches of that agent, on the ranks of a small job.
struct LaunchFixture {
  [[nodiscard]] RunContext context_with_launches() {
    RunContext with = part.context();
    with.launches = &table;
    return with;
  }

  PartFixture part;
  LaunchTable table{part.job_.scenario.gpu_of_rank};
  RunContext context = context_with_launches();
  TwoComputations agent;
  LaunchedTasks listener;
  Launches launches{agent, table, context, listener, std::nullopt};
};

TEST(Launches, TasksAreReadyAtTheCallAndTheAgentIsToldOfTheirEnds) {
  LaunchFixture run;
  Launches& launches = run.launches;
  launches.begin();
  ASSERT_EQ(run.listener.ready.size(), 2u);
  EXPECT_EQ(run.listener.ready[1], std::pair(RankId{1U}, TaskId{1U}));
  launches.complete(RankId{1U}, TaskId{1U}, {});
  EXPECT_TRUE(launches.end().empty());
  EXPECT_THAT(launches.waiting(), ElementsAre("launch 0 (launch) of 0.000000 s: 1 rank of 1 in it"));
  launches.complete(RankId{0U}, TaskId{0U}, {});
  EXPECT_EQ(launches.end().size(), 1u);
  EXPECT_EQ(run.listener.finished, 1);
  EXPECT_EQ(run.table.totals()[0].count, 2u);
}

TEST(LaunchedGraphs, RefuseRanksThatTheJobDoesNotHave) {
  PartFixture part;
  LaunchTable table(part.job_.scenario.gpu_of_rank);
  const RunContext context = part.context();
  LaunchedGraphs graphs(table, context);
  graphs.check_ranks(std::vector{RankId{1U}, RankId{0U}});
  EXPECT_THROW(graphs.check_ranks(std::vector{RankId{0U}, RankId{0U}}), ConfigError);
  EXPECT_THROW(graphs.check_ranks(std::vector{RankId{2U}}), ConfigError);
  EXPECT_THROW(static_cast<void>(graphs.of({std::make_shared<const TaskGraph>(idle_graph(2)), {RankId{0U}}})), ConfigError);
}

TEST(AgentVoice, TellsOneEventAfterAnother) {
  LaunchFixture run;
  struct Nested : WorkloadAgent {
    void on(const WorkEvent& event, WorkSink&) override {
      told.push_back(event.token);
      if (event.token == 1) voice->add({.token = 3}, {});
      voice->tell_all();  // does nothing: it speaks
      if (event.token == 3) throw std::runtime_error("three");
    }
    [[nodiscard]] bool finished() const override { return false; }
    AgentVoice* voice = nullptr;
    std::vector<std::uint64_t> told;
  } nested;
  AgentVoice voice(nested, run.launches);
  nested.voice = &voice;
  voice.add({.token = 1}, {});
  voice.add({.token = 2}, {});
  EXPECT_THROW(voice.tell_all(), ConfigError);
  EXPECT_THAT(nested.told, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace photonrail::execution
