// The parts that follow the ranks' programs, each built alone.
#include "execution/compute_streams.hpp"
#include "execution/critical_path.hpp"
#include "execution/part_fixture.hpp"
#include "execution/rank_progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::execution {
namespace {

using test::PartFixture;
using test::us;
using ::testing::ElementsAre;

TEST(CriticalPath, TheLaterConditionBinds) {
  EXPECT_EQ(later_of({Time{5}, 1}, {Time{3}, 9}).reconfigurations, 1u);
  EXPECT_EQ(later_of({Time{5}, 1}, {Time{5}, 4}).reconfigurations, 4u) << "of equal times the longer history";
}

struct Ready : ProgramListener {
  void iteration_began(RankId rank, std::uint32_t iteration, double) override { began.emplace_back(rank.value, iteration); }
  void all_ranks_finished() override { ++finished; }
  void task_ready(RankId rank, TaskId task, CriticalPathTag cause) override {
    ready.emplace_back(rank.value, task.value);
    last = cause;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> began;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;
  CriticalPathTag last;
  int finished = 0;
};

TEST(RankProgress, ATaskIsReadyWhenItsLastPredecessorIsDone) {
  test::Job job(1);
  job.compute(0, us(1)).compute(0, us(1));
  PartFixture part(std::move(job));
  Ready listener;
  RankProgress progress(part.graph(), 2, part.context(), listener);
  progress.begin();
  EXPECT_THAT(listener.ready, ElementsAre(std::pair{0u, 0u}));
  progress.complete(RankId{0u}, TaskId{0u}, {});
  EXPECT_THAT(listener.ready, ElementsAre(std::pair{0u, 0u}, std::pair{0u, 1u}));
  EXPECT_EQ(progress.unfinished_ranks(), 1u);
  progress.complete(RankId{0u}, TaskId{1u}, {});  // the second iteration begins
  EXPECT_THAT(listener.began, ElementsAre(std::pair{0u, 0u}, std::pair{0u, 1u}));
  progress.complete(RankId{0u}, TaskId{0u}, {});
  progress.complete(RankId{0u}, TaskId{1u}, {Time{}, 3});
  EXPECT_EQ(progress.unfinished_ranks(), 0u);
  EXPECT_EQ(listener.finished, 1);
  EXPECT_EQ(progress.tasks_done(), 4u);
  EXPECT_EQ(progress.last_cause().reconfigurations, 3u);
}

struct Computed : ComputeListener {
  void streams_pending() override { ++pending; }
  void computed(RankId, TaskId task, CriticalPathTag cause) override {
    tasks.push_back(task.value);
    ends.push_back(cause.at.since_start());
  }
  void computed_by_all(const LockstepGroup&, TaskId, CriticalPathTag) override {}
  int pending = 0;
  std::vector<std::uint32_t> tasks;
  std::vector<Duration> ends;
};

TEST(ComputeStreams, RunsTheLowestTaskFirstOneAtATime) {
  test::Job job(1);
  job.compute(0, us(3)).compute(0, us(4)).compute(0, us(5));
  PartFixture part(std::move(job));
  Computed listener;
  ComputeStreams streams(part.graph(), {}, part.context(), listener);
  for (const std::uint32_t task : {2u, 0u}) streams.enqueue(RankId{0u}, {TaskId{task}, {}}, Stream::kGpu);
  EXPECT_EQ(listener.pending, 1) << "one start for both";
  streams.start_ready();
  part.run_all();  // the first ends after 3 us and asks for another start
  EXPECT_EQ(listener.pending, 2);
  streams.start_ready();
  part.run_all();
  EXPECT_THAT(listener.tasks, ElementsAre(0u, 2u));
  EXPECT_THAT(listener.ends, ElementsAre(us(3), us(8)));
}

TEST(ComputeStreams, AStragglersGpuIsSlowAndItsHostIsNot) {
  test::Job job(1);
  job.compute(0, us(4)).compute(0, us(4));
  PartFixture part(std::move(job));
  Computed listener;
  ComputeStreams streams(part.graph(), {}, part.context(), listener);
  streams.begin_iteration(RankId{0u}, 0, 1.5);
  streams.enqueue(RankId{0u}, {TaskId{0u}, {}}, Stream::kGpu);
  streams.enqueue(RankId{0u}, {TaskId{1u}, {}}, Stream::kHost);
  streams.start_ready();
  part.run_all();
  EXPECT_THAT(listener.ends, ElementsAre(us(4), us(6)));  // host 4 us; GPU 4 us x 1.5
}

// An exchange holds a fifth of the multiprocessors from 2 us to 7 us of a computation of 8 us: until then 2 us are done, in
// the 5 us 4 more, and the last 2 us take 2: it ends at 9. One of the pipeline holds none.
TEST(ComputeStreams, ExchangesTakeMultiprocessorsFromComputations) {
  test::Job job(1);
  job.compute(0, us(8));
  PartFixture part(std::move(job));
  Computed listener;
  ExecutorSpec spec;
  spec.sm_share[static_cast<std::size_t>(Dimension::kEp)] = 0.2;
  ComputeStreams streams(part.graph(), spec, part.context(), listener);
  struct Exchange {
    void change(std::uint64_t begins) {
      const auto of = [&](Dimension d) {
        begins != 0 ? streams.exchange_began(RankId{0u}, d) : streams.exchange_ended(RankId{0u}, d);
      };
      of(Dimension::kEp);
      of(Dimension::kPp);
    }
    ComputeStreams& streams;
  } exchange{streams};
  streams.enqueue(RankId{0u}, {TaskId{0u}, {}}, Stream::kGpu);
  streams.start_ready();
  for (const auto& [at, begins] : {std::pair{us(2), 1U}, std::pair{us(7), 0U}}) {
    part.engine.schedule(Time{} + at, engine::Phase::kFinish, engine::Action::to<&Exchange::change>(exchange, begins));
  }
  part.run_all();
  EXPECT_THAT(listener.ends, ElementsAre(us(9)));
}

}  // namespace
}  // namespace photonrail::execution
