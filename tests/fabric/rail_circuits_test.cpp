#include "fabric/rail_circuits.hpp"

#include "fabric/rail_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RailCircuits, PortsOfAServerAreNeighbours) {
  const RailSite site(3, 2);
  const RailCircuits circuits = site.circuits();
  EXPECT_EQ(circuits.servers(), 3u);
  EXPECT_EQ(circuits.first_port(2), 4u);
  EXPECT_EQ(circuits.hop(circuit(1, 4)), (Hop{0, 2}));
}

TEST(RailCircuits, ADrainingCircuitIsLitButNotUsable) {
  const RailSite site(3);
  RailCircuits circuits = site.circuits();
  light(circuits, {circuit(0, 1)});
  EXPECT_TRUE(circuits.usable(0));
  circuits.drain({{circuit(0, 2)}, {}});  // would take the transmit side of port 0
  EXPECT_TRUE(circuits.is_lit(PortId{0u}));
  EXPECT_FALSE(circuits.usable(0));
  EXPECT_TRUE(circuits.drains());
  circuits.undrain();
  EXPECT_TRUE(circuits.usable(0));
  EXPECT_FALSE(circuits.drains());
}

TEST(RailCircuits, ACircuitIsNotLitWhileASwitchOnItsWayIsDarkAsAWhole) {
  RailSite site(4, 1, [](RailSpec& spec) {
    spec.pods.servers = 2;  // two switches
    spec.optical.darkness = DarkScope::kSwitch;
  });
  RailCircuits circuits = site.circuits();
  light(circuits, {circuit(0, 1), circuit(1, 2), circuit(3, 3)});
  EXPECT_THAT(circuits.lit_on(0), ElementsAre(circuit(0, 1), circuit(1, 2)));
  site.shared.switches.go_dark(1);
  EXPECT_TRUE(circuits.is_lit(PortId{0u}));
  EXPECT_FALSE(circuits.is_lit(PortId{1u})) << "its receive side is on the dark switch";
  EXPECT_FALSE(circuits.is_lit(PortId{3u}));
  site.shared.switches.come_back(1);
  EXPECT_TRUE(circuits.is_lit(PortId{1u}));
}

TEST(RailCircuits, DisturbsWhatIsInUse) {
  const RailSite site(3);
  RailCircuits circuits = site.circuits();
  light(circuits, {circuit(0, 1)});
  const CircuitPlan elsewhere{{circuit(0, 2)}, {}};
  EXPECT_FALSE(circuits.disturbs(elsewhere));
  circuits.use(PortId{0u});
  EXPECT_TRUE(circuits.disturbs(elsewhere));
  EXPECT_FALSE(circuits.disturbs({{circuit(0, 1)}, {}})) << "it is there already";
  circuits.release(PortId{0u}, true);
  EXPECT_FALSE(circuits.disturbs(elsewhere));
}

TEST(RailCircuits, TouchedPortsComeOnceInTheOrderOfTheirFirstTouch) {
  const RailSite site(4);
  RailCircuits circuits = site.circuits();
  circuits.touch(PortId{2u});
  circuits.touch(circuit(3, 2));
  circuits.touch(circuit(0, 3));
  std::vector<PortId> touched;
  circuits.take_touched(touched);
  EXPECT_THAT(touched, ElementsAre(PortId{2u}, PortId{3u}, PortId{0u}));
  circuits.take_touched(touched);
  EXPECT_THAT(touched, IsEmpty());
}

TEST(RailCircuits, TheVersionFollowsWhatWaysDependOn) {
  const RailSite site(3);
  RailCircuits circuits = site.circuits();
  std::uint64_t last = circuits.version();
  const auto changed = [&] { return std::exchange(last, circuits.version()) != last; };
  light(circuits, {circuit(0, 1)});
  EXPECT_TRUE(changed());
  circuits.touch(PortId{0u});
  circuits.use(PortId{0u});
  circuits.release(PortId{0u}, true);
  EXPECT_FALSE(changed());
  circuits.drain({{}, {PortId{0u}}});
  EXPECT_TRUE(changed());
  circuits.undrain();
  EXPECT_TRUE(changed());
  circuits.switches_changed();
  EXPECT_TRUE(changed());
  darken(circuits, {PortId{0u}});
  EXPECT_TRUE(changed());
}

}  // namespace
}  // namespace photonrail::fabric::test
