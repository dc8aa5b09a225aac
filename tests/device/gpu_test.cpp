#include "photonrail/cluster/device.hpp"
#include "photonrail/error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace photonrail {
namespace {

GpuSpec gpu(double peak_tflops, double memory_gb_per_s, double efficiency = 1.0) {
  GpuSpec spec;
  spec.peak_tflops = peak_tflops;
  spec.memory_gb_per_s = memory_gb_per_s;
  spec.compute_efficiency = efficiency;
  return spec;
}

constexpr Duration kMicrosecond{1'000'000};

TEST(ComputeTime, FollowsTheFlatRoofAboveTheCrossover) {
  // 1000 TFLOP/s and 5000 GB/s meet at 1000e12 / 5000e9 = 200 flop a byte. At 400: 4e12 flop / 1e15 flop/s = 4 ms.
  EXPECT_EQ(gpu(1000, 5000).compute_time(4e12, Bytes{10'000'000'000}), 4000 * kMicrosecond);
}

TEST(ComputeTime, FollowsTheSlantedRoofBelowTheCrossover) {
  // At 100 flop a byte, half of the crossover: 5000e9 x 100 = 5e14 flop/s; 1e12 / 5e14 = 2 ms, as is 1e10 B / 5e12 B/s.
  EXPECT_EQ(gpu(1000, 5000).compute_time(1e12, Bytes{10'000'000'000}), 2000 * kMicrosecond);
}

TEST(ComputeTime, BothRoofsMeetAtTheCrossover) {
  // 2e12 flop on 1e10 B: 200 flop a byte. 2 ms by either roof; a byte more, 1 / 5 ps, is memory bound and rounds up.
  EXPECT_EQ(gpu(1000, 5000).compute_time(2e12, Bytes{10'000'000'000}), 2000 * kMicrosecond);
  EXPECT_EQ(gpu(1000, 5000).compute_time(2e12, Bytes{10'000'000'001}), 2000 * kMicrosecond + Duration{1});
}

TEST(ComputeTime, EfficiencyLowersTheFlatRoofOnly) {
  // Half of 1000 TFLOP/s: 4e12 flop in 8 ms. Memory: 1e10 B / 5e12 B/s = 2 ms, as before.
  EXPECT_EQ(gpu(1000, 5000, 0.5).compute_time(4e12, Bytes{}), 8000 * kMicrosecond);
  EXPECT_EQ(gpu(1000, 5000, 0.5).compute_time(0.0, Bytes{10'000'000'000}), 2000 * kMicrosecond);
}

TEST(ComputeTime, WithoutBytesThereIsNoMemoryBound) {
  EXPECT_EQ(gpu(1000, 5000).compute_time(1e9, Bytes{}), kMicrosecond);  // 1e9 / 1e15 s
}

TEST(ComputeTime, NothingTakesNoTime) { EXPECT_EQ(gpu(1000, 5000).compute_time(0.0, Bytes{}), Duration{}); }

TEST(ComputeTime, RoundsUp) {
  // 1 TFLOP/s is a flop a picosecond; 0.3 TFLOP/s needs 3.33 ps for one.
  EXPECT_EQ(gpu(1, 5000).compute_time(7.0, Bytes{}), Duration{7});
  EXPECT_EQ(gpu(0.3, 5000).compute_time(1.0, Bytes{}), Duration{4});
}

TEST(ComputeTime, RefusesWhatHasNoTime) {
  // 1e22 flop / 1e15 flop/s = 1e7 s; int64 picoseconds end at 9.2e6 s.
  EXPECT_THROW((void)gpu(1000, 5000).compute_time(1e22, Bytes{}), ConfigError);
  EXPECT_THROW((void)gpu(1000, 5000).compute_time(-1.0, Bytes{}), ConfigError);
  EXPECT_THROW((void)gpu(1000, 5000).compute_time(1.0, Bytes{-1}), ConfigError);
  EXPECT_THROW((void)gpu(1000, 5000).compute_time(std::numeric_limits<double>::quiet_NaN(), Bytes{}), ConfigError);
  EXPECT_THROW((void)gpu(1000, 5000).compute_time(std::numeric_limits<double>::infinity(), Bytes{}), ConfigError);
}

}  // namespace
}  // namespace photonrail
