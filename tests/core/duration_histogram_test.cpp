#include "photonrail/core/durations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace photonrail::test {
namespace {

TEST(DurationHistogram, IsExactForAFewShortLengthsAndAtTheEnds) {
  DurationHistogram histogram;
  for (const std::int64_t length : {5, 1, 3, 63}) histogram.add(Duration{length});
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.quantile(0.0), Duration{1});
  EXPECT_EQ(histogram.quantile(0.5), Duration{3});  // two of four are 3 at most
  EXPECT_EQ(histogram.quantile(0.75), Duration{5});
  EXPECT_EQ(histogram.quantile(1.0), Duration{63});
  DurationHistogram one;
  one.add(Duration{1'234'567'890'123}, 7);
  for (const double p : {0.0, 0.3, 1.0}) EXPECT_EQ(one.quantile(p), Duration{1'234'567'890'123});
}

TEST(DurationHistogram, IsAtMostASixtyFourthTooLong) {
  DurationHistogram histogram;
  std::vector<std::int64_t> lengths;
  for (std::int64_t x = 7; x < 4'000'000'000'000'000'000 / 3; x += x / 3 + 11) {
    lengths.push_back(x);
    histogram.add(Duration{x});
  }
  for (const double p : {0.1, 0.5, 0.9, 0.99}) {
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(lengths.size()))) - 1;
    const auto found = histogram.quantile(p).count();
    EXPECT_GE(found, lengths[rank]);
    EXPECT_LE(found - lengths[rank], lengths[rank] / 64) << p;
  }
}

TEST(DurationHistogram, MergesAsIfAllHadBeenAddedToOne) {
  DurationHistogram a;
  DurationHistogram b;
  DurationHistogram both;
  for (std::int64_t x = 1; x < 1'000'000; x = x * 2 + 1) {
    (x % 3 == 0 ? a : b).add(Duration{x}, 2);
    both.add(Duration{x}, 2);
  }
  a.merge(b);
  a.merge(DurationHistogram{});
  EXPECT_EQ(a, both);
}

}  // namespace
}  // namespace photonrail::test
