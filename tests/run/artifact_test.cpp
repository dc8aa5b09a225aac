// What the published simulator's forgotten requests cost, and what the result says of it.
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// {0,1} and {2,3} are two rings of 20 ms each. The second is asked for at 1 ms, while the first has bytes on their way, and
// no task of its ranks ends any more before it is served.
RunResult two_rings(Duration time_out, Duration own_event = {}) {
  Job job(4);
  job.optical(Duration{}, "opus_artifact");
  job.scenario.controller.parameters.set("retry_timeout", time_out);
  const auto a = job.group({0, 1});
  const auto b = job.group({2, 3});
  job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1'000'000'000);
  job.compute(2, ms(1)).collective(b, {2, 3}, CollectiveOp::kAllReduce, 1'000'000'000);
  if (own_event > Duration{}) job.detach(2).compute(2, own_event);
  return job.run();
}

// As published the controller does not look again: the job stands still at 20 ms, and the request is looked at then.
TEST(ArtifactRetry, AForgottenRequestIsLookedAtWhenNothingElseGoesOn) {
  const RunResult result = two_rings(Duration{});
  EXPECT_EQ(result.makespan, ms(40));
  EXPECT_TRUE(books_balance(result));
}

TEST(ArtifactRetry, TheShimOfTheTestbedLooksAgainAfterItsTimeOut) {
  const RunResult result = two_rings(std::chrono::milliseconds(100));
  EXPECT_EQ(result.makespan, ms(1 + 100 + 20));
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_THAT(result.warnings[0], HasSubstr("requests lay refused for 0.081 s"));  // from 20 ms until 101 ms
}

// Its rank's own computation ends at 31 ms; from 20 ms on nothing was in the way.
TEST(ArtifactRetry, TheResultSaysForHowLongNothingWasInTheWay) {
  const RunResult result = two_rings(Duration{}, ms(30));
  EXPECT_EQ(result.makespan, ms(51));
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_THAT(result.warnings[0], HasSubstr("rail 0: requests lay refused for 0.011 s (21.6 % of the run)"));
}

TEST(ArtifactRetry, NothingIsSaidWhereNothingWasForgotten) {
  Job job(2);
  job.optical(ms(1), "opus_artifact");
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  EXPECT_THAT(job.run().warnings, IsEmpty());
}

// All ranks are of one stage, since a ring joins them. The hop of the pipeline and its way back are in the group's own
// request: that both are known as hops of the stage makes no third circuit of them.
TEST(ArtifactStages, AHopThatAsksForBothWaysGetsBothOnce) {
  Job job(3);
  job.optical(ms(1), "opus_artifact");
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 3000);
  job.collective(job.group({0, 2}, Dimension::kPp), {0, 2}, CollectiveOp::kAllReduce, 3000);
  EXPECT_TRUE(books_balance(job.run()));
}

// Hops of one stage to itself share their GPUs: 0 to 1 and 0 to 2 cannot have the one port of 0 together.
TEST(ArtifactStages, HopsThatWantOnePortTakeTurns) {
  Job job(3);
  job.optical(ms(1), "opus_artifact");
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 3000);
  for (const std::size_t to : {1, 2}) job.send(0, to, 1'000'000).receive(0, to, 1'000'000);
  EXPECT_TRUE(books_balance(job.run()));
}

}  // namespace
}  // namespace photonrail::test
