#include "execution/tail_bound.hpp"

#include "execution/slack_profile.hpp"
#include "photonrail/simulate.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using execution::SlackRecorder;
using execution::TailBound;
using execution::TailWatch;

SlackRecorder::LeastTimes least_of(Duration operation) {
  return {[operation](RankId, const Task&) { return operation; }, [](const Task&, Duration here) { return here; }, Bytes{}};
}

// Rank 0 computes for 5 ms and for 20 ms, rank 1 for 10 ms, then both reduce for at least 1 ms. After the first computation
// 20 + 1 ms are left. A step of rank 1 may begin 15 ms after that of rank 0: it takes at least 10 + 1 ms.
TEST(TailBound, IsTheLongestChainOfWhatWaits) {
  Job job(2);
  job.compute(0, ms(5)).compute(0, ms(20)).compute(1, ms(10));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.build();
  SlackRecorder recorder(job.scenario.graph);
  Observer* const observers[] = {&recorder};
  (void)simulate(job.scenario, observers);
  const TailBound tail = recorder.tail(least_of(ms(1)));
  EXPECT_EQ(tail.after[0][0], ms(21));
  EXPECT_EQ(tail.after[0][1], ms(1));
  EXPECT_EQ(tail.after[1][0], ms(1));
  EXPECT_EQ(tail.after[1][1], Duration{});
  EXPECT_EQ(tail.step, ms(11));
}

// Two computations that nothing orders may change places in another run, where neither follows the other.
TEST(TailBound, KnowsNoOrderOfAStream) {
  Job job(1);
  job.compute(0, ms(3)).detach(0).compute(0, ms(4));
  job.build();
  SlackRecorder recorder(job.scenario.graph);
  Observer* const observers[] = {&recorder};
  (void)simulate(job.scenario, observers);
  const TailBound tail = recorder.tail(least_of({}));
  EXPECT_EQ(tail.after[0][0], Duration{});
  EXPECT_EQ(tail.step, ms(4));
}

// A sender waits for the receiver of a large message: what follows the receive, 7 ms, follows what precedes the send. The
// sender of a buffered one goes on at once, but its receiver still waits for the bytes.
TEST(TailBound, ASendIsFollowedByWhatFollowsItsReceive) {
  for (const bool buffered : {false, true}) {
    Job job(2);
    job.compute(0, ms(2)).send(0, 1, 1 << 20).compute(0, ms(9));
    job.receive(0, 1, 1 << 20).compute(1, ms(7));
    job.build();
    SlackRecorder recorder(job.scenario.graph);
    Observer* const observers[] = {&recorder};
    job.scenario.executor.buffered_send = Bytes{0};
    (void)simulate(job.scenario, observers);
    SlackRecorder::LeastTimes times = least_of(ms(1));
    times.buffered = Bytes{buffered ? 1 << 20 : 0};
    EXPECT_EQ(recorder.tail(times).after[0][0], buffered ? ms(9) : ms(10));
  }
}

// 8 ms remain after the task, and a second step of 20 ms: a run that is to end at 30 ms is late from 2 ms and 1 ps on.
TEST(TailWatch, IsLateWhenTheRestIsTooLong) {
  const TailBound bound{{{ms(8)}}, ms(20)};
  TailWatch watch(bound, Time{} + ms(30), 2);
  watch.completed(RankId{0}, TaskId{0}, 0, Time{} + ms(2));
  EXPECT_FALSE(watch.is_late());
  watch.completed(RankId{0}, TaskId{0}, 1, Time{} + ms(22));
  EXPECT_FALSE(watch.is_late());
  watch.completed(RankId{0}, TaskId{0}, 0, Time{} + ms(2) + Duration{1});
  EXPECT_TRUE(watch.is_late());
}

}  // namespace
}  // namespace photonrail::test
