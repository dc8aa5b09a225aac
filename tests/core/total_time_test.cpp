#include "photonrail/core/total_time.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace photonrail {
namespace {

TEST(TotalTime, IsExactBeyondTheRangeOfADuration) {
  TotalTime total;
  EXPECT_EQ(to_seconds(total), 0.0);
  // 4e18 ps x 2^31 = 8.6e27 ps.
  total.add(kLongest, std::int64_t{1} << 31);
  EXPECT_DOUBLE_EQ(to_seconds(total), 4e6 * 2147483648.0);
  TotalTime more = total;
  more += Duration{1};
  EXPECT_GT(more, total);
  EXPECT_NE(more, total);
  EXPECT_LT(total, total + std::chrono::seconds(1));
}

TEST(TotalTime, IsASumOfOneTime) {
  const TotalTime total = std::chrono::microseconds(3);
  EXPECT_EQ(total, Duration{3'000'000});
  EXPECT_EQ(total + total, std::chrono::microseconds(6));
  EXPECT_EQ(to_seconds(total), to_seconds(Duration{3'000'000}));
}

}  // namespace
}  // namespace photonrail
