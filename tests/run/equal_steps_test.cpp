// Steps that repeat are run a few times, and the result is that of all of them.
#include "run/equal_steps.hpp"
#include "photonrail/simulate.hpp"
#include "run/growth.hpp"
#include "run/job.hpp"
#include "run/step_hashes.hpp"
#include "support/folded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::run {
namespace {

using test::Job;
using test::ms;
using test::us;
using ::testing::Contains;
using ::testing::HasSubstr;

// A ring on rails, and behind it a pipeline's message the other way, with computations between: circuits change twice a
// step.
Job ring_and_message() {
  Job job(4);
  const auto dp = job.group({0, 1, 2, 3});
  for (std::size_t rank = 0; rank < 4; ++rank) job.compute(rank, us(300));
  job.collective(dp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 40'000'000);
  job.send(0, 2, 3'000'001).receive(0, 2, 3'000'001);
  job.compute(1, us(70)).compute(3, us(70));
  return job;
}

TEST(EqualSteps, AThousandAreThoseOfTheWholeRun) {
  for (const bool optical : {false, true}) {
    Job job = ring_and_message();
    if (optical) job.optical(ms(1));
    job.build();
    job.scenario.run.iterations = 1000;
    job.scenario.run.critical_path = true;
    const RunResult few = test::expect_same_folded(job.scenario);
    EXPECT_EQ(few.iterations.size(), 1000u);
    EXPECT_THAT(few.choices, Contains(HasSubstr(" of 1000 were run")));
    EXPECT_LT(few.engine.events, 100'000u);
    job.scenario.run.folding = false;
    const RunResult all = simulate(job.scenario);
    ASSERT_TRUE(few.critical_path && all.critical_path);
    EXPECT_EQ(few.critical_path->total(), few.makespan);
    ASSERT_EQ(few.critical_path->parts.size(), all.critical_path->parts.size());
    for (std::size_t i = 0; i < all.critical_path->parts.size(); ++i) {
      EXPECT_EQ(few.critical_path->parts[i].label(), all.critical_path->parts[i].label());
      EXPECT_EQ(few.critical_path->parts[i].time, all.critical_path->parts[i].time);
    }
    EXPECT_EQ(few.critical_path->waits, all.critical_path->waits);
  }
}

TEST(EqualSteps, FewStepsAndThoseThatDifferAreAllRun) {
  Job job = ring_and_message();
  job.build();
  job.scenario.run.iterations = 24;
  EXPECT_THAT(simulate(job.scenario).choices, Not(Contains(HasSubstr("were run"))));
  job.scenario.run.iterations = 1000;
  job.scenario.stragglers.push_back({.trace = {us(1), us(2), us(3)}});
  EXPECT_THAT(simulate(job.scenario).choices, Not(Contains(HasSubstr("were run"))));
}

struct Ends : Observer {
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void begin(const Scenario&) override { ++begun; }
  void end(Time at) override { ended = at; }
  int begun = 0;
  Time ended{};
};

TEST(EqualSteps, AnObserverIsToldOfTheWholeRun) {
  Job job = ring_and_message();
  job.build();
  job.scenario.run.iterations = 500;
  Ends ends;
  Observer* const observers[] = {&ends};
  const RunResult result = simulate(job.scenario, observers);
  EXPECT_THAT(result.choices, Contains(HasSubstr(" of 500 were run")));
  EXPECT_EQ(ends.begun, 1);
  EXPECT_EQ(ends.ended, Time{result.makespan});
}

// ---- hashes of steps

/// Steps of two ranks, in each a computation of the given length; rank 1 is `behind` steps behind.
StepHashes hashes_of(const std::vector<int>& lengths, std::uint32_t behind = 0) {
  StepHashes hashes(2, 100);
  Time now{};
  for (std::uint32_t step = 0; step < lengths.size(); ++step) {
    const Time end = now + us(lengths[step]);
    hashes.compute({.start = now, .finish = end, .rank = RankId{0u}, .task = TaskId{0u}});
    if (step >= behind) hashes.iteration(RankId{1u}, step - behind, end);
    hashes.iteration(RankId{0u}, step, end);
    now = end;
  }
  return hashes;
}

TEST(StepHashes, FindThePeriodOfSteps) {
  EXPECT_EQ(hashes_of({9, 5, 5, 5}).period(), 1u);
  EXPECT_EQ(hashes_of({9, 5, 6, 5, 6, 5, 6, 5, 6}).period(), 2u);
  EXPECT_EQ(hashes_of({1, 2, 3, 4, 5, 6, 7, 8}).period(), std::nullopt);
  EXPECT_EQ(hashes_of({9, 5, 5}).period(), std::nullopt) << "once may be chance";
  EXPECT_EQ(hashes_of({5, 5, 5, 5, 5, 6}).period(), std::nullopt) << "the last one counts";
}

TEST(StepHashes, RanksThatAreFarApartNeedMoreEqualSteps) {
  EXPECT_EQ(hashes_of({5, 5, 5, 5, 5, 5, 5, 5}, 4).period(), std::nullopt);
  EXPECT_EQ(hashes_of({5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 4).period(), 1u);
}

// ---- growth

StepsResult run_of(Duration makespan, std::vector<Duration> steps) {
  StepsResult run;
  run.result.makespan = makespan;
  run.result.ranks = {{.compute = makespan}};
  run.result.iterations = std::move(steps);
  run.result.utilisation = Utilisation{.rail_ports = 0.5};
  return run;
}

TEST(Growth, AddsWhatOneStepAdded) {
  StepsResult a = run_of(ms(5), {ms(3), ms(2)});
  StepsResult b = run_of(ms(7), {ms(3), ms(2), ms(2)});
  StepsResult c = run_of(ms(9), {ms(3), ms(2), ms(2), ms(2)});
  ASSERT_TRUE(grow({&a, &b, &c}, 3, 1, 2));
  EXPECT_EQ(c.result.makespan, ms(15));
  EXPECT_EQ(c.result.ranks[0].compute, ms(15));
  EXPECT_EQ(c.result.iterations, (std::vector<Duration>{ms(3), ms(2), ms(2), ms(2), ms(2), ms(2), ms(2)}));
  EXPECT_NEAR(c.result.utilisation->rail_ports, 0.5, 1e-12);
}

TEST(Growth, RefusesWhatDoesNotGrowAlike) {
  StepsResult a = run_of(ms(5), {ms(3), ms(2)});
  StepsResult b = run_of(ms(7), {ms(3), ms(2), ms(2)});
  StepsResult c = run_of(ms(10), {ms(3), ms(2), ms(2), ms(3)});
  EXPECT_FALSE(grow({&a, &b, &c}, 3, 1, 2));
  StepsResult far = run_of(ms(9), {ms(3), ms(2), ms(2), ms(2)});
  EXPECT_FALSE(grow({&a, &b, &far}, std::int64_t{1} << 60, 1, 2)) << "more picoseconds than 64 bits hold";
}

}  // namespace
}  // namespace photonrail::run
