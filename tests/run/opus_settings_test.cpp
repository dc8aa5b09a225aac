// The smallest jobs known on which one setting of Opus is far slower than another, and what finds the better one. Ports of
// 50 GB/s: 1 MB takes 20 us; a change takes 20 ms.
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

constexpr std::int64_t kMillionBytes = 1'000'000;

Job with(Job job, const char* key, const char* word) {
  job.scenario.controller.parameters.set(key, std::string(word));
  return job;
}

/// Rank 2 reduces with rank 1, which computes for 30 ms before that, and sends twice to rank 0.
Job early_announcement() {
  Job job(3);
  job.optical(ms(20)).scenario.executor.comm_lanes = CommLanes::kOne;
  const CommunicatorId pair = job.group({1, 2});
  job.compute(1, ms(30)).collective(pair, {1, 2}, CollectiveOp::kAllReduce, kMillionBytes);
  for (const std::uint32_t tag : {1u, 2u}) {
    job.detach(2).send(2, 0, kMillionBytes, tag).detach(0).receive(2, 0, kMillionBytes, tag);
  }
  return job;
}

/// Rank 2 receives from rank 1, reduces with it twice, and sends to rank 0 after 1 ms; rank 1 also receives from rank 0.
Job head_of_line() {
  Job job(3);
  job.optical(ms(20)).scenario.executor.comm_lanes = CommLanes::kOne;
  const CommunicatorId pair = job.group({1, 2});
  job.send(1, 2, kMillionBytes, 1).receive(1, 2, kMillionBytes, 1);
  job.detach(1).collective(pair, {1, 2}, CollectiveOp::kAllReduce, kMillionBytes);
  job.detach(1).detach(2).collective(pair, {1, 2}, CollectiveOp::kAllReduce, kMillionBytes);
  job.send(0, 1, kMillionBytes, 2).detach(1).receive(0, 1, kMillionBytes, 2);
  job.detach(2).compute(2, ms(1)).send(2, 0, kMillionBytes, 3).detach(0).receive(2, 0, kMillionBytes, 3);
  return job;
}

Job rehearsed(Job job) {
  job.scenario.controller.parameters.set("rehearse", 1.0);
  return job;
}

// On demand both sends use one circuit until 20.04 ms; rank 1 asks at 30 ms, is lit at 50 and done at 50.02. Provisioned,
// the reduction has asked at 0 and takes the circuits at 20.02; the second send, which has the lane, gets them back
// from 40.02 to 60.02, and the reduction again at 80.04.
TEST(OpusSettings, AnEarlyRequestMayTakeCircuitsBetweenTwoSends) {
  EXPECT_EQ(with(early_announcement(), "mode", "on_demand").run().makespan, us(50'020));
  EXPECT_EQ(with(early_announcement(), "mode", "provisioned").run().makespan, us(80'060));
}

// Free, the send to rank 0 asks at 1 ms and is done at 21.02, and both reductions follow on circuits of 41.02. Scheduled,
// it is held back behind the reductions and comes between them: changes end at 20, 40.02, 60.04 and 80.06 ms.
TEST(OpusSettings, TheOrderOfTheProfilingRunMayHoldBackWhatSharesCircuits) {
  EXPECT_EQ(with(head_of_line(), "order", "free").run().makespan, us(41'060));
  EXPECT_EQ(with(head_of_line(), "order", "scheduled").run().makespan, us(80'080));
}

TEST(OpusSettings, RehearsalTakesTheBest) {
  for (Job (*make)() : {early_announcement, head_of_line}) {
    Duration best = Duration::max();
    for (const char* mode : {"on_demand", "provisioned"}) {
      for (const char* order : {"scheduled", "free"}) {
        best = std::min(best, with(with(make(), "mode", mode), "order", order).run().makespan);
      }
    }
    const RunResult result = rehearsed(make()).run();
    EXPECT_EQ(result.makespan, best);
    ASSERT_FALSE(result.choices.empty());
    EXPECT_THAT(result.choices[0], ::testing::HasSubstr("opus rehearsed 4 ways and took number "));
  }
}

}  // namespace
}  // namespace photonrail::test
