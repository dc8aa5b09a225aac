#include "fabric/circuit_holds.hpp"

#include "fabric/rail_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Servers of two ports; server 0 has ports 0 and 1, server 1 ports 2 and 3.
class CircuitHoldsTest : public ::testing::Test {
 protected:
  CircuitHoldsTest()
      : site(3, 2),
        circuits(site.circuits()),
        links(site.context, site.capacities, circuits),
        holds(circuits, links, site.notifier) {}

  void connect(const std::vector<Circuit>& wanted) {
    light(circuits, wanted);
    for (const Circuit c : wanted) links.refresh(circuits.server(c.from));
  }
  CircuitHolds::Id hold(Hop hop, std::uint64_t owner) { return holds.hold({&hop, 1}, owner); }
  void take_away(Circuit c) {
    holds.detach({&c, 1});
    darken(circuits, {c.from});
    links.refresh(circuits.server(c.from));
    holds.miss({&c, 1});
  }
  [[nodiscard]] std::uint32_t in_use(std::uint32_t port) const { return circuits.crossbar().transmit()[port].in_use; }

  RailSite site;
  RailCircuits circuits;
  CircuitLinks links;
  CircuitHolds holds;
};

TEST_F(CircuitHoldsTest, WhatIsWithdrawnIsNoUse) {
  connect({circuit(0, 2)});
  holds.withdraw(hold({0, 1}, 7));
  EXPECT_EQ(holds.uses(), 0u);
  EXPECT_EQ(in_use(0), 0u);
  EXPECT_FALSE(holds.held());
}

TEST_F(CircuitHoldsTest, AHoldIsOnAllCircuitsOfTheHop) {
  connect({circuit(0, 2), circuit(1, 3)});
  EXPECT_FALSE(holds.held());
  const auto first = hold({0, 1}, 7);
  const auto second = hold({0, 1}, 8);
  EXPECT_EQ(in_use(0), 2u);
  EXPECT_EQ(in_use(1), 2u);
  EXPECT_EQ(links.find({0, 1})->users, 2u);
  EXPECT_EQ(holds.uses(), 2u);
  holds.release(first);
  holds.release(second);
  EXPECT_EQ(in_use(0), 0u);
  EXPECT_FALSE(holds.held());
  EXPECT_EQ(holds.uses(), 2u) << "so far";
  EXPECT_THAT(site.listener.calls, IsEmpty());
}

TEST_F(CircuitHoldsTest, ItGoesOnOverTheCircuitsThatAreLeft) {
  connect({circuit(0, 2), circuit(1, 3)});
  const auto id = hold({0, 1}, 7);
  take_away(circuit(0, 2));
  EXPECT_THAT(site.listener.calls, IsEmpty());
  EXPECT_EQ(in_use(1), 1u);
  holds.release(id);
  EXPECT_EQ(in_use(1), 0u);
}

TEST_F(CircuitHoldsTest, ItMissesItsLastCircuitUntilTheServersAreJoinedAgain) {
  connect({circuit(0, 2)});
  static_cast<void>(hold({0, 1}, 7));
  take_away(circuit(0, 2));
  EXPECT_THAT(site.listener.calls, ElementsAre("0 missed by 7: 0>1"));
  EXPECT_TRUE(holds.held());
  holds.reattach({0, 1});
  EXPECT_EQ(site.listener.calls.size(), 1u) << "there is no circuit yet";
  connect({circuit(1, 3)});
  holds.reattach({0, 1});
  EXPECT_THAT(site.listener.calls, ElementsAre("0 missed by 7: 0>1", "0 back to 7: 0>1"));
  EXPECT_EQ(in_use(1), 1u);
}

TEST_F(CircuitHoldsTest, WhatIsReleasedIsNoLongerMissed) {
  connect({circuit(0, 2)});
  const auto id = hold({0, 1}, 7);
  take_away(circuit(0, 2));
  holds.release(id);
  EXPECT_THAT(site.listener.calls, ElementsAre("0 missed by 7: 0>1", "0 back to 7: 0>1"));
  EXPECT_EQ(links.find({0, 1}), nullptr) << "the link had no circuit, and its last user left";
}

TEST_F(CircuitHoldsTest, AWayThatMissesOneHopIsNotInUse) {
  connect({circuit(0, 2), circuit(2, 4)});
  const std::vector<Hop> way{{0, 1}, {1, 2}};
  static_cast<void>(holds.hold(way, 9));
  take_away(circuit(2, 4));
  EXPECT_THAT(site.listener.calls, ElementsAre("0 missed by 9: 1>2"));
  EXPECT_EQ(in_use(0), 1u) << "the other hop stays held";
}

TEST_F(CircuitHoldsTest, ADrainingCircuitIsNotTaken) {
  connect({circuit(0, 2), circuit(1, 3)});
  circuits.drain({{}, {PortId{0u}}});
  static_cast<void>(hold({0, 1}, 7));
  EXPECT_EQ(in_use(0), 0u);
  EXPECT_EQ(in_use(1), 1u);
}

}  // namespace
}  // namespace photonrail::fabric::test
