// Histories against closed forms of renewal theory.
#include "studies/goodput/closed_forms.hpp"
#include "studies/goodput/process/formulas.hpp"
#include "studies/goodput/process/history.hpp"
#include "studies/goodput/specs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace photonrail::test {
namespace {

using goodput::daly_interval_s;
using goodput::optimal_interval_s;
using goodput::young_interval_s;

struct Case {
  const char* name;
  double m_s, work_s, checkpoint_s, restart_s;
  double ettr;  ///< work / (M e^(R/M) (e^((work + C)/M) - 1)), computed apart from this code
};

// The mean times are those of jobs of published failure rates: 3.79, 6.5 and 2.34 failures per 1,000 servers and day.
constexpr Case kCases[] = {
    {"llama3_rate_10_min", 11134.8, 600, 30, 600, 0.87713}, {"llama3_rate_30_min", 11134.8, 1800, 5, 420, 0.88458},
    {"rsc1_16384_hourly", 6490.8, 3600, 60, 600, 0.66756},  {"rsc1_131072_2_min", 811.44, 120, 10, 120, 0.73411},
    {"rsc2_100000_10_min", 2953.846, 600, 0, 600, 0.73609}, {"young_optimum", 8280.0, 996.795, 60, 0, 0.88431},
};

class Renewal : public ::testing::TestWithParam<Case> {};

TEST_P(Renewal, TheFormulaIsThePublishedValue) {
  const Case& c = GetParam();
  EXPECT_NEAR(c.work_s / expected_segment_s(c.m_s, c.work_s, c.checkpoint_s, c.restart_s), c.ettr, 1e-4);
}

// 10^5 failures: the standard error of the ratio is about 1 / sqrt(10^5) of the overhead's, far below 1 % of the ETTR. The
// step is the work between two checkpoints, so that rounding to steps changes nothing.
TEST_P(Renewal, AHistoryOfAHundredThousandFailuresIsWithinOnePercent) {
  const Case& c = GetParam();
  const double days = 1e5 * c.m_s / 86400.0;
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kParts = 20;  // of 5,000 failures each, for the standard error
  std::uint64_t failures = 0;
  for (int part = 0; part < kParts; ++part) {
    const auto spec = one_server(c.m_s, c.work_s, c.checkpoint_s, c.restart_s, days / kParts);
    const History history = history_of(spec, c.work_s, 1 + static_cast<std::uint64_t>(part));
    sum += history.ettr();
    squares += history.ettr() * history.ettr();
    failures += history.failures;
  }
  const double mean = sum / kParts;
  const double error = std::sqrt((squares / kParts - mean * mean) / (kParts - 1));
  EXPECT_NEAR(static_cast<double>(failures), 1e5, 4.0 * std::sqrt(1e5));
  EXPECT_NEAR(mean, c.ettr, 0.01 * c.ettr);
  EXPECT_NEAR(mean, c.ettr, 4.0 * error);
}

INSTANTIATE_TEST_SUITE_P(, Renewal, ::testing::ValuesIn(kCases),
                         [](const auto& case_) { return std::string(case_.param.name); });

// sqrt(2 x 60 s x 8280 s) = 996.8 s.
TEST(Formulas, YoungOfAMinuteAndTwoHours) { EXPECT_NEAR(young_interval_s(60.0, 8280.0), 996.8, 0.05); }

// 996.795 (1 + sqrt(60 / 16560) / 3 + 60 / 16560 / 9) - 60 = 996.795 x (1 + 0.020064 + 0.000403) - 60 = 957.197.
TEST(Formulas, DalyCorrectsYoung) {
  EXPECT_NEAR(daly_interval_s(60.0, 8280.0), 957.197, 0.01);
  EXPECT_EQ(daly_interval_s(100.0, 50.0), 50.0);
}

TEST(Formulas, TheOptimumIsTheLeastOfTheExpectedTime) {
  for (const auto& [c, m] : {std::pair{60.0, 8280.0}, {5.0, 11134.8}, {600.0, 3600.0}}) {
    const double best = optimal_interval_s(c, m);
    const auto cost = [m = m, c = c](double t) { return expected_segment_s(m, t, c, 300.0) / t; };
    EXPECT_LT(cost(best), cost(best * 1.01));
    EXPECT_LT(cost(best), cost(best * 0.99));
    EXPECT_NEAR(daly_interval_s(c, m), best, 0.03 * best);
  }
}

// The same by simulation: of intervals swept over a factor of 16, the best is Young's within a factor of sqrt(2), and the
// ETTR there within 0.2 % of the best.
TEST(Formulas, ASweepOfIntervalsFindsYoungs) {
  const double young = young_interval_s(60.0, 8280.0);
  double best = 0.0;
  double best_interval = 0.0;
  double at_young = 0.0;
  for (const double factor : {0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0}) {
    const double interval = young * factor;
    const double ettr = history_of(one_server(8280.0, interval, 60.0, 0.0, 4000.0), interval).ettr();
    if (factor == 1.0) at_young = ettr;
    if (ettr <= best) continue;
    best = ettr;
    best_interval = interval;
  }
  EXPECT_GE(best_interval, young * 0.69);
  EXPECT_LE(best_interval, young * 1.41);
  EXPECT_NEAR(at_young, best, 0.002 * best);
}

// Two histories, one without a loss: around 0.95 Student's t of one degree of freedom reaches 12.7 x 0.05 far. No share
// is above 1, nor a number of failures below 0.
TEST(Summary, IntervalsEndWhereNoHistoryCanBe) {
  GoodputSpec spec = one_server(8280.0, 600.0, 60.0, 0.0, 1.0);
  goodput::History good;
  good.wall = LongTime::from_seconds(100.0);
  good.books[goodput::TimeUse::kProductive] = good.wall;
  good.sources.resize(spec.failures.size());
  goodput::History bad = good;
  bad.books[goodput::TimeUse::kProductive] = LongTime::from_seconds(90.0);
  bad.books[goodput::TimeUse::kLost] = LongTime::from_seconds(10.0);
  bad.failures = 1;
  const goodput::History both[] = {good, bad};
  const goodput::GoodputSummary summary = summarise(spec, Duration{1'000'000}, both);
  EXPECT_NEAR(summary.ettr.mean, 0.95, 1e-12);
  EXPECT_NEAR(summary.ettr.low, 0.95 - 12.706 * 0.05, 1e-9);
  EXPECT_EQ(summary.ettr.high, 1.0);
  EXPECT_EQ(summary.goodput.high, 1.0);
  EXPECT_EQ(summary.failures.low, 0.0);
  EXPECT_GT(summary.failures.high, 1.0);
}

// n = 3, p = 0.5: more than 1 down is 3/8 + 1/8.
TEST(Formulas, KOfN) {
  EXPECT_NEAR(more_than_k_down(3, 1, 0.5), 0.5, 1e-12);
  EXPECT_EQ(more_than_k_down(3, 3, 0.5), 0.0);
  // p = 0.1, n = 2: one or both are down with 0.19, both with 0.01.
  EXPECT_NEAR(more_than_k_down(2, 0, 0.1), 0.19, 1e-12);
  EXPECT_NEAR(more_than_k_down(2, 1, 0.1), 0.01, 1e-12);
}

// 10 servers for a job of 8: exponential failures (mean U) and repairs (mean D) leave each down with D / (U + D),
// independently, idle or not. The job waits exactly while more than 2 are down. Nothing else costs time here, so the share
// of the time in which it waits is more_than_k_down(10, 2, D / (U + D)).
TEST(Formulas, SparesOfAJobAreKOfN) {
  GoodputSpec spec;
  spec.job.servers = 8;
  spec.spares.anywhere = 2;
  spec.days = 36500.0;
  spec.failures = {servers_fail(9.0 * 86400.0)};
  spec.failures[0].repair = RandomTime::exponential(86400.0);
  spec.checkpoint.interval_s = 1e6;
  spec.recovery = {option(RecoveryAction::kSwap, 0.0, Rollback::kStep),
                   option(RecoveryAction::kWait, 0.0, Rollback::kStep)};
  const double expected = more_than_k_down(10, 2, 0.1);
  double waiting = 0.0;
  std::uint64_t failures = 0;
  constexpr int kSeeds = 3;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const History history = history_of(spec, 10.0, seed);
    waiting += history.books[goodput::TimeUse::kWaiting].seconds() / history.wall.seconds() / kSeeds;
    for (const auto& source : history.sources) failures += source.failures;
  }
  EXPECT_GE(failures, 100'000u);
  EXPECT_NEAR(waiting, expected, 0.01 * expected);
}

}  // namespace
}  // namespace photonrail::test
