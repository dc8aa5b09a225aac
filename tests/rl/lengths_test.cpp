#include "rl/lengths.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::rl {
namespace {

// The mean is that after the cut: NeMo's 3,203 tokens of at most 4,096.
TEST(ResponseLengths, KeepTheirMeanUnderTheCut) {
  for (const LengthSpec& spec :
       {LengthSpec{LengthSpec::Kind::kLogNormal, 3203, 0.6, 4096}, LengthSpec{LengthSpec::Kind::kLogNormal, 700, 1.0, 1536},
        LengthSpec{LengthSpec::Kind::kLogNormal, 1000, 0.3, 0}, LengthSpec{LengthSpec::Kind::kUniform, 500, 0, 0},
        LengthSpec{LengthSpec::Kind::kConstant, 77, 0, 0}}) {
    const ResponseLengths lengths(spec);
    RandomStream random(3, "lengths");
    double sum = 0.0;
    constexpr int kDraws = 40000;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t tokens = lengths.draw(random);
      EXPECT_LE(tokens, spec.most == 0 ? 1u << 24 : spec.most);
      sum += tokens;
    }
    EXPECT_NEAR(sum / kDraws / spec.mean, 1.0, 0.01);
  }
}

/// The mean over many groups of the longest of `n` responses.
double longest_of(std::uint32_t n, const LengthSpec& spec, int groups) {
  const ResponseLengths lengths(spec);
  RandomStream random(5, "longest");
  double sum = 0.0;
  for (int g = 0; g < groups; ++g) {
    std::uint32_t longest = 0;
    for (std::uint32_t r = 0; r < n; ++r) longest = std::max(longest, lengths.draw(random));
    sum += longest;
  }
  return sum / groups;
}

// Mean over maximum, the share of slot time that is used where all begin together: 0.42, 0.19, 0.08 of 512 responses by the
// reference, to its two digits.
TEST(ResponseLengths, TheLongestOfManyIsThatOfTheReference) {
  const auto share = [](double sigma) {
    return 1000 / longest_of(512, {LengthSpec::Kind::kLogNormal, 1000, sigma, 0}, 1000);
  };
  EXPECT_NEAR(share(0.3), 0.42, 0.008);
  EXPECT_NEAR(share(0.6), 0.19, 0.008);
  EXPECT_NEAR(share(1.0), 0.08, 0.008);
}

TEST(ResponseLengths, LongestUnderACutIsNearlyTheCut) {
  EXPECT_NEAR(longest_of(2048, {LengthSpec::Kind::kLogNormal, 3203, 0.6, 4096}, 20), 4096, 1);
  // Uniform from 1 to 999, n = 9: 1 + 998 x 9/10; the deviation of a mean of 20,000 groups is 0.64.
  EXPECT_NEAR(longest_of(9, {LengthSpec::Kind::kUniform, 500, 0, 0}, 20000), 899.2, 2.0);
}

TEST(ResponseLengths, RefuseMeansAboveTheCut) {
  EXPECT_THROW((LengthSpec{LengthSpec::Kind::kLogNormal, 5000, 0.5, 4096}.validate()), ConfigError);
  EXPECT_THROW((LengthSpec{LengthSpec::Kind::kUniform, 3000, 0.5, 4096}.validate()), ConfigError);
  EXPECT_NO_THROW((LengthSpec{LengthSpec::Kind::kConstant, 4096, 0.5, 4096}.validate()));
}

}  // namespace
}  // namespace photonrail::rl
