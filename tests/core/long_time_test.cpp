#include "photonrail/core/durations.hpp"

#include "photonrail/error.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

// 349 days are 3.0e19 ps, beyond int64.
TEST(LongTime, HoldsYearsExactly) {
  const LongTime year = LongTime(Duration{86'400'000'000'000'000}).times(349);
  EXPECT_EQ(year.digits(), "30153600000000000000");
  EXPECT_EQ(LongTime::parse("30153600000000000000"), year);
  EXPECT_EQ((year + LongTime(Duration{1})).digits(), "30153600000000000001");
  EXPECT_EQ((LongTime{} - year).digits(), "-30153600000000000000");
  EXPECT_EQ(LongTime::parse("-30153600000000000000"), LongTime{} - year);
  EXPECT_EQ(year.whole(LongTime(Duration{86'400'000'000'000'000})), 349);
}

TEST(LongTime, RoundsTheWayItSays) {
  const LongTime seven = LongTime(Duration{7});
  EXPECT_EQ(seven.scaled(LongTime(Duration{1}), LongTime(Duration{2})), LongTime(Duration{3}));
  EXPECT_EQ(seven.scaled_up(LongTime(Duration{1}), LongTime(Duration{2})), LongTime(Duration{4}));
  EXPECT_EQ(LongTime::from_seconds(0.5e-12 + 1e-12).digits(), "2");
}

TEST(LongTime, RefusesOtherTexts) {
  for (const char* text : {"", "-", "1.5", "1e3", "99999999999999999999999999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(LongTime::parse(text)), ConfigError) << text;
  }
}

TEST(LongTime, IsExactBeyondTheRangeOfADuration) {
  LongTime total;
  EXPECT_EQ(to_seconds(total), 0.0);
  // 4e18 ps x 2^31 = 8.6e27 ps.
  total += LongTime(kLongest).times(std::int64_t{1} << 31);
  EXPECT_DOUBLE_EQ(to_seconds(total), 4e6 * 2147483648.0);
  LongTime more = total;
  more += Duration{1};
  EXPECT_GT(more, total);
  EXPECT_NE(more, total);
  EXPECT_LT(total, total + std::chrono::seconds(1));
}

TEST(LongTime, IsASumOfOneTime) {
  const LongTime total = std::chrono::microseconds(3);
  EXPECT_EQ(total, Duration{3'000'000});
  EXPECT_EQ(total + total, std::chrono::microseconds(6));
  EXPECT_EQ(to_seconds(total), to_seconds(Duration{3'000'000}));
}

}  // namespace
}  // namespace photonrail::test
