// What every history keeps: books that add up, the same history for the same seed, and the healthy run without failures.
#include "photonrail/error.hpp"
#include "studies/goodput/specs.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using goodput::Degradation;
using goodput::FailureEffect;
using goodput::Period;

constexpr double kDay = 86400.0;

/// Something of everything: all effects, groups, spares, dropped replicas, copies of checkpoints, maintenance.
GoodputSpec everything() {
  GoodputSpec spec;
  spec.job = {32, 8, 8, 4};
  spec.spares = {8, 1, 2};
  spec.days = 60.0;
  spec.server_spread = 0.7;
  FailureSource gpu = servers_fail(400.0 * kDay);
  gpu.name = "gpu";
  gpu.per_server = 8;
  gpu.repair = {RandomTime::Law::kLogNormal, 2.0 * kDay, 1.5, 0.0, 0.0, {}};
  gpu.detection = RandomTime::constant(30.0);
  FailureSource slow = gpu;
  slow.name = "slow";
  slow.effect = FailureEffect::kSlow;
  slow.degradation = Degradation::kCompute;
  slow.factor = 1.3;
  slow.time_to_failure = {RandomTime::Law::kWeibull, 900.0 * kDay, 0.7, 0.0, 0.0, {}};
  FailureSource silent = gpu;
  silent.name = "silent";
  silent.effect = FailureEffect::kSilent;
  silent.detection = RandomTime::exponential(kDay / 2.0);
  silent.time_to_failure = RandomTime::exponential(3000.0 * kDay);
  FailureSource power = servers_fail(100.0 * kDay, 3600.0);
  power.name = "power";
  power.per_server = 0;
  power.servers_per_part = 8;
  FailureSource software = servers_fail(5.0 * kDay);
  software.name = "software";
  software.per_server = 0;
  software.parts = 1;
  FailureSource controller = software;  // nothing helps but its repair
  controller.name = "controller";
  controller.repair = RandomTime::constant(3600.0);
  spec.failures = {gpu, slow, silent, power, software, controller};
  spec.checkpoint = {goodput::IntervalRule::kDaly, 0.0, 20.0, 300.0};
  RecoveryOption drop = option(RecoveryAction::kDropReplica, 60.0, Rollback::kStep);
  drop.rejoin = {{"catch up", RandomTime::constant(45.0)}};
  RecoveryOption swap = option(RecoveryAction::kSwapInRack, 26.0, Rollback::kStep);
  swap.for_slow = true;
  spec.recovery = {swap, option(RecoveryAction::kSwap, 300.0), drop, option(RecoveryAction::kRestart, 200.0),
                   option(RecoveryAction::kWait, 600.0)};
  spec.maintenance = {10.0, RandomTime::constant(7200.0)};
  return spec;
}

TEST(History, BooksAddUpToThePicosecond) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const GoodputSpec spec = everything();
    const History history = history_of(spec, 7.3, seed);
    EXPECT_EQ(history.wall, LongTime::from_days(spec.days));
    EXPECT_EQ(history.books.total(), history.wall);
    for (const LongTime t : history.books.of) EXPECT_GE(t, LongTime{});
  }
}

TEST(History, UsesEveryKindOfTime) {
  goodput::TimeBooks sum;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const History history = history_of(everything(), 7.3, seed);
    for (std::size_t u = 0; u < goodput::kTimeUses; ++u) sum.of[u] += history.books.of[u];
  }
  for (std::size_t u = 0; u < goodput::kTimeUses; ++u) {
    EXPECT_GT(sum.of[u], LongTime{}) << name(static_cast<TimeUse>(u));
  }
}

TEST(History, TheSameSeedGivesTheSameHistory) {
  EXPECT_EQ(history_of(everything(), 7.3, 5), history_of(everything(), 7.3, 5));
  EXPECT_NE(history_of(everything(), 7.3, 5).hash, history_of(everything(), 7.3, 6).hash);
}

// A failure every 10^9 years: none is drawn in 30 days, and every picosecond is that of the run without the section.
TEST(History, FailuresThatAreNotDrawnChangeNothing) {
  GoodputSpec with = everything();
  with.failures.erase(with.failures.begin() + 1, with.failures.end());
  with.failures[0].time_to_failure = RandomTime::exponential(1e9 * 365.0 * kDay / 1e6);
  with.steps = 100'000;
  with.checkpoint.rule = goodput::IntervalRule::kFixed;
  with.checkpoint.interval_s = 3600.0;
  with.maintenance = {};
  GoodputSpec without = with;
  without.failures.clear();
  const History a = history_of(with, 7.3);
  const History b = history_of(without, 7.3);
  EXPECT_EQ(a.sources[0].failures, 0u);
  EXPECT_EQ(a.books, b.books);
  EXPECT_EQ(a.wall, b.wall);
  // 7.3 s x 100,000 steps; a checkpoint of 20 s before each step whose number is a multiple of round(3600 / 7.3) = 493:
  // 202.
  EXPECT_EQ(a.books[TimeUse::kProductive], LongTime::from_seconds(730'000.0));
  EXPECT_EQ(a.books[TimeUse::kCheckpoint], LongTime::from_seconds(20.0 * 202));
  EXPECT_EQ(a.wall, LongTime::from_seconds(730'000.0 + 20.0 * 202));
  EXPECT_EQ(a.steps, 100'000);
}

// One fault by a trace, at 100 s, of a job with steps of 10 s and a checkpoint of 5 s after every 3. Checkpoints end at 35,
// 70 and 105: at 100 the third is about to begin, and 30 s of work are lost. Detection takes 7 s, the repair ends at 160 s,
// the restart takes 20 s: work goes on at 180 s.
TEST(History, AFaultOfATraceByHand) {
  GoodputSpec spec;
  spec.days = 400.0 / kDay;
  spec.checkpoint.interval_s = 30.0;
  spec.checkpoint.stall_s = 5.0;
  spec.recovery = {option(RecoveryAction::kWait, 20.0)};
  spec.trace = goodput::FaultTrace{{{100.0 / kDay, 160.0 / kDay, 0, "x"}}, false, RandomTime::constant(7.0)};
  const History history = history_of(spec, 10.0);
  EXPECT_NEAR(history.books[TimeUse::kLost].seconds(), 30.0, 1e-6);
  EXPECT_NEAR(history.books[TimeUse::kDetecting].seconds(), 7.0, 1e-6);
  EXPECT_NEAR(history.books[TimeUse::kWaiting].seconds(), 53.0, 1e-6);
  EXPECT_NEAR(history.books[TimeUse::kRecovering].seconds(), 20.0, 1e-6);
  // 60 s before; then 220 s with checkpoints at 210, 245, 280, 315, 350 and 385: 6 of 5 s.
  EXPECT_NEAR(history.books[TimeUse::kCheckpoint].seconds(), 10.0 + 30.0, 1e-6);
  EXPECT_NEAR(history.books[TimeUse::kProductive].seconds(), 60.0 + 190.0, 1e-6);
  EXPECT_EQ(history.interruptions, 1u);
}

// The same fault with a copy of 40 s, to which the interval is raised: 4 steps. Checkpoints begin at 40 s (durable at 85 s)
// and at 85 s (not durable at 100 s). Lost is the work after the first: from 45 s to 85 s and from 90 s to 100 s.
TEST(History, ACheckpointIsDurableOnlyAfterItsCopy) {
  GoodputSpec spec;
  spec.days = 200.0 / kDay;
  spec.checkpoint = {goodput::IntervalRule::kFixed, 30.0, 5.0, 40.0};
  spec.recovery = {option(RecoveryAction::kWait, 20.0)};
  spec.trace = goodput::FaultTrace{{{100.0 / kDay, 100.0 / kDay, 0, "x"}}, false, {}};
  const History history = history_of(spec, 10.0);
  EXPECT_NEAR(history.books[TimeUse::kLost].seconds(), 50.0, 1e-6);
}

// A slow part: 8 of 10 s a step from 100 s on. 100 s at 10 s a step are 10 steps; then 100 s at 12.5 s are 8.
TEST(History, ASlowPartIsBookedAsTheDifference) {
  GoodputSpec spec;
  spec.days = 200.0 / kDay;
  spec.checkpoint.interval_s = 1e6;
  spec.recovery = {option(RecoveryAction::kWait, 0.0)};
  FailureSource slow = servers_fail(1e3, 1e9);
  slow.effect = FailureEffect::kSlow;
  slow.degradation = Degradation::kCompute;
  slow.factor = 1.25;
  slow.time_to_failure = RandomTime::constant(100.0);
  spec.failures = {slow};
  const History history = history_of(spec, 10.0);
  EXPECT_EQ(history.books[TimeUse::kProductive], LongTime::from_seconds(180.0));
  EXPECT_EQ(history.books[TimeUse::kDegraded], LongTime::from_seconds(20.0));
  EXPECT_EQ(history.interruptions, 0u);
}

TEST(History, BadValuesNameTheField) {
  GoodputSpec spec = one_server(1.0, 1.0, 0.0, 0.0, 1.0);
  EXPECT_THAT(error_of([&] {
                GoodputSpec s = spec;
                s.recovery.clear();
                static_cast<void>(history_of(s));
              }).where(),
              "recovery");
  EXPECT_THAT(error_of([&] {
                GoodputSpec s = spec;
                s.job.replicas = 2;
                static_cast<void>(history_of(s));
              }).where(),
              "job.replicas");
  EXPECT_THAT(error_of([&] {
                GoodputSpec s = spec;
                s.days = 1e9;
                static_cast<void>(history_of(s));
              }).where(),
              "days");
  EXPECT_THAT(error_of([&] {
                GoodputSpec s = spec;
                s.days = 30000;
                s.failures[0].time_to_failure.mean_s = 1e-3;
                static_cast<void>(history_of(s));
              }).where(),
              "failures[0].time_to_failure");
  EXPECT_THAT(error_of([&] {
                GoodputSpec s = spec;
                s.policy = "in_ordr";
                static_cast<void>(history_of(s));
              }).hint(),
              ::testing::HasSubstr("in_order"));
}

}  // namespace
}  // namespace photonrail::test
