#include "execution/slack_profile.hpp"

#include "photonrail/simulate.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using execution::SlackProfile;
using execution::SlackRecorder;

// Rank 0 computes for 5 ms and for 20 ms; rank 1 for 10 ms, then both reduce. The step is 25 ms + the reduction. Rank 1's
// computation may end when rank 0's does, at 25 ms; rank 0's first one has to end when its second has to begin.
TEST(SlackProfile, WorkIsDueWhenWhatWaitsForItHasToBegin) {
  Job job(2);
  job.compute(0, ms(5)).compute(0, ms(20)).compute(1, ms(10));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.build();
  SlackRecorder recorder(job.scenario.graph);
  Observer* const observers[] = {&recorder};
  (void)simulate(job.scenario, observers);
  const SlackProfile known = recorder.profile();
  EXPECT_EQ(known.step, ms(25) + kGiB);
  EXPECT_EQ(known.times[0][0].due, ms(5));
  EXPECT_EQ(known.times[0][1].due, ms(25));
  EXPECT_EQ(known.times[1][0].due, ms(25));
  EXPECT_EQ(known.times[1][0].start, Duration{});
  for (std::size_t rank : {0, 1}) {
    const SlackProfile::Times& reduction = known.times[rank].back();
    EXPECT_EQ(reduction.start, ms(25));
    EXPECT_EQ(reduction.due, known.step);
  }
}

// Two computations of one rank that nothing orders: the stream ran one before the other, and the first has to make room.
TEST(SlackProfile, AComputeStreamIsWaitedForToo) {
  Job job(1);
  job.compute(0, ms(3)).detach(0).compute(0, ms(4));
  job.build();
  SlackRecorder recorder(job.scenario.graph);
  Observer* const observers[] = {&recorder};
  (void)simulate(job.scenario, observers);
  const SlackProfile known = recorder.profile();
  EXPECT_EQ(known.times[0][0].due, ms(3));
  EXPECT_EQ(known.times[0][1].due, ms(7));
}

}  // namespace
}  // namespace photonrail::test
