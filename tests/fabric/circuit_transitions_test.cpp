#include "fabric/circuit_transitions.hpp"

#include "fabric/rail_transitions_site.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;

void whole_switch(RailSpec& spec) {
  spec.pods.servers = 2;
  spec.optical.darkness = DarkScope::kSwitch;
}

TEST(CircuitTransitions, ACircuitInUseIsDarkenedOnlyWhereItsBytesMayWait) {
  TransitionsSite s(3);
  s.connect({circuit(0, 1)});
  s.hold({0, 1}, 7);
  EXPECT_THROW(static_cast<void>(s.transitions.darken(s.changes({circuit(0, 2)}), false)), ControllerError);
  EXPECT_EQ(s.circuits.crossbar().transmit()[0].peer, PortId{1u}) << "nothing changed";
  static_cast<void>(s.transitions.darken(s.changes({circuit(0, 2)}), true));
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 dark 0-1", "0 missed by 7: 0>1"));
  EXPECT_EQ(s.links.find({0, 1})->width, 0u);
}

TEST(CircuitTransitions, HoldersGetTheirCircuitBackAfterAllAreLit) {
  TransitionsSite s(3);
  s.connect({circuit(0, 1)});
  s.hold({0, 1}, 7);
  static_cast<void>(s.transitions.darken(s.changes({}, {PortId{0u}}), true));
  s.site.listener.calls.clear();
  const CircuitPlan change = s.changes({circuit(0, 1), circuit(1, 2)});
  const std::uint32_t begun = s.transitions.darken(change, false);
  s.transitions.announce(change.connect);
  s.transitions.light(change.connect, begun);
  EXPECT_THAT(s.site.listener.calls,
              ElementsAre("0 switching 0-1", "0 switching 1-2", "0 lit 0-1", "0 lit 1-2", "0 back to 7: 0>1"));
}

TEST(CircuitTransitions, WhatALaterChangeTookIsNotLit) {
  TransitionsSite s(3);
  const CircuitPlan first = s.changes({circuit(0, 1)});
  const std::uint32_t begun = s.transitions.darken(first, false);
  const CircuitPlan second = s.changes({circuit(0, 2)});
  const std::uint32_t later = s.transitions.darken(second, false);
  s.site.listener.calls.clear();
  s.transitions.light(first.connect, begun);
  EXPECT_TRUE(s.site.listener.calls.empty());
  s.transitions.light(second.connect, later);
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 lit 0-2"));
}

TEST(CircuitTransitions, APauseIsDarkTimeAndLeavesHoldsAlone) {
  TransitionsSite s(4, 1, whole_switch);
  s.connect({circuit(0, 1), circuit(1, 2)});
  s.hold({0, 1}, 7);
  const std::vector<Circuit> lit = s.transitions.lit_on(0);
  ASSERT_THAT(lit, ElementsAre(circuit(0, 1), circuit(1, 2)));
  s.site.shared.switches.go_dark(0);
  s.transitions.pause(lit);
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 dark 0-1", "0 switching 0-1", "0 dark 1-2", "0 switching 1-2"));
  EXPECT_EQ(s.links.find({0, 1})->width, 0u);

  s.site.listener.calls.clear();
  s.site.engine.schedule(Time{microseconds(30)}, engine::Phase::kFinish,
                         {[](void* self, std::uint64_t) {
                            auto& site = *static_cast<TransitionsSite*>(self);
                            site.site.shared.switches.come_back(0);
                            site.transitions.resume(0);
                          },
                          &s});
  s.site.engine.run();
  EXPECT_THAT(s.site.listener.calls, ElementsAre("30 lit 0-1", "30 lit 1-2", "30 light back"));
  EXPECT_EQ(s.transitions.dark_port_time(), microseconds(2 * 30));
}

TEST(CircuitTransitions, ACircuitOfTwoDarkSwitchesWaitsForBoth) {
  TransitionsSite s(4, 1, whole_switch);
  s.connect({circuit(1, 2)});  // from the switch of servers 0 and 1 to that of servers 2 and 3
  RailSwitches& switches = s.site.shared.switches;
  for (const std::uint32_t which : {0u, 1u}) {
    const std::vector<Circuit> lit = s.transitions.lit_on(which);
    switches.go_dark(which);
    s.transitions.pause(lit);
  }
  s.site.listener.calls.clear();
  switches.come_back(0);
  s.transitions.resume(0);
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 light back"));
  switches.come_back(1);
  s.transitions.resume(1);
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 light back", "0 lit 1-2", "0 light back"));
}

TEST(CircuitTransitions, ACircuitThatIsMadeOnADarkSwitchIsPausedFromTheStart) {
  TransitionsSite s(4, 1, whole_switch);
  s.site.shared.switches.go_dark(0);  // for another command
  const CircuitPlan change = s.changes({circuit(0, 1)});
  s.transitions.light(change.connect, s.transitions.darken(change, false));
  EXPECT_TRUE(s.site.listener.calls.empty());
  s.site.shared.switches.come_back(0);
  s.transitions.resume(0);
  EXPECT_THAT(s.site.listener.calls, ElementsAre("0 lit 0-1", "0 light back"));
}

}  // namespace
}  // namespace photonrail::fabric::test
