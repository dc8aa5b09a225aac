// Ranks that are late or slow: what is drawn, and what it does to a run.
#include "execution/straggler_injector.hpp"
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace photonrail::test {
namespace {

using execution::StragglerInjector;
using Whom = StragglerSpec::Whom;

StragglerSpec late(Duration delay, std::vector<RankId> ranks) {
  return {.whom = Whom::kListed, .ranks = std::move(ranks), .delay = DelayDistribution::constant(delay)};
}

TEST(StragglerInjector, ListedRanksAreLateInEveryStep) {
  const std::vector<StragglerSpec> specs{late(us(5), {RankId{1u}, RankId{2u}}), late(us(7), {RankId{2u}})};
  const StragglerInjector straggling(specs, 4, 1);
  for (const std::uint32_t step : {0u, 9u}) {
    EXPECT_EQ(straggling.of(RankId{0u}, step).delay, Duration{});
    EXPECT_EQ(straggling.of(RankId{1u}, step).delay, us(5));
    EXPECT_EQ(straggling.of(RankId{2u}, step).delay, us(12));
  }
}

StragglerSpec failure(Duration at, std::optional<Duration> lasts, double slowdown) {
  StragglerSpec spec = late({}, {RankId{1u}});
  spec.at = Time{at};
  spec.lasts = lasts;
  spec.slowdown = slowdown;
  spec.stops = slowdown == 1.0;
  return spec;
}

// Of 10 us, begun at 0: 4 us, then 3 us that are half of 6, then 3 us: 13. A stop from 4 to 10: 16. Both: from 4 to 10
// nothing, then 6 us.
TEST(StragglerInjector, AFailureMeetsComputationsInProgress) {
  const StragglerSpec slow = failure(us(4), us(6), 2.0);
  const StragglerSpec stop = failure(us(4), us(6), 1.0);
  for (const auto& [specs, expected] :
       {std::pair{std::vector{slow}, us(13)}, {std::vector{stop}, us(16)}, {std::vector{slow, stop}, us(16)}}) {
    const StragglerInjector injector(specs, 2, 1);
    EXPECT_EQ(injector.with_failures(RankId{1u}, Time{}, us(10)), expected);
    EXPECT_EQ(injector.with_failures(RankId{0u}, Time{}, us(10)), us(10)) << "another rank";
    EXPECT_EQ(injector.with_failures(RankId{1u}, Time{us(10)}, us(10)), us(10)) << "after the repair";
    EXPECT_EQ(injector.of(RankId{1u}, 0).slowdown, 1.0) << "it is of no step";
  }
}

TEST(StragglerInjector, AGpuThatStopsForGoodNeverEnds) {
  const std::vector<StragglerSpec> specs{failure(us(4), {}, 1.0)};
  const StragglerInjector injector(specs, 2, 1);
  EXPECT_EQ(injector.with_failures(RankId{1u}, Time{}, us(4)), us(4)) << "done by then";
  EXPECT_EQ(injector.with_failures(RankId{1u}, Time{}, us(5)), std::nullopt);
  EXPECT_THAT(injector.failures_until(Time{us(3)}), ::testing::IsEmpty());
  EXPECT_THAT(injector.failures_until(Time{us(4)}), ::testing::ElementsAre("the GPU of rank 1 stopped at 0.000004 s"));
}

TEST(StragglerInjector, RanksOfAFailureAreNamedAsRanges) {
  StragglerSpec failure;
  EXPECT_EQ(execution::gpus_of(failure), "every GPU");
  failure.whom = StragglerSpec::Whom::kListed;
  failure.ranks = {RankId{3}};
  EXPECT_EQ(execution::gpus_of(failure), "GPU of rank 3");
  failure.ranks = {RankId{4}, RankId{5}, RankId{6}, RankId{9}, RankId{8}};
  EXPECT_EQ(execution::gpus_of(failure), "GPUs of ranks 4-6,9,8");
}

TEST(StragglerInjector, ATraceBeginsAgainAtItsEnd) {
  StragglerSpec spec;
  spec.trace = {us(1), us(2), us(3)};
  const std::vector<StragglerSpec> specs{spec};
  const StragglerInjector straggling(specs, 2, 1);
  EXPECT_EQ(straggling.of(RankId{0u}, 1).delay, us(2));
  EXPECT_EQ(straggling.of(RankId{1u}, 5).delay, us(3));
}

TEST(StragglerInjector, OneRankAtRandomIsTheSameForAllWhoAskAndAnotherInOtherSteps) {
  StragglerSpec spec = late(us(5), {});
  spec.whom = Whom::kOneAtRandom;
  const std::vector<StragglerSpec> specs{spec};
  const StragglerInjector straggling(specs, 16, 7);
  std::set<std::size_t> chosen;
  for (std::uint32_t step = 0; step < 200; ++step) {
    std::size_t count = 0;
    for (std::size_t r = 0; r < 16; ++r) {
      if (straggling.of(RankId{r}, step).delay == Duration{}) continue;
      ++count;
      chosen.insert(r);
    }
    EXPECT_EQ(count, 1u);
  }
  EXPECT_EQ(chosen.size(), 16u);  // missing one of 16 in 200 draws: 16 (15/16)^200 = 4e-5
}

TEST(StragglerInjector, EveryRankAndStepDrawsItsOwnDelayFromTheSeed) {
  StragglerSpec spec;
  spec.delay = {DelayDistribution::Kind::kUniform, us(10), us(20), 0.0};
  const std::vector<StragglerSpec> specs{spec};
  const StragglerInjector straggling(specs, 4, 7);
  std::set<Duration> drawn;
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (std::size_t r = 0; r < 4; ++r) {
      const Duration delay = straggling.of(RankId{r}, step).delay;
      EXPECT_GE(delay, us(10));
      EXPECT_LT(delay, us(20));
      drawn.insert(delay);
    }
  }
  EXPECT_EQ(drawn.size(), 200u);
  EXPECT_EQ(StragglerInjector(specs, 4, 7).of(RankId{3u}, 8).delay, straggling.of(RankId{3u}, 8).delay);
  EXPECT_NE(StragglerInjector(specs, 4, 8).of(RankId{3u}, 8).delay, straggling.of(RankId{3u}, 8).delay);
}

/// Two ranks that compute 1 ms and all-reduce 50 MB: 1 ms at 50 GB/s, in both directions at once.
Job pair() {
  Job job(2);
  job.compute(0, ms(1)).compute(1, ms(1));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 50'000'000);
  return job;
}

TEST(StragglingRun, ADelayHoldsUpEveryStepAndCountsAsComputation) {
  Job job = pair();
  job.scenario.stragglers = {late(us(300), {RankId{1u}})};
  job.scenario.run.iterations = 3;
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.makespan, 3 * ms(2.3));
  EXPECT_EQ(result.ranks[0].compute, ms(3));
  EXPECT_EQ(result.ranks[0].peer_wait, us(900));
  EXPECT_EQ(result.ranks[1].compute, ms(3.9));
}

TEST(StragglingRun, ASlowGpuComputesLonger) {
  Job job = pair();
  StragglerSpec slow{.whom = Whom::kListed, .ranks = {RankId{0u}}, .slowdown = 1.25};
  job.scenario.stragglers = {slow, slow};
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(1.5625) + ms(1));  // slowdowns multiply
  EXPECT_EQ(result.ranks[1].peer_wait, ms(0.5625));
}

// The slow rank's reduce-scatter partners do not wait for it: 3 ranks, chunks of half the buffer. T_RS = 1 step, R = 3.
TEST(StragglingRun, StragglarHidesItsReduceScatterBehindASlowGpu) {
  Job job(3);
  for (const std::size_t r : {0, 1, 2}) job.compute(r, ms(4));
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllReduce, 100'000'000);
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = "stragglar";
  job.scenario.stragglers = {{.whom = Whom::kListed, .ranks = {RankId{0u}}, .slowdown = 1.5}};
  EXPECT_EQ(job.run().makespan, ms(6) + 3 * ms(1));
}

TEST(StragglingRun, AStepWithoutTasksIsNotHeldUp) {
  Job job(2);
  job.compute(0, ms(1));
  job.scenario.stragglers = {late(us(300), {RankId{1u}})};
  EXPECT_EQ(job.run().makespan, ms(1));
}

TEST(StragglingRun, WrongValuesAreRefused) {
  Job job = pair();
  job.build();
  job.scenario.stragglers = {late(us(300), {RankId{0u}, RankId{2u}})};
  EXPECT_EQ(error_of([&] { job.scenario.validate(); }).where(), "stragglers[0].ranks[1]");
  job.scenario.stragglers = {late(us(-1), {RankId{0u}})};
  EXPECT_EQ(error_of([&] { job.scenario.validate(); }).where(), "stragglers[0].delay");
  job.scenario.stragglers = {{.slowdown = 0.5}};
  EXPECT_EQ(error_of([&] { job.scenario.validate(); }).where(), "stragglers[0].slowdown");
}

}  // namespace
}  // namespace photonrail::test
