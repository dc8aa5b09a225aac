#include "fabric/rail_switches.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace photonrail {

using fabric::RailSwitches;

namespace {

using std::chrono::microseconds;

TEST(RailSwitches, APortIsOnTheSwitchOfItsPodAndPlane) {
  RailSpec spec;
  spec.planes = 2;
  spec.pods.servers = 3;
  const RailSwitches switches(spec, 7, 4, RailId{0u}, 1);
  // 7 servers make pods of 3, 3 and 1, with 2 planes each.
  EXPECT_EQ(switches.count(), 6u);
  EXPECT_EQ(switches.pods(), 3u);
  EXPECT_EQ(switches.of(PortId{0u}), 0u);
  EXPECT_EQ(switches.of(PortId{3u}), 1u);                      // server 0, NIC port 3
  EXPECT_EQ(switches.of(PortId{std::size_t{3 * 4}}), 2u);      // server 3, NIC port 0
  EXPECT_EQ(switches.of(PortId{std::size_t{6 * 4 + 1}}), 5u);  // server 6, NIC port 1
}

TEST(RailSwitches, EverySwitchDrawsFromAStreamOfItsOwn) {
  RailSpec spec;
  spec.planes = 2;
  spec.optical.reconfiguration = {DelayDistribution::Kind::kUniform, {}, microseconds(1000), 0.0};
  const auto draws = [&](std::uint32_t rail, std::uint64_t seed, std::uint32_t which) {
    RailSwitches switches(spec, 2, 2, RailId{rail}, seed);
    std::vector<Duration> drawn;
    for (int i = 0; i < 4; ++i) drawn.push_back(switches.draw(which, Time{}));
    return drawn;
  };
  EXPECT_EQ(draws(0, 1, 0), draws(0, 1, 0));
  EXPECT_NE(draws(0, 1, 0), draws(0, 1, 1));
  EXPECT_NE(draws(0, 1, 0), draws(1, 1, 0));
  EXPECT_NE(draws(0, 1, 0), draws(0, 2, 0));
  const std::vector<Duration> four = draws(0, 1, 0);
  EXPECT_NE(four[0], four[1]) << "without a batching window every command is drawn";
}

}  // namespace
}  // namespace photonrail
