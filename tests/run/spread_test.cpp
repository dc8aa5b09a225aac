// Results of runs that draw something come with the makespans of other seeds.
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace photonrail::test {
namespace {

// 4 ranks in a ring all-reduce after a delay of 0 to 1 ms each.
Job late_ranks() {
  Job job(4);
  const auto group = job.group({0, 1, 2, 3});
  job.collective(group, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400'000).build();
  StragglerSpec late;
  late.delay = {DelayDistribution::Kind::kUniform, Duration{}, ms(1), 0.0, {}};
  job.scenario.stragglers = {late};
  return job;
}

// The makespans of five runs with the seeds that a sweep's repetitions have.
TEST(Spread, IsThatOfTheRunsUnderOtherSeeds) {
  Job job = late_ranks();
  std::vector<Duration> makespans;
  for (std::uint32_t i = 0; i < 5; ++i) {
    Scenario one = job.scenario;
    one.run.seed = repeated_seed(job.scenario.run.seed, i);
    makespans.push_back(simulate(one).makespan);
  }
  const Duration own = makespans.front();
  std::sort(makespans.begin(), makespans.end());

  job.scenario.run.spread_seeds = 5;
  const RunResult result = simulate(job.scenario);
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_EQ(result.makespan, own);
  EXPECT_EQ(result.spread->seeds, 5u);
  EXPECT_EQ(result.spread->unfinished, 0u);
  EXPECT_EQ(result.spread->min, makespans[0]);
  EXPECT_EQ(result.spread->median, makespans[2]);
  EXPECT_EQ(result.spread->max, makespans[4]);
  EXPECT_LT(result.spread->min, result.spread->max);
}

TEST(Spread, OfAnEvenNumberOfSeedsTheMedianIsTheLowerOfTwo) {
  Job job = late_ranks();
  job.scenario.run.spread_seeds = 2;
  const RunResult result = simulate(job.scenario);
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_EQ(result.spread->median, result.spread->min);
}

TEST(Spread, IsLeftOutWhereNothingIsDrawnOrNothingWasAskedFor) {
  Job job = late_ranks();
  EXPECT_FALSE(simulate(job.scenario).spread.has_value());
  job.scenario.run.spread_seeds = 1;
  EXPECT_FALSE(simulate(job.scenario).spread.has_value());
  job.scenario.run.spread_seeds = 5;
  job.scenario.stragglers.front().delay = DelayDistribution::constant(ms(1));
  EXPECT_FALSE(draws_of_seed(job.scenario));
  EXPECT_FALSE(simulate(job.scenario).spread.has_value());
}

// Two runs of two jobs: each job keeps its distance from the seed of the whole.
TEST(Spread, OfSeveralJobsIsThatOfAllTogether) {
  Job first = late_ranks();
  Scenario both = first.scenario;
  both.jobs = {first.scenario, first.scenario};
  both.cluster.servers = 8;
  both.graph = {};
  both.gpu_of_rank.clear();
  both.stragglers.clear();
  both.jobs[0].name = "a";
  both.jobs[1].name = "b";
  for (std::size_t j = 0; j < 2; ++j) {
    both.jobs[j].run.seed = both.run.seed + j;
    for (std::size_t r = 0; r < 4; ++r) both.jobs[j].gpu_of_rank[r] = GpuId{4 * j + r};
  }
  Scenario other = both;
  other.run.seed = repeated_seed(both.run.seed, 1);
  for (std::size_t j = 0; j < 2; ++j) other.jobs[j].run.seed = other.run.seed + j;
  const auto [least, most] = std::minmax({simulate(both).makespan, simulate(other).makespan});
  both.run.spread_seeds = 2;
  const RunResult result = simulate(both);
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_EQ(result.spread->min, least);
  EXPECT_EQ(result.spread->max, most);
}

// Each message of the control plane is lost with a probability of a half and never sent again: under most seeds the
// circuits never come. A seed under which the job cannot finish is counted, and has no makespan.
TEST(Spread, CountsSeedsThatCannotFinish) {
  Job job(2);
  const auto group = job.group({0, 1});
  job.collective(group, {0, 1}, CollectiveOp::kAllReduce, 400'000).optical(ms(1)).build();
  job.scenario.controller.control.messages.loss = 0.5;
  job.scenario.controller.control.messages.timeout = us(10);
  job.scenario.controller.control.messages.retries = 0;
  job.scenario.run.spread_seeds = 32;
  for (std::uint64_t seed = 1;; ++seed) {
    job.scenario.run.seed = seed;
    try {
      const RunResult result = simulate(job.scenario);
      ASSERT_TRUE(result.spread.has_value());
      EXPECT_GT(result.spread->unfinished, 0u);
      EXPECT_LT(result.spread->unfinished, 32u);
      return;
    } catch (const DeadlockError&) {
      ASSERT_LT(seed, 1000u);
    }
  }
}

}  // namespace
}  // namespace photonrail::test
