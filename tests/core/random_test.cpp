#include "photonrail/core/random.hpp"

#include "photonrail/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace photonrail {
namespace {

constexpr int kDraws = 100'000;
constexpr double kBound = 5.0;  // standard errors: a right generator misses it once in 1.7 million seeds

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

template <class Draw>
Moments moments(Draw draw) {
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(RandomStreamTest, FirstNumbersArePinned) {
  // Of this generator (xoshiro256**, state from splitmix64 of seed xor FNV-1a of the name), worked out by a second
  // implementation that reproduces the published first outputs of xoshiro256** for the state {1, 2, 3, 4}.
  RandomStream random(1, "switching");
  EXPECT_EQ(random.next(), 0xff9971f9415c46a0u);
  EXPECT_EQ(random.next(), 0x51230ce6894bd257u);
  EXPECT_EQ(random.next(), 0x201bd7d47027da8eu);
  EXPECT_EQ(random.next(), 0x45e429ac562981abu);
}

TEST(RandomStreamTest, UniformIsTheUpper53Bits) {
  // 0xff9971f9415c46a0 / 2^11 / 2^53, from the numbers above.
  RandomStream random(1, "switching");
  EXPECT_EQ(random.uniform(), 0.9984351380856973);
  EXPECT_EQ(random.uniform(), 0.31694107654884296);
  EXPECT_EQ(random.uniform(), 0.12542485176541562);
}

TEST(RandomStreamTest, StreamsDifferBySeedAndByName) {
  RandomStream one(1, "a");
  RandomStream other_seed(2, "a");
  RandomStream other_name(1, "b");
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto x = one.next();
    equal += (x == other_seed.next()) + (x == other_name.next());
  }
  EXPECT_EQ(equal, 0);
}

TEST(RandomStreamTest, UniformHasTheMomentsOfTheUnitInterval) {
  RandomStream random(3, "uniform");
  const Moments m = moments([&] {
    const double x = random.uniform();
    EXPECT_GE(x, 0.0);
    EXPECT_LT(x, 1.0);
    return x;
  });
  // Mean 1/2 with variance 1/12 a draw; variance 1/12 with variance E(x - 1/2)^4 - 1/144 = 1/80 - 1/144 = 1/180 a draw.
  EXPECT_NEAR(m.mean, 0.5, kBound * std::sqrt(1.0 / 12.0 / kDraws));
  EXPECT_NEAR(m.variance, 1.0 / 12.0, kBound * std::sqrt(1.0 / 180.0 / kDraws));
}

TEST(RandomStreamTest, BelowFillsItsBinsEvenly) {
  constexpr std::uint64_t kBins = 10;
  RandomStream random(4, "below");
  std::array<int, kBins> bins{};
  for (int i = 0; i < kDraws; ++i) ++bins.at(random.below(kBins));
  // Chi squared of 9 degrees of freedom: mean 9, variance 18; beyond 50 lies 1 in 10 million.
  double chi_squared = 0.0;
  const double expected = static_cast<double>(kDraws) / kBins;
  for (const int n : bins) chi_squared += (n - expected) * (n - expected) / expected;
  EXPECT_LT(chi_squared, 50.0);
  EXPECT_GT(chi_squared, 0.5);  // too even is no chance either: below 0.5 lies 1 in 50,000
}

TEST(RandomStreamTest, BelowHasNoBiasWhereARemainderWouldHave) {
  // n = 3 x 2^62: a plain remainder of 64 bits would hit [0, 2^62) twice as often as each other third, that is in half
  // of all draws in place of a third. Binomial deviation: sqrt(1/3 x 2/3 / draws).
  const std::uint64_t third = std::uint64_t{1} << 62;
  RandomStream random(5, "bias");
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(3 * third) < third ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(low) / kDraws, 1.0 / 3.0, kBound * std::sqrt(2.0 / 9.0 / kDraws));
}

TEST(RandomStreamTest, BelowKeepsItsRange) {
  RandomStream random(6, "range");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(random.below(1), 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(7), 7u);
  EXPECT_THROW((void)random.below(0), InternalError);
}

TEST(RandomStreamTest, NormalHasTheMomentsOfTheStandardOne) {
  RandomStream random(7, "normal");
  int within_one = 0;
  const Moments m = moments([&] {
    const double x = random.normal();
    within_one += std::abs(x) < 1.0 ? 1 : 0;
    return x;
  });
  // Variance of x is 1, of x^2 is 3 - 1 = 2; P(|x| < 1) = 0.682689.
  EXPECT_NEAR(m.mean, 0.0, kBound * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(m.variance, 1.0, kBound * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(static_cast<double>(within_one) / kDraws, 0.682689, kBound * std::sqrt(0.6827 * 0.3173 / kDraws));
}

TEST(RandomStreamTest, GammaHasItsMoments) {
  for (const double shape : {0.1, 0.7, 1.0, 5.0}) {
    RandomStream random(13, "gamma");
    const Moments m = moments([&] { return std::exp(random.log_gamma(shape)); });
    // Mean and variance are the shape a; the fourth central moment is 3 a^2 + 6 a, so that the variance of the variance is
    // 2 a^2 + 6 a a draw.
    EXPECT_NEAR(m.mean, shape, kBound * std::sqrt(shape / kDraws)) << shape;
    EXPECT_NEAR(m.variance, shape, kBound * std::sqrt((2 * shape * shape + 6 * shape) / kDraws)) << shape;
  }
}

TEST(RandomStreamTest, GammaOfShapeOneIsExponential) {
  RandomStream random(14, "gamma");
  int below_one = 0;
  for (int i = 0; i < kDraws; ++i) below_one += random.log_gamma(1.0) < 0.0 ? 1 : 0;
  const double p = 1.0 - std::exp(-1.0);
  EXPECT_NEAR(static_cast<double>(below_one) / kDraws, p, kBound * std::sqrt(p * (1 - p) / kDraws));
}

TEST(RandomStreamTest, GammaOfASmallShapeHasALogarithm) {
  RandomStream random(15, "gamma");
  double least = 0.0;
  for (int i = 0; i < 1000; ++i) least = std::min(least, random.log_gamma(1e-3));
  EXPECT_TRUE(std::isfinite(least));
  EXPECT_LT(least, -1000.0);  // as a number it would be 0
  EXPECT_THROW((void)random.log_gamma(0.0), InternalError);
}

constexpr Duration kMillisecond{1'000'000'000};

TEST(Delay, ConstantIsAlwaysItself) {
  RandomStream random(8, "delay");
  const auto delay = DelayDistribution::constant(kMillisecond);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(delay.draw(random), kMillisecond);
  EXPECT_EQ(delay.typical(), kMillisecond);
}

TEST(Delay, ConstantTakesNoRandomness) {
  RandomStream drawn(8, "delay");
  RandomStream untouched(8, "delay");
  (void)DelayDistribution::constant(kMillisecond).draw(drawn);
  EXPECT_EQ(drawn.next(), untouched.next());
}

TEST(Delay, UniformStaysWithinItsEnds) {
  RandomStream random(9, "delay");
  const DelayDistribution delay{DelayDistribution::Kind::kUniform, 10 * kMillisecond, 25 * kMillisecond, 0.0};
  const Moments m = moments([&] {
    const Duration d = delay.draw(random);
    EXPECT_GE(d, 10 * kMillisecond);
    EXPECT_LE(d, 25 * kMillisecond);
    return to_seconds(d) * 1e3;
  });
  // Mean 17.5 ms, deviation 15 ms / sqrt(12).
  EXPECT_NEAR(m.mean, 17.5, kBound * 15.0 / std::sqrt(12.0 * kDraws));
  EXPECT_EQ(delay.typical(), 17'500'000 * (kMillisecond / 1'000'000));
}

TEST(Delay, NormalHasItsMeanAndDeviation) {
  RandomStream random(10, "delay");
  const DelayDistribution delay{DelayDistribution::Kind::kNormal, 10 * kMillisecond, kMillisecond, 0.0};
  const Moments m = moments([&] { return to_seconds(delay.draw(random)) * 1e3; });
  // In ms: mean 10, variance 1; 0 is ten deviations away, so that truncation does not show.
  EXPECT_NEAR(m.mean, 10.0, kBound / std::sqrt(kDraws));
  EXPECT_NEAR(m.variance, 1.0, kBound * std::sqrt(2.0 / kDraws));
}

TEST(Delay, NormalIsTruncatedAtZero) {
  RandomStream random(11, "delay");
  const DelayDistribution delay{DelayDistribution::Kind::kNormal, {}, kMillisecond, 0.0};
  const Moments m = moments([&] {
    const Duration d = delay.draw(random);
    EXPECT_GE(d, Duration{});
    return to_seconds(d) * 1e3;
  });
  // Half of a normal of mean 0 and deviation 1 ms, the other half drawn again: mean sqrt(2 / pi), variance 1 - 2 / pi.
  const double variance = 1.0 - 2.0 / std::numbers::pi;
  EXPECT_NEAR(m.mean, std::sqrt(2.0 / std::numbers::pi), kBound * std::sqrt(variance / kDraws));
  // Its fourth central moment is 3.869 variance^2 (excess kurtosis 0.869), so that the variance of the variance is 2.869
  // variance^2 a draw.
  EXPECT_NEAR(m.variance, variance, kBound * variance * std::sqrt(2.869 / kDraws));
}

TEST(Delay, EmpiricalIsOneOfItsSamples) {
  RandomStream random(16, "delay");
  DelayDistribution delay;
  delay.kind = DelayDistribution::Kind::kEmpirical;
  delay.samples = {9 * kMillisecond, kMillisecond, 4 * kMillisecond, kMillisecond};
  const Moments m = moments([&] { return to_seconds(delay.draw(random)) * 1e3; });
  // Mean 15 / 4; variance (81 + 1 + 16 + 1) / 4 - (15 / 4)^2 = 10.6875.
  EXPECT_NEAR(m.mean, 3.75, kBound * std::sqrt(10.6875 / kDraws));
  EXPECT_EQ(delay.typical(), kMillisecond) << "the lower of the two in the middle";
}

TEST(Delay, ADrawThatIsTooLongForAnyRunIsAnError) {
  RandomStream random(17, "delay");
  const DelayDistribution delay{DelayDistribution::Kind::kLogNormal, kLongest, {}, 1.0};
  EXPECT_THROW(
      {
        for (int i = 0; i < 64; ++i) (void)delay.draw(random);
      },
      ConfigError);
}

TEST(Delay, LogNormalHasItsMedianAndSpread) {
  RandomStream random(12, "delay");
  const DelayDistribution delay{DelayDistribution::Kind::kLogNormal, kMillisecond, {}, 0.4};
  int below_median = 0;
  const Moments m = moments([&] {
    const Duration d = delay.draw(random);
    below_median += d < kMillisecond ? 1 : 0;
    return std::log(to_seconds(d) * 1e3);
  });
  // The logarithm of d / median is normal: mean 0, deviation 0.4.
  EXPECT_NEAR(static_cast<double>(below_median) / kDraws, 0.5, kBound * std::sqrt(0.25 / kDraws));
  EXPECT_NEAR(m.mean, 0.0, kBound * 0.4 / std::sqrt(kDraws));
  EXPECT_NEAR(m.variance, 0.16, kBound * 0.16 * std::sqrt(2.0 / kDraws));
  EXPECT_EQ(delay.typical(), kMillisecond);
}

// One draw in a thousand is longer than what unbounded ones have as the longest, none where there is a maximum.
TEST(DelayDistributionTest, AtMostOneDrawInAThousandIsLongerThanTheLongest) {
  using Kind = DelayDistribution::Kind;
  for (const DelayDistribution& delay :
       {DelayDistribution::constant(kMillisecond), DelayDistribution{Kind::kUniform, kMillisecond, 3 * kMillisecond, 0.0},
        DelayDistribution{Kind::kNormal, 10 * kMillisecond, kMillisecond, 0.0},
        DelayDistribution{Kind::kLogNormal, kMillisecond, {}, 0.4},
        DelayDistribution{Kind::kEmpirical, {}, {}, 0.0, {kMillisecond, {}, 5 * kMillisecond}}}) {
    RandomStream random(7, "longest");
    int longer = 0;
    for (int i = 0; i < 10'000; ++i) longer += delay.draw(random) > delay.longest() ? 1 : 0;
    const bool bounded = delay.kind != Kind::kNormal && delay.kind != Kind::kLogNormal;
    EXPECT_LE(longer, bounded ? 0 : 20);
    EXPECT_GE(longer, bounded ? 0 : 2);
    EXPECT_GE(delay.longest(), delay.typical());
  }
}

}  // namespace
}  // namespace photonrail
