#include "rl/lengths.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

// Mean over maximum, the share of slot time that is used where all begin together: 0.42, 0.19, 0.08 of 512 responses by the
// reference. A Monte Carlo of the longest, by inversion, in strata.
TEST(ResponseLengths, LongestOfManyAgreesWithMonteCarlo) {
  struct Case {
    double sigma;
    int n;
    double share;
  };
  for (const Case& c : {Case{0.3, 512, 0.42}, Case{0.6, 512, 0.19}, Case{1.0, 512, 0.08}, Case{0.3, 16, 0},
                        Case{0.6, 16, 0}, Case{1.0, 16, 0}}) {
    const ResponseLengths lengths({LengthSpec::Kind::kLogNormal, 1000, c.sigma, 0});
    if (c.share > 0) {
      EXPECT_NEAR(1000 / lengths.longest_of(c.n), c.share, 0.008);
    }
    // The greatest of n uniform numbers is the n-th root of one: a draw of the maximum without the n draws.
    RandomStream random(5, "longest");
    double sum = 0.0;
    constexpr int kGroups = 4000;
    for (int g = 0; g < kGroups; ++g) {
      const double share = std::pow((g + random.uniform()) / kGroups, 1.0 / c.n);
      double low = 1.0;
      double high = 1e7;
      for (int i = 0; i < 60; ++i) {
        const double middle = std::sqrt(low * high);
        (lengths.share_below(middle) < share ? low : high) = middle;
      }
      sum += low;
    }
    EXPECT_NEAR(sum / kGroups / lengths.longest_of(c.n), 1.0, 0.01) << c.sigma << " " << c.n;
  }
}

TEST(ResponseLengths, LongestUnderACutIsNearlyTheCut) {
  const ResponseLengths lengths({LengthSpec::Kind::kLogNormal, 3203, 0.6, 4096});
  EXPECT_NEAR(lengths.longest_of(2048), 4096, 1);
  // One response: its mean.
  EXPECT_NEAR(lengths.longest_of(1), 3203, 4);
  // Uniform from 1 to 999, n = 9: 1 + 998 x 9/10.
  EXPECT_NEAR(ResponseLengths({LengthSpec::Kind::kUniform, 500, 0, 0}).longest_of(9), 899.2, 0.5);
}

TEST(ResponseLengths, RefuseMeansAboveTheCut) {
  EXPECT_THROW((LengthSpec{LengthSpec::Kind::kLogNormal, 5000, 0.5, 4096}.validate()), ConfigError);
  EXPECT_THROW((LengthSpec{LengthSpec::Kind::kUniform, 3000, 0.5, 4096}.validate()), ConfigError);
  EXPECT_NO_THROW((LengthSpec{LengthSpec::Kind::kConstant, 4096, 0.5, 4096}.validate()));
}

}  // namespace
}  // namespace photonrail::rl
