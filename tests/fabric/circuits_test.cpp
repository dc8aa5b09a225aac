// The circuits of an optical rail in time: commands, holds, parallel circuits, ways over several hops, pauses.
#include "fabric/rail.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>
#include <vector>

namespace photonrail::test {

using fabric::OpticalRail;
using network::Network;
using network::Path;

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

void forwarding(RailSpec& spec) { spec.forwarding = true; }
void pause(RailSpec& spec) { spec.on_dark = OnDark::kPause; }

// ---- commands

TEST(Commands, AreUsableAfterBeforeSwitchingLinkUpAndAfter) {
  Rail r(4, 1, [](RailSpec& spec) { spec.optical.link_up = microseconds(30); });
  const auto command = r.rail().apply({{Rail::circuit(0, 1), Rail::circuit(2, 3)}, {}},
                                      {.before = microseconds(7), .after = microseconds(11)});
  ASSERT_TRUE(command.has_value());
  // 7 until the switch begins, 100 of switching, 30 of link bring-up, 11 until the ranks know.
  EXPECT_EQ(command->usable, Time{microseconds(148)});
  // 7 until the switch begins, 100 of switching, 30 of link bring-up, 11 until the ranks know.
  EXPECT_THAT(r.way(0, 1), IsEmpty());
  r.engine.run();
  EXPECT_THAT(r.done, ElementsAre(Pair(command->id, microseconds(148))));
  EXPECT_THAT(r.lit, UnorderedElementsAre(Pair(Rail::circuit(0, 1), microseconds(148)),
                                          Pair(Rail::circuit(2, 3), microseconds(148))));
  // Two circuits in switching for 100 + 30; the messages before and after are not the switch's time.
  EXPECT_EQ(r.rail().dark_port_time(), 2 * microseconds(130));
}

TEST(Commands, DarkenOnlyWhatChanges) {
  Rail r(4);
  r.light({Rail::circuit(0, 1), Rail::circuit(2, 3)});
  const auto command = r.connect({Rail::circuit(0, 1), Rail::circuit(2, 0)});
  ASSERT_TRUE(command.has_value());
  EXPECT_THAT(command->change.connect, ElementsAre(Rail::circuit(2, 0)));
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{0u})) << "it keeps carrying traffic";
  EXPECT_THAT(r.way(2, 3), IsEmpty());
  r.engine.run();
  EXPECT_THAT(r.way(2, 0), ElementsAre(PortId{2u}));
  EXPECT_EQ(r.rail().dark_port_time(), 3 * kSwitching);
}

TEST(Commands, APlanOfWhatIsThereIsNone) {
  Rail r(2);
  r.light({Rail::circuit(0, 1)});
  EXPECT_FALSE(r.connect({Rail::circuit(0, 1)}).has_value());
  EXPECT_FALSE(r.disconnect(1).has_value()) << "port 1 is dark already";
}

TEST(Commands, ADisconnectLeavesThePortDark) {
  Rail r(2);
  r.light({Rail::circuit(0, 1)});
  EXPECT_TRUE(r.disconnect(0).has_value());
  EXPECT_THAT(r.way(0, 1), IsEmpty());
  EXPECT_EQ(r.rail().dark_port_time(), kSwitching) << "dark, but not switching";
}

TEST(Commands, ALightThatComesLateLeavesARetakenCircuitAlone) {
  Rail r(3);
  r.connect({Rail::circuit(0, 1)});                                   // would be lit at 100 us
  r.at(microseconds(40), [&] { r.connect({Rail::circuit(0, 2)}); });  // takes the port: 140 us
  r.at(microseconds(60), [&] { r.connect({Rail::circuit(0, 1)}); });  // and back: 160 us
  r.at(microseconds(159), [&] { EXPECT_THAT(r.way(0, 1), IsEmpty()); });
  r.engine.run();
  EXPECT_THAT(r.lit, ElementsAre(Pair(Rail::circuit(0, 1), microseconds(160))));
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{0u}));
  EXPECT_THAT(r.way(0, 2), IsEmpty());
  EXPECT_THAT(r.done, ElementsAre(Pair(0, microseconds(100)), Pair(1, microseconds(140)), Pair(2, microseconds(160))));
}

TEST(Commands, TouchedPortsAreToldOnce) {
  Rail r(3);
  r.light({Rail::circuit(0, 1)});
  std::vector<PortId> touched;
  r.rail().take_touched(touched);
  EXPECT_THAT(touched, UnorderedElementsAre(PortId{0u}, PortId{1u}));
  r.rail().take_touched(touched);
  EXPECT_THAT(touched, IsEmpty());
  r.rail().release(r.hold(0, 1));
  r.rail().take_touched(touched);
  EXPECT_THAT(touched, ElementsAre(PortId{0u}));
}

TEST(Commands, APlanThatIsNoMatchingIsRefused) {
  Rail r(3);
  EXPECT_THROW(r.connect({Rail::circuit(0, 1), Rail::circuit(0, 2)}), ControllerError);
  EXPECT_THROW(r.connect({Rail::circuit(0, 1), Rail::circuit(2, 1)}), ControllerError);
  EXPECT_THROW(r.connect({Rail::circuit(0, 3)}), ControllerError);
}

// ---- holds

TEST(Holds, ProtectTheirCircuit) {
  Rail r(3);
  r.light({Rail::circuit(0, 1)});
  EXPECT_FALSE(r.rail().hold(0, 2, 7).has_value()) << "there is no circuit to hold";
  const auto first = r.hold(0, 1, 7);
  const auto second = r.hold(0, 1, 8);
  // It may be taken by its transmit side, by its receive side, or be darkened.
  for (const CircuitPlan& plan :
       {CircuitPlan{{Rail::circuit(0, 2)}, {}}, CircuitPlan{{Rail::circuit(2, 1)}, {}}, CircuitPlan{{}, {PortId{0u}}}}) {
    try {
      r.rail().apply(plan, {});
      FAIL() << "a circuit in use was torn down";
    } catch (const ControllerError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("from port 0 to port 1"), HasSubstr("2 operations use it")));
    }
  }
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{0u})) << "a refused plan changes nothing";
  r.rail().release(first);
  EXPECT_THROW(r.connect({Rail::circuit(0, 2)}), ControllerError);
  r.rail().release(second);
  EXPECT_NO_THROW(r.connect({Rail::circuit(0, 2)}));
}

TEST(Holds, AreOnEveryHopOfAWay) {
  Rail r(4, 1, forwarding);
  r.light({Rail::circuit(0, 1), Rail::circuit(1, 2)});
  const auto hold = r.hold(0, 2);
  EXPECT_THROW(r.connect({Rail::circuit(0, 3)}), ControllerError);
  EXPECT_THROW(r.connect({Rail::circuit(1, 3)}), ControllerError);
  r.rail().release(hold);
  EXPECT_NO_THROW(r.connect({Rail::circuit(1, 3)}));
}

// ---- parallel circuits

TEST(ParallelCircuits, AreOneLinkOfTheirSummedRate) {
  Rail r(2, 2);  // server 0 has ports 0 and 1, server 1 ports 2 and 3
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3)});
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{0u})) << "the leader stands for both";
  r.post(0, 1, 10 * kMegabyte, 1);
  r.engine.run();
  // 10 MB at 2 x 50 GB/s.
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, kSwitching + microseconds(100) + kLatency)));
  // A hold is on both.
  const auto hold = r.hold(0, 1);
  EXPECT_THROW(r.disconnect(1), ControllerError);
  r.rail().release(hold);
  EXPECT_NO_THROW(r.disconnect(1));
  r.engine.run();
  r.arrivals.clear();
  const Duration begin = r.engine.now().since_start();
  r.post(0, 1, 10 * kMegabyte, 2);
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(2, begin + microseconds(200) + kLatency))) << "one is left";
}

TEST(ParallelCircuits, OneThatJoinsALinkInUseSpeedsItUp) {
  Rail r(2, 2);
  r.light({Rail::circuit(1, 2)});  // port 1 leads, and is in use when port 0 comes
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1);
    r.post(0, 1, 20 * kMegabyte, 1);
    r.connect({Rail::circuit(0, 3)});  // lit 100 us later
  });
  r.engine.run();
  // 100 us at 50 GB/s move 5 MB; the other 15 MB take 150 us at 100 GB/s.
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{1u}));
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, kSwitching + microseconds(100 + 150) + kLatency)));
}

// ---- forwarding

TEST(Forwarding, TakesTheShortestWayOverLitCircuits) {
  Rail r(5, 1, forwarding);
  r.light({Rail::circuit(0, 1), Rail::circuit(1, 2), Rail::circuit(2, 3), Rail::circuit(3, 0)});
  EXPECT_THAT(r.way(0, 1), ElementsAre(PortId{0u}));
  EXPECT_THAT(r.way(0, 3), ElementsAre(PortId{0u}, PortId{1u}, PortId{2u}));
  EXPECT_THAT(r.way(0, 4), IsEmpty());
  EXPECT_EQ(route(*r.fabric, GpuId{0u}, GpuId{3u})->latency, 3 * kLatency) << "each hop pays";
  // A way is forgotten when the circuits change.
  r.light({Rail::circuit(0, 3)});
  EXPECT_THAT(r.way(0, 3), ElementsAre(PortId{0u}));
  EXPECT_THAT(r.way(0, 1), IsEmpty());
  Rail direct(5);
  direct.light({Rail::circuit(0, 1), Rail::circuit(1, 2)});
  EXPECT_THAT(direct.way(0, 2), IsEmpty()) << "not without forwarding";
}

TEST(Forwarding, TakesTheFirstInTheOrderOfPortsAmongEqualWays) {
  Rail r(4, 2, forwarding);
  // Server 0 reaches 3 over 2 (by its port 0) and over 1 (by its port 1).
  r.light({Rail::circuit(0, 4), Rail::circuit(1, 2), Rail::circuit(2, 6), Rail::circuit(4, 7)});
  EXPECT_THAT(r.way(0, 3), ElementsAre(PortId{0u}, PortId{4u}));
}

// ---- on_dark: pause

TEST(PausedCircuits, BytesGoOnWhenThePairIsJoinedAgain) {
  Rail r(3, 1, pause);
  r.light({Rail::circuit(0, 1)});
  OpticalRail::HoldId hold = 0;
  r.at(kSwitching, [&] {
    hold = r.hold(0, 1, 42);
    r.post(0, 1, 10 * kMegabyte, 1);  // 200 us
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(0, 2)}); });  // after 50 us: 7.5 MB are left
  r.at(microseconds(300), [&] {
    EXPECT_THAT(r.arrivals, IsEmpty());
    r.connect({Rail::circuit(0, 1)});  // lit at 400 us
  });
  r.engine.run();
  EXPECT_THAT(r.lost, ElementsAre(std::tuple(42, 0, 1)));
  // 7.5 MB more at 50 GB/s from 400 us on.
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(400 + 150) + kLatency)));
  EXPECT_EQ(r.in_use(0), 1u) << "the hold moved to the new circuit, and ends with it";
  r.rail().release(hold);
  EXPECT_EQ(r.in_use(0), 0u);
}

TEST(PausedCircuits, BytesGoOnOverAnotherPortOfThePair) {
  Rail r(3, 2, pause);
  r.light({Rail::circuit(0, 2)});
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1);
    r.post(0, 1, 10 * kMegabyte, 1);
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(0, 4), Rail::circuit(1, 3)}); });  // lit at 250 us
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(250 + 150) + kLatency)));
  EXPECT_EQ(r.in_use(0), 0u);
  EXPECT_EQ(r.in_use(1), 1u);
}

TEST(PausedCircuits, AHoldThatEndsWhileItsCircuitIsAwayIsForgotten) {
  Rail r(3, 1, pause);
  r.light({Rail::circuit(0, 1)});
  const auto hold = r.hold(0, 1);
  r.connect({Rail::circuit(0, 2)});
  r.rail().release(hold);  // its bytes had left before
  EXPECT_THAT(r.lost, ElementsAre(std::tuple(7, 0, 1)));
  EXPECT_THAT(r.back, ElementsAre(std::tuple(7, 0, 1))) << "nobody misses it any more";
  r.engine.run();
  // The same slot is used again, for a circuit of another pair.
  const auto next = r.hold(0, 2);
  EXPECT_EQ(next, hold);
  r.rail().release(next);
  r.light({Rail::circuit(0, 1)});
  EXPECT_EQ(r.in_use(0), 0u) << "nobody holds what is lit again";
}

TEST(PausedCircuits, ALinkOfTwoCircuitsThatLosesOneGoesOnWithTheOther) {
  Rail r(3, 2, pause);
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3)});  // server 0 to server 1, twice
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1);
    r.post(0, 1, 10 * kMegabyte, 1);  // 100 us at 100 GB/s
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(0, 4)}); });  // after 50 us: 5 MB are left
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(150 + 100) + kLatency))) << "at 50 GB/s";
  EXPECT_THAT(r.lost, IsEmpty());
}

TEST(PausedCircuits, WhatIsPostedWhileTheCircuitIsAwayWaitsForIt) {
  Rail r(3, 1, pause);
  r.light({Rail::circuit(0, 1)});
  Path path;
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1);
    path = route(*r.fabric, GpuId{0u}, GpuId{1u}).value();
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(0, 2)}); });
  // The way was found before; another link has the port by now.
  r.at(microseconds(260), [&] { r.fabric->network().post(Network::kNone, path, Bytes{5 * kMegabyte}, 1); });
  r.at(microseconds(300), [&] { r.connect({Rail::circuit(0, 1)}); });  // lit at 400 us
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(400 + 100) + kLatency)));
}

}  // namespace
}  // namespace photonrail::test
