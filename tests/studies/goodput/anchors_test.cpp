// Published rates and goodput figures. The inputs are facts of the sources named at each; nothing is fitted to the results.
#include "studies/goodput/closed_forms.hpp"
#include "studies/goodput/process/history.hpp"
#include "studies/goodput/specs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace photonrail::test {
namespace {

using goodput::GoodputSummary;

constexpr double kDayS = 86400.0;

/// A job whose servers fail so often in 1,000 days each, and restart on spares that are always there.
GoodputSpec job_of(std::uint32_t servers, double per_1000_server_days, double days) {
  GoodputSpec spec;
  spec.job.servers = servers;
  spec.days = days;
  spec.failures = {servers_fail(1000.0 * kDayS / per_1000_server_days)};
  spec.recovery = {option(RecoveryAction::kWait, 0.0)};
  return spec;
}

GoodputSummary summary_of(const GoodputSpec& spec, double step_s, std::uint32_t seeds) {
  std::vector<History> histories;
  for (std::uint32_t s = 1; s <= seeds; ++s) histories.push_back(history_of(spec, step_s, s));
  return goodput::summarise(spec, from_seconds(step_s), histories);
}

// arXiv 2407.21783: 419 unexpected interruptions of 16,384 GPUs (2,048 servers) in 54 days: 419 / (2048 x 54) x 1000
// = 3.79, and 54 x 24 h / 419 = 3.093 h.
TEST(Anchors, Llama3RateAndMeanTime) {
  EXPECT_NEAR(419.0 / (2048.0 * 54.0) * 1000.0, 3.79, 0.005);
  EXPECT_NEAR(job_of(2048, 419.0 / (2048.0 * 54.0) * 1000.0, 54.0).job_mttf_s() / 3600.0, 3.093, 0.0005);
}

// A Poisson count of 419 has a deviation of 20.5: the published one is one draw. 100 seeds give the mean within 3 x 2.05,
// and 95 of them within 41; at least 88 with a probability of more than 0.999.
TEST(Anchors, Llama3CountOfInterruptions) {
  const GoodputSpec spec = job_of(2048, 3.79, 54.0);
  int within = 0;
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto failures = static_cast<double>(history_of(spec, 10.0, seed).failures);
    sum += failures;
    within += std::fabs(failures - 419.0) <= 41.0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 100.0, 3.79 * 2.048 * 54.0, 6.2);
  EXPECT_GE(within, 88);
}

// arXiv 2410.21680: 6.50 failures per 1,000 server-days are 1.80 h at 16,384 GPUs and 0.225 h at 131,072.
TEST(Anchors, RscMeanTimeByJobSize) {
  EXPECT_NEAR(job_of(2048, 6.5, 1.0).job_mttf_s() / 3600.0, 1.8, 0.018);
  EXPECT_NEAR(job_of(16384, 6.5, 1.0).job_mttf_s() / 3600.0, 0.2254, 0.0005);
  EXPECT_NEAR(job_of(12500, 2.34, 1.0).job_mttf_s(), 2953.846, 0.001);
}

// The same source: at least 0.90 within 0.02 for 2,048 to 4,096 GPUs with hourly checkpoints; restarts of 5 to 20 minutes,
// of which the middle is taken.
TEST(Anchors, RscHourlyCheckpoints) {
  for (const std::uint32_t servers : {256U, 512U}) {
    GoodputSpec spec = job_of(servers, 6.5, 200.0);
    spec.checkpoint.interval_s = 3600.0;
    spec.recovery = {option(RecoveryAction::kWait, 750.0)};
    EXPECT_GE(summary_of(spec, 10.0, 20).ettr.mean, 0.88) << servers;
  }
}

// The same source: 0.93 with checkpoints every 5 minutes, for a job of a size that the anchor does not name. To first order
// (150 s + restart) / M is lost. 16,384 GPUs (M = 6,493 s) lose 7 % with a restart of 5 minutes, the least of the published
// ones. 2,048 and 4,096 GPUs lose 1.7 and 3.4 % with 750 s, and would need restarts of 58 and 28 minutes for it.
TEST(Anchors, RscCheckpointsEveryFiveMinutes) {
  struct Case {
    std::uint32_t servers;
    double restart_s;
    double ettr;
  };
  for (const Case& c : {Case{256, 750, 0.983}, Case{512, 750, 0.966}, Case{2048, 300, 0.933}, Case{2048, 750, 0.871},
                        Case{256, 3480, 0.931}, Case{512, 1667, 0.932}}) {
    GoodputSpec spec = job_of(c.servers, 6.5, 100.0);
    spec.checkpoint.interval_s = 300.0;
    spec.recovery = {option(RecoveryAction::kWait, c.restart_s)};
    const double m = spec.job_mttf_s();
    EXPECT_NEAR(300.0 / expected_segment_s(m, 300.0, 0.0, c.restart_s), c.ettr, 0.003) << c.servers << ", " << c.restart_s;
    EXPECT_NEAR(summary_of(spec, 10.0, 4).ettr.mean, c.ettr, 0.015) << c.servers << ", " << c.restart_s;
  }
}

// The same source: 100,000 GPUs at 2.34 need an interval and a restart of about 2 minutes for an ETTR of 0.9. With M = 2954
// s and both x: x / (M e^(x/M) (e^(x/M) - 1)) = 0.9 at x = 3.4 minutes, 1.7 times the published figure. That has no
// detection: by the health checks of the source, every 5 minutes, a failure is found after 2.5 minutes on average, and x
// is 1.8 minutes.
TEST(Anchors, RscHundredThousandGpus) {
  constexpr double kM = 2953.846;
  const auto ettr = [](double x, double detection) { return x / expected_segment_s(kM, x, 0.0, x + detection); };
  EXPECT_NEAR(ettr(3.4 * 60.0, 0.0), 0.9, 0.005);
  EXPECT_NEAR(ettr(1.8 * 60.0, 150.0), 0.9, 0.005);
  GoodputSpec spec = job_of(12500, 2.34, 20.0);
  spec.failures[0].detection = {RandomTime::Law::kUniform, 0.0, 1.0, 0.0, 300.0, {}};
  spec.checkpoint.interval_s = 108.0;
  spec.recovery = {option(RecoveryAction::kWait, 108.0)};
  EXPECT_NEAR(summary_of(spec, 108.0, 20).ettr.mean, 0.9, 0.01);
}

// Llama 3: more than 0.90 effective time with asynchronous checkpoints and automation. Restart of 420 s; a checkpoint every
// 10 minutes that stops the job for 5 s and takes 2 minutes to copy; detection of 30 s: 14.5 of 186 minutes, and 0.8 %.
TEST(Anchors, Llama3EffectiveTime) {
  GoodputSpec spec = job_of(2048, 3.79, 54.0);
  spec.failures[0].detection = RandomTime::constant(30.0);
  spec.checkpoint = {goodput::IntervalRule::kFixed, 600.0, 5.0, 120.0};
  spec.recovery = {option(RecoveryAction::kWait, 420.0)};
  const GoodputSummary summary = summary_of(spec, 10.0, 20);
  EXPECT_GE(summary.ettr.mean, 0.90);
  EXPECT_LE(summary.ettr.mean, 0.96);
}

// arXiv 2602.00277: a failure every 18 minutes and 10 minutes of stall leave (18 - 10) / 18 = 44.4 %; with 3 minutes, when
// the other replicas go on, (18 - 3) / 18 = 83.3 % before the missing replica is counted; 80 % are published.
TEST(Anchors, FtHsdp) {
  for (const auto& [stall_min, expected] : {std::pair{10.0, 0.444}, {3.0, 0.833}}) {
    GoodputSpec spec;
    spec.days = 18.0 * 100.0 / 1440.0;
    spec.failures = {servers_fail(0.0)};
    spec.failures[0].time_to_failure = RandomTime::constant(18.0 * 60.0);
    spec.checkpoint.interval_s = 1e6;
    spec.recovery = {option(RecoveryAction::kWait, stall_min * 60.0, Rollback::kStep)};
    // The first failure comes after 18 minutes without a stall before it: 1 / 100 of the rest.
    EXPECT_NEAR(history_of(spec, 1.0).ettr(), expected, 0.01);
  }
}

// arXiv 2508.03674, figure 8c: circuits re-pointed and job started 1.1 s after the failure, collectives at 4.5 s, first
// step done at 25.6 s. arXiv 2505.23105: about 1 s to swap and restart.
TEST(Anchors, SwapByCircuits) {
  for (const auto& [stages, total] : {std::pair{std::vector{1.1, 3.4, 21.1}, 25.6}, {std::vector{1.0}, 1.0}}) {
    GoodputSpec spec;
    spec.job.servers = 16;
    spec.spares = {16, 1, 0};
    spec.days = 1.0;
    RecoveryOption swap = option(RecoveryAction::kSwapInRack, 0.0, Rollback::kStep);
    swap.stages.clear();
    for (const double s : stages) swap.stages.push_back({"stage", RandomTime::constant(s)});
    spec.recovery = {swap, option(RecoveryAction::kWait, 0.0)};
    spec.trace = goodput::FaultTrace{{{0.5, 9.0, 3, "accelerator"}}, false, {}};
    const History history = history_of(spec);
    EXPECT_EQ(history.swaps, 1u);
    EXPECT_NEAR(history.books[TimeUse::kRecovering].seconds(), total, 1e-9);
    EXPECT_EQ(history.books[TimeUse::kWaiting], LongTime{});
  }
}

// NSDI 2024 (TPU v4): 48 OCSs of a pod, 0.04 % fail in a day, three days of repair, any of them down stops a job of several
// cubes: (1 / (1 + 0.0004 x 3))^48 = 0.944.
TEST(Anchors, AnyOf48SwitchesStopsTheJob) {
  GoodputSpec spec;
  spec.days = 20000.0;
  FailureSource ocs;
  ocs.name = "ocs";
  ocs.parts = 48;
  ocs.time_to_failure = RandomTime::exponential(kDayS / 0.0004);
  ocs.repair = RandomTime::exponential(3.0 * kDayS);
  spec.failures = {ocs};
  spec.checkpoint.interval_s = 1e7;
  spec.recovery = {option(RecoveryAction::kWait, 0.0, Rollback::kStep)};
  const double expected = std::pow(1.0 / (1.0 + 0.0004 * 3.0), 48.0);
  EXPECT_NEAR(expected, 0.944, 0.0005);
  const GoodputSummary summary = summary_of(spec, 10.0, 20);
  EXPECT_NEAR(summary.ettr.mean, expected, 0.01 * expected);
}

// Service notes of NVL72: a switch tray takes the 18 servers of 4 GPUs of its rack.
TEST(Anchors, BlastRadiusOfASwitchTray) {
  GoodputSpec spec;
  spec.job = {36, 4, 1, 1};
  spec.days = 400.0;
  FailureSource tray;
  tray.name = "switch tray";
  tray.servers_per_part = 18;
  tray.time_to_failure = RandomTime::exponential(50.0 * kDayS);
  tray.repair = {RandomTime::Law::kUniform, 0.0, 1.0, 3600.0, 4.0 * 3600.0, {}};
  spec.failures = {tray};
  spec.recovery = {option(RecoveryAction::kWait, 0.0)};
  const GoodputSummary summary = summary_of(spec, 10.0, 3);
  EXPECT_EQ(summary.sources[0].gpus_hit, 72u);
  EXPECT_EQ(summary.sources[0].parts, 2u);
  // At least an hour of waiting for the 144 GPUs of the job, at most four and the hour since the checkpoint.
  EXPECT_GE(summary.sources[0].gpu_hours_each, 144.0);
  EXPECT_LE(summary.sources[0].gpu_hours_each, 144.0 * 5.0);
}

// Alibaba HPN (SIGCOMM 2024): 0.057 % of the links from NIC to switch fail in a month, and a large job crashes once or
// twice in it. A job of 3,000 GPUs with a link each has 1.71 such failures a month; the size is taken from the middle of
// what the two figures allow, 1,754 to 3,509.
TEST(Anchors, HpnLinksCrashALargeJobOnceOrTwiceAMonth) {
  GoodputSpec spec;
  spec.job = {375, 8, 1, 1};
  spec.days = 30.0;
  FailureSource link;
  link.name = "nic to switch";
  link.per_server = 8;
  link.time_to_failure = RandomTime::exponential(30.0 * kDayS / 0.00057);
  spec.failures = {link};
  spec.recovery = {option(RecoveryAction::kWait, 600.0)};
  const GoodputSummary summary = summary_of(spec, 10.0, 400);
  EXPECT_NEAR(summary.failures.mean, 1.71, 3.0 * std::sqrt(1.71 / 400.0));
  EXPECT_GT(summary.failures.mean, 1.0);
  EXPECT_LT(summary.failures.mean, 2.0);
}

// OPT-175B logbook: about 2 of 128 machines lost a day, 90 restarts in 33 days. The machines alone are 66 of these.
TEST(Anchors, Opt175bMachinesAreTwoThirdsOfItsRestarts) {
  const GoodputSpec spec = job_of(128, 2.0 / 128.0 * 1000.0, 33.0);
  const GoodputSummary summary = summary_of(spec, 10.0, 100);
  EXPECT_NEAR(summary.failures.mean, 66.0, 3.0 * std::sqrt(66.0 / 100.0));
  EXPECT_LT(summary.failures.mean, 90.0);
}

// NSDI 2024 (TPU v4): 0.08 % of the machines of 4 chips fail in a day: a slice of 4,096 chips loses one every 29.3 h.
TEST(Anchors, TpuV4Machines) { EXPECT_NEAR(job_of(1024, 0.8, 1.0).job_mttf_s() / 3600.0, 24.0 / (1024.0 * 0.0008), 1e-9); }

// arXiv 2508.03674: 2 spare servers of 64 accelerators (32 servers of 2) cover more than 95 % of sampled failures. With the
// 2.31 % of servers that are down on average in the trace of arXiv 2502.03885: more than 2 of 32 are down 3.8 % of the
// time.
TEST(Anchors, MorphluxSpares) {
  const double uncovered = more_than_k_down(32, 2, 0.0231);
  EXPECT_NEAR(uncovered, 0.038, 0.001);
  EXPECT_LT(uncovered, 0.05);
  EXPECT_GT(more_than_k_down(32, 1, 0.0231), 0.05);
}

// arXiv 2509.16293: 0.97 +- 0.01 at 9,600 GPUs with detection in 30 s. Rate of Llama 3, checkpoints every 5 minutes without
// a stall, restart of 420 s: the source has none of the three in what we know of it.
TEST(Anchors, ByteRobustDense) {
  GoodputSpec spec = job_of(1200, 3.79, 90.0);
  spec.failures[0].detection = RandomTime::constant(30.0);
  spec.checkpoint.interval_s = 300.0;
  spec.recovery = {option(RecoveryAction::kWait, 420.0)};
  EXPECT_NEAR(summary_of(spec, 10.0, 20).ettr.mean, 0.97, 0.01);
}

}  // namespace
}  // namespace photonrail::test
