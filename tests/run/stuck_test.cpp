// What a job that cannot finish says.
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST(Stuck, ARingThatLeavesAServerTwiceOnOneRailSaysSo) {
  // A message crosses on the rail of its destination's local index. Rank 3 (GPU 6, server 2) sends to rank 4 (GPU 0), and
  // rank 5 (GPU 7, server 2) through GPU 6 to rank 6 (GPU 3): rail 0 needs two circuits from the one port of server 2.
  Job job(9, 3);
  std::vector<std::size_t> all(9);
  for (std::size_t r = 0; r < 9; ++r) all[r] = r;
  job.collective(job.group(all), all, CollectiveOp::kReduceScatter, 1 << 20);
  job.optical(us(10)).build();
  job.scenario.gpu_of_rank.clear();
  for (const std::size_t gpu : {2, 8, 4, 6, 0, 7, 3, 1, 5}) job.scenario.gpu_of_rank.push_back(GpuId{gpu});
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wants 2 circuits at once from ranks 3, 5, and server 2 has 1 port on rail 0"));
    EXPECT_THAT(error.what(), HasSubstr("another placement"));
  }
}

// The same after a broadcast, before two operations that have come earlier: they wait for their lane, and are listed last.
TEST(Stuck, WhatWaitsForItsLaneComesAfterTheCause) {
  Job job(9, 3);
  std::vector<std::size_t> all(9);
  for (std::size_t r = 0; r < 9; ++r) all[r] = r;
  const CommunicatorId group = job.group(all);
  job.collective(group, all, CollectiveOp::kBroadcast, 0);
  for (const std::size_t r : all) job.compute(r, us(1));
  job.collective(group, all, CollectiveOp::kReduceScatter, 1 << 20);
  for (int later = 0; later < 2; ++later) {
    for (const std::size_t r : all) job.detach(r);
    job.collective(group, all, CollectiveOp::kBroadcast, 0);
  }
  job.optical(us(10)).build();
  job.scenario.gpu_of_rank.clear();
  for (const std::size_t gpu : {2, 8, 4, 6, 0, 7, 3, 1, 5}) job.scenario.gpu_of_rank.push_back(GpuId{gpu});
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.stuck().front(), HasSubstr("wants 2 circuits at once"));
    EXPECT_THAT(error.what(), HasSubstr("waits for its communication lane"));
  }
}

// Rank 1 has no circuit to rank 0, and 20 ranks wait for what it would send them after that: more than the report lists.
TEST(Stuck, WhatLacksCircuitsComesFirstAmongManyLines) {
  Job job(22);
  job.compute(0, us(1)).compute(1, us(1));
  job.send(1, 0, 100'000'000).receive(1, 0, 100'000'000);  // more than is buffered
  for (std::size_t r = 2; r < 22; ++r) job.send(1, r, 1000).receive(1, r, 1000);
  job.optical(us(10), "static").build();
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.stuck().front(), HasSubstr("waits for a circuit from rank 1 to rank 0"));
    EXPECT_THAT(error.stuck().back(), HasSubstr("more"));
  }
}

// Ranks 0 and 1 send straight to each other and to rank 2: two circuits out of one port, which keep their ports for ever.
// Behind them waits a ring of 20 ranks, more than the report lists, of which rank 19 came to it before all else.
TEST(Stuck, WhatCanNeverHaveItsCircuitsComesBeforeManyThatWaitForThem) {
  Job job(20);
  std::vector<std::size_t> all(20);
  for (std::size_t r = 0; r < 20; ++r) all[r] = r;
  const CommunicatorId ring = job.group(all);
  const std::vector<std::size_t> few{0, 1, 2};
  for (const std::size_t r : few) job.compute(r, us(1));
  job.collective(job.group(few), few, CollectiveOp::kAllToAll, 3000);
  for (const std::size_t r : few) job.detach(r).compute(r, us(1));
  job.collective(ring, all, CollectiveOp::kAllGather, 1000);
  job.optical(us(10)).build();
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.stuck().front(), HasSubstr("wants 2 circuits at once"));
    EXPECT_THAT(error.stuck()[3], HasSubstr("all_gather of group"));
    EXPECT_THAT(error.stuck().back(), HasSubstr("more"));
  }
}

/// Two servers of two GPUs. The first job has GPUs 0 and 3, so that its message leaves server 0 over GPU 1; the second job
/// has GPUs 1 and 2.
Scenario crossed_jobs(const std::string& controller) {
  Scenario all;
  all.cluster.servers = 2;
  all.cluster.gpus_per_server = 2;
  all.cluster.rail.kind = RailKind::kOptical;
  all.cluster.rail.optical.reconfiguration = DelayDistribution::constant(us(10));
  for (const auto& gpus : {std::vector<std::size_t>{0, 3}, std::vector<std::size_t>{1, 2}}) {
    Job job(2);
    job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000).build();
    JobSpec& made = all.jobs.emplace_back(job.scenario);
    made.name = "job " + std::to_string(all.jobs.size() - 1);
    made.controller.name = controller;
    made.gpu_of_rank = {GpuId{gpus[0]}, GpuId{gpus[1]}};
  }
  return all;
}

class StuckJobs : public ::testing::TestWithParam<const char*> {};

TEST_P(StuckJobs, NameTheGpuOfAnotherJobThatTheyWouldSendOver) {
  try {
    static_cast<void>(simulate(crossed_jobs(GetParam())));
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("waits for a circuit from rank 0 to rank 1 over GPU 1 (server 0 on rail 1), which "
                                        "belongs to another job"));
  }
}

INSTANTIATE_TEST_SUITE_P(Services, StuckJobs, ::testing::ValuesIn(std::vector<const char*>{"opus", "max_weight"}));

}  // namespace
}  // namespace photonrail::test
