#include "photonrail/units.hpp"

#include "photonrail/core/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace photonrail {
namespace {

// Two instants have a distance, and no sum; neither type turns into the other unasked.
static_assert(sizeof(Time) == sizeof(Duration));
static_assert(!std::is_convertible_v<Duration, Time> && !std::is_convertible_v<Time, Duration>);
static_assert(!std::is_convertible_v<std::int64_t, Time>);
template <class A, class B>
concept CanBeAdded = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanBeCompared = requires(A a, B b) {
  a < b;
};
static_assert(CanBeAdded<Time, Duration> && !CanBeAdded<Time, Time>);
static_assert(CanBeCompared<Time, Time> && !CanBeCompared<Time, Duration>);
static_assert(std::is_same_v<decltype(Time{} - Time{}), Duration>);

TEST(Time, CountsFromTheStartOfTheRun) {
  constexpr Time at = Time{} + Duration{5};
  static_assert(at.since_start() == Duration{5});
  EXPECT_EQ(at - Time{Duration{2}}, Duration{3});
  EXPECT_EQ(at - Duration{2}, Time{3});
  Time moving = at;
  moving += Duration{4};
  moving -= Duration{1};
  EXPECT_EQ(moving, Time{8});
  EXPECT_LT(at, moving);
  EXPECT_GT(Time::never(), Time{kLongest});
  EXPECT_DOUBLE_EQ(to_seconds(Time{Duration{2'000'000'000'000}}), 2.0);
}

TEST(TransferTime, ByteAt400GigabitsTakes20Picoseconds) {
  // 400 Gb/s = 50 GB/s = 50e9 B / 1e12 ps = 0.05 B/ps; 1 / 0.05 = 20.
  EXPECT_EQ(transfer_time(Bytes{1}, Bandwidth::from_gb_per_s(50)), Duration{20});
}

TEST(TransferTime, NoBytesTakeNoTime) { EXPECT_EQ(transfer_time(Bytes{0}, Bandwidth::from_gb_per_s(50)), Duration{0}); }

TEST(TransferTime, RoundsUp) {
  // 3 GB/s = 0.003 B/ps: 1 B in 333.3 ps, 2 B in 666.7 ps, 3 B in exactly 1000 ps.
  EXPECT_EQ(transfer_time(Bytes{1}, Bandwidth::from_gb_per_s(3)), Duration{334});
  EXPECT_EQ(transfer_time(Bytes{2}, Bandwidth::from_gb_per_s(3)), Duration{667});
  EXPECT_EQ(transfer_time(Bytes{3}, Bandwidth::from_gb_per_s(3)), Duration{1000});
  // 2^30 B at 450 GB/s: 1,073,741,824 / 0.45 = 2,386,092,942.2 ps.
  EXPECT_EQ(transfer_time(Bytes{1 << 30}, Bandwidth::from_gb_per_s(450)), Duration{2'386'092'943});
}

TEST(TransferTime, AnExactResultIsNotRoundedPastItself) {
  // Rates whose byte takes a whole number of picoseconds: 1000 / (GB/s). Up to 2^36 B = 69 GB.
  struct Rate {
    double gb_per_s;
    std::int64_t picoseconds_a_byte;
  };
  RandomStream random(1, "exact transfer times");
  for (const Rate rate : {Rate{50, 20}, Rate{12.5, 80}, Rate{100, 10}, Rate{200, 5}, Rate{1000, 1}, Rate{6.25, 160}}) {
    for (int i = 0; i < 10'000; ++i) {
      const auto bytes = static_cast<std::int64_t>(random.below(std::uint64_t{1} << (1 + i % 36)));
      ASSERT_EQ(transfer_time(Bytes{bytes}, Bandwidth::from_gb_per_s(rate.gb_per_s)).count(),
                bytes * rate.picoseconds_a_byte)
          << bytes << " B at " << rate.gb_per_s << " GB/s";
    }
  }
}

TEST(TransferTime, NeverEndsBeforeTheLastByte) {
  // 7 GB/s is 7 B in 1000 ps: t is enough when t x 7 >= bytes x 1000, and least when (t - 1) x 7 < bytes x 1000.
  RandomStream random(1, "transfer times at 7 GB/s");
  for (int i = 0; i < 10'000; ++i) {
    const auto bytes = static_cast<std::int64_t>(random.below(std::uint64_t{1} << 33));
    const auto t = transfer_time(Bytes{bytes}, Bandwidth::from_gb_per_s(7)).count();
    ASSERT_GE(t * 7, bytes * 1000);
    ASSERT_LT((t - 1) * 7, bytes * 1000);
  }
}

TEST(Seconds, RoundToTheNearestPicosecond) {
  EXPECT_EQ(from_seconds(25e-3), Duration{25'000'000'000});
  EXPECT_EQ(from_seconds(1.6e-12), Duration{2});
  EXPECT_EQ(from_seconds(1.4e-12), Duration{1});
  EXPECT_DOUBLE_EQ(to_seconds(Duration{1'500'000'000'000}), 1.5);
}

TEST(Bandwidth, GigabytesAreDecimal) { EXPECT_EQ(Bandwidth::from_gb_per_s(50).bytes_per_second, 50e9); }

}  // namespace
}  // namespace photonrail
