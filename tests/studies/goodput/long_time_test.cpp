#include "photonrail/study/goodput/long_time.hpp"

#include "photonrail/error.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using goodput::LongTime;

// 349 days are 3.0e19 ps, beyond int64.
TEST(LongTime, HoldsYearsExactly) {
  const LongTime year = LongTime::of(Duration{86'400'000'000'000'000}).times(349);
  EXPECT_EQ(year.picoseconds(), "30153600000000000000");
  EXPECT_EQ(LongTime::parse("30153600000000000000"), year);
  EXPECT_EQ((year + LongTime::of(Duration{1})).picoseconds(), "30153600000000000001");
  EXPECT_EQ((LongTime{} - year).picoseconds(), "-30153600000000000000");
  EXPECT_EQ(LongTime::parse("-30153600000000000000"), LongTime{} - year);
  EXPECT_EQ(year.whole(LongTime::of(Duration{86'400'000'000'000'000})), 349);
}

TEST(LongTime, RoundsTheWayItSays) {
  const LongTime seven = LongTime::of(Duration{7});
  EXPECT_EQ(seven.scaled(LongTime::of(Duration{1}), LongTime::of(Duration{2})), LongTime::of(Duration{3}));
  EXPECT_EQ(seven.scaled_up(LongTime::of(Duration{1}), LongTime::of(Duration{2})), LongTime::of(Duration{4}));
  EXPECT_EQ(LongTime::from_seconds(0.5e-12 + 1e-12).picoseconds(), "2");
}

TEST(LongTime, RefusesOtherTexts) {
  for (const char* text : {"", "-", "1.5", "1e3", "99999999999999999999999999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(LongTime::parse(text)), ConfigError) << text;
  }
}

}  // namespace
}  // namespace photonrail::test
