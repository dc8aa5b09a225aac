#include "fabric/port_faults.hpp"

#include "fabric/rail_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PortFaultsTest : public ::testing::Test {
 protected:
  PortFaultsTest() : site(4), circuits(site.circuits()), faults(circuits) {}

  RailSite site;
  RailCircuits circuits;
  PortFaults faults;
};

TEST_F(PortFaultsTest, FaultsOfAPortMayOverlap) {
  faults.begin(PortId{1u});
  faults.begin(PortId{1u});
  faults.end(PortId{1u});
  EXPECT_TRUE(faults.is_faulty(PortId{1u}));
  EXPECT_FALSE(faults.is_faulty(PortId{0u}));
  faults.end(PortId{1u});
  EXPECT_FALSE(faults.is_faulty(PortId{1u}));
}

TEST_F(PortFaultsTest, WhatEndsOnAFaultyPortIsLeftOutAndLost) {
  faults.begin(PortId{1u});
  CircuitPlan change{{circuit(0, 1), circuit(2, 3)}, {}};
  faults.refuse(change);
  EXPECT_THAT(change.connect, ElementsAre(circuit(2, 3)));
  EXPECT_THAT(faults.restorable().connect, IsEmpty()) << "the port is still faulty";
  faults.end(PortId{1u});
  EXPECT_THAT(faults.restorable().connect, ElementsAre(circuit(0, 1)));
}

TEST_F(PortFaultsTest, AStuckCircuitCannotBeTaken) {
  light(circuits, {circuit(0, 1)});
  faults.begin(PortId{1u});
  CircuitPlan change{{circuit(0, 2)}, {PortId{0u}}};
  faults.refuse(change);
  EXPECT_THAT(change.connect, IsEmpty()) << "it would take the fibre of a circuit that ends on the faulty port";
  EXPECT_THAT(change.disconnect, IsEmpty());
  CircuitPlan other{{circuit(3, 1)}, {}};
  faults.refuse(other);
  EXPECT_THAT(other.connect, IsEmpty());
}

TEST_F(PortFaultsTest, ALaterPlanDisplacesWhatWasLost) {
  faults.lose(circuit(0, 1));
  faults.lose(circuit(2, 3));
  faults.displace_lost({{circuit(0, 2)}, {}});
  EXPECT_THAT(faults.restorable().connect, ElementsAre(circuit(2, 3)));
  faults.displace_lost({{}, {PortId{2u}}});
  EXPECT_THAT(faults.restorable().connect, IsEmpty());
}

TEST_F(PortFaultsTest, OfTwoThatShareAFibreTheFirstStaysLost) {
  faults.lose(circuit(0, 1));
  faults.lose(circuit(0, 2));
  faults.lose(circuit(3, 1));
  EXPECT_THAT(faults.restorable().connect, ElementsAre(circuit(0, 1)));
}

TEST_F(PortFaultsTest, WhatWouldDarkenACircuitInUseIsNotRestorable) {
  faults.lose(circuit(0, 1));
  light(circuits, {circuit(2, 1)});
  EXPECT_THAT(faults.restorable().connect, ElementsAre(circuit(0, 1)));
  circuits.use(PortId{2u});
  EXPECT_THAT(faults.restorable().connect, IsEmpty());
}

}  // namespace
}  // namespace photonrail::fabric::test
