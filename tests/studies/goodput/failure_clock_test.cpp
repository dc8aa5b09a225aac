// How often which parts fail.
#include "studies/goodput/process/failure_clock.hpp"
#include "studies/goodput/specs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace photonrail::test {
namespace {

using goodput::Failure;
using goodput::FailureClock;

std::vector<Failure> all(const GoodputSpec& spec, std::uint64_t seed = 1) {
  FailureClock clock(spec, seed, LongTime::from_days(spec.days));
  std::vector<Failure> failures;
  while (clock.next()) {
    failures.push_back(clock.pop());
    clock.renew(failures.back().source, failures.back().part, failures.back().at);
  }
  return failures;
}

GoodputSpec many_servers(RandomTime time_to_failure) {
  GoodputSpec spec;
  spec.job.servers = 1000;
  spec.days = 1000.0;
  spec.failures = {servers_fail(1.0)};
  spec.failures[0].time_to_failure = std::move(time_to_failure);
  spec.recovery = {option(RecoveryAction::kWait, 0.0)};
  return spec;
}

// 1,000 servers x 1,000 days / 10 days are 100,000 failures, +- 4 x 316.
TEST(FailureClock, ExponentialPartsAreAPoissonProcess) {
  const auto failures = all(many_servers(RandomTime::exponential(10.0 * 86400.0)));
  EXPECT_NEAR(static_cast<double>(failures.size()), 100'000.0, 1265.0);
  for (std::size_t i = 1; i < failures.size(); ++i) ASSERT_LE(failures[i - 1].at, failures[i].at);
  std::map<std::uint32_t, int> by_part;
  for (const Failure& f : failures) ++by_part[f.part];
  EXPECT_EQ(by_part.size(), 1000u);
}

// Renewal theory: 1,000 days / 10 days, and (cv^2 - 1) / 2 more for parts that are new at the start; a Weibull distribution
// of shape 0.7 has cv^2 = gamma(1 + 2 / k) / gamma(1 + 1 / k)^2 - 1 = 2.1; a log-normal one of sigma 1 has e - 1 = 1.72.
TEST(FailureClock, OtherLawsHaveTheirMean) {
  const double cv2 = std::tgamma(1.0 + 2.0 / 0.7) / std::pow(std::tgamma(1.0 + 1.0 / 0.7), 2.0) - 1.0;
  const auto weibull = all(many_servers({RandomTime::Law::kWeibull, 10.0 * 86400.0, 0.7, 0.0, 0.0, {}}));
  EXPECT_NEAR(static_cast<double>(weibull.size()), 100'000.0 + 1000.0 * (cv2 - 1.0) / 2.0, 4.0 * 316.0 * std::sqrt(cv2));
  const auto log_normal = all(many_servers({RandomTime::Law::kLogNormal, 10.0 * 86400.0, 1.0, 0.0, 0.0, {}}));
  EXPECT_NEAR(static_cast<double>(log_normal.size()), 100'000.0 + 1000.0 * 0.359, 4.0 * 316.0 * 1.31);
  const auto samples = all(many_servers({RandomTime::Law::kSamples, 0.0, 1.0, 0.0, 0.0, {5.0 * 86400.0, 15.0 * 86400.0}}));
  EXPECT_NEAR(static_cast<double>(samples.size()), 100'000.0 - 1000.0 * 0.375, 4.0 * 316.0 * 0.5);
}

// A gamma distribution of shape 0.5 and mean 1 has a variance of 2: failures of a server in 100 mean times have the
// variance 100 + 100^2 x 2 = 141^2, not 10^2. The total stays.
TEST(FailureClock, UnequalServersAreOverDispersed) {
  GoodputSpec spec = many_servers(RandomTime::exponential(10.0 * 86400.0));
  spec.server_spread = 0.5;
  std::map<std::uint32_t, int> by_part;
  std::size_t total = 0;
  for (const Failure& f : all(spec)) {
    ++by_part[f.part];
    ++total;
  }
  double squares = 0.0;
  for (std::uint32_t s = 0; s < 1000; ++s) squares += std::pow(by_part[s] - 100.0, 2.0) / 1000.0;
  EXPECT_NEAR(static_cast<double>(total), 100'000.0, 4.0 * 141.0 * std::sqrt(1000.0));
  EXPECT_GT(std::sqrt(squares), 100.0);
  EXPECT_LT(std::sqrt(squares), 190.0);
}

TEST(FailureClock, SparesDoNotShiftTheFailuresOfTheJob) {
  GoodputSpec few = many_servers(RandomTime::exponential(30.0 * 86400.0));
  few.days = 20.0;
  GoodputSpec more = few;
  more.spares.anywhere = 50;
  std::vector<Failure> of_job;
  for (const Failure& f : all(more)) {
    if (f.part < 1000) of_job.push_back(f);
  }
  const auto expected = all(few);
  ASSERT_EQ(of_job.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(of_job[i].at, expected[i].at);
    EXPECT_EQ(of_job[i].part, expected[i].part);
  }
}

}  // namespace
}  // namespace photonrail::test
