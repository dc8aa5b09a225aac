// The switches of an optical rail: queues of commands, darkness, planes, pods, faults of ports.
#include "fabric/rail.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace photonrail::test {

using fabric::OpticalRail;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr auto kNothing = Duration{};

// ---- when a command begins

TEST(Switches, SettlingAndLinkBringUpComeAfterSwitching) {
  Rail r(2, 1, [](RailSpec& spec) {
    spec.optical.settle = microseconds(20);
    spec.optical.link_up = microseconds(30);
  });
  r.light({Rail::circuit(0, 1)});
  EXPECT_THAT(r.lit, ElementsAre(Pair(Rail::circuit(0, 1), microseconds(100 + 20 + 30))));
  EXPECT_EQ(r.rail().dark_port_time(), microseconds(150));
  EXPECT_EQ(r.spec.rail.optical.typical(), microseconds(150));
}

TEST(Switches, ABatchBeginsWhenItsWindowEnds) {
  Rail r(6, 1, [](RailSpec& spec) { spec.optical.batching = microseconds(50); });
  r.connect({Rail::circuit(0, 1)});
  r.at(microseconds(40), [&] { r.connect({Rail::circuit(2, 3)}); });
  r.at(microseconds(60), [&] { r.connect({Rail::circuit(4, 5)}); });
  r.engine.run();
  // The window of the first is 0 to 50; the one at 60 opens another, to 110. Each batch then switches for 100.
  EXPECT_THAT(r.done, ElementsAre(Pair(0, microseconds(150)), Pair(1, microseconds(150)), Pair(2, microseconds(210))));
}

TEST(Switches, ABatchIsDrawnOnce) {
  Rail r(4, 1, [](RailSpec& spec) {
    spec.optical.batching = microseconds(50);
    spec.optical.reconfiguration = {DelayDistribution::Kind::kUniform, microseconds(10), microseconds(90), 0.0};
  });
  r.connect({Rail::circuit(0, 1)});
  r.at(microseconds(40), [&] { r.connect({Rail::circuit(2, 3)}); });
  r.engine.run();
  ASSERT_EQ(r.done.size(), 2u);
  EXPECT_EQ(r.done[0].second, r.done[1].second);
  EXPECT_GE(r.done[0].second, microseconds(60));
  EXPECT_LE(r.done[0].second, microseconds(140));
}

TEST(Switches, CommandsBeginNoCloserThanTheirRateAllows) {
  Rail r(6, 1, [](RailSpec& spec) { spec.optical.command_gap = microseconds(40); });
  r.connect({Rail::circuit(0, 1)});
  r.at(microseconds(10), [&] { r.connect({Rail::circuit(2, 3)}); });
  r.at(microseconds(20), [&] { r.connect({Rail::circuit(4, 5)}); });
  r.engine.run();
  // They begin at 0, 40 and 80; what waits is dark from the decision on, but only switching counts as dark.
  EXPECT_THAT(r.done, ElementsAre(Pair(0, microseconds(100)), Pair(1, microseconds(140)), Pair(2, microseconds(180))));
  EXPECT_EQ(r.rail().dark_port_time(), 3 * kSwitching);
}

TEST(Switches, WhatWaitsForTheRateJoinsOneBatch) {
  Rail r(6, 1, [](RailSpec& spec) {
    spec.optical.command_gap = microseconds(200);
    spec.optical.batching = microseconds(10);
  });
  r.connect({Rail::circuit(0, 1)});
  r.at(microseconds(50), [&] { r.connect({Rail::circuit(2, 3)}); });
  r.at(microseconds(90), [&] { r.connect({Rail::circuit(4, 5)}); });
  r.engine.run();
  // 10 + 100; the next batch may begin at 10 + 200, and takes both.
  EXPECT_THAT(r.done, ElementsAre(Pair(0, microseconds(110)), Pair(1, microseconds(310)), Pair(2, microseconds(310))));
}

// ---- a switch that is dark as a whole

void whole(RailSpec& spec) { spec.optical.darkness = DarkScope::kSwitch; }

TEST(WholeSwitch, OtherCircuitsStandStillWhileItRepoints) {
  Rail r(4, 1, whole);
  r.light({Rail::circuit(0, 1)});  // 100 us
  OpticalRail::HoldId hold = 0;
  r.at(kSwitching, [&] {
    hold = r.hold(0, 1);
    r.post(0, 1, 10 * kMegabyte, 1);  // 200 us
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(2, 3)}); });
  r.at(microseconds(200), [&] {
    EXPECT_FALSE(r.rail().is_lit(PortId{0u}));
    EXPECT_FALSE(r.rail().hold(0, 1, 8).has_value()) << "nobody can begin";
    EXPECT_EQ(r.in_use(0), 1u);
  });
  r.at(microseconds(250), [&] { EXPECT_TRUE(r.rail().is_lit(PortId{0u})); });
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(100 + 200 + 100) + kLatency)));
  EXPECT_THAT(r.lost, IsEmpty()) << "nobody took it away";
  EXPECT_THAT(r.changed, ElementsAre(kSwitching, microseconds(250)));
  // Three circuits of 100 us: the two that were switched, and the one that stood still.
  EXPECT_EQ(r.rail().dark_port_time(), 3 * kSwitching);
  r.rail().release(hold);
  EXPECT_EQ(r.in_use(0), 0u);
}

TEST(WholeSwitch, IsDarkUntilTheLastOfItsCommandsIsDone) {
  Rail r(6, 1, whole);
  r.light({Rail::circuit(0, 1)});
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1);
    r.post(0, 1, 10 * kMegabyte, 1);
  });
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(2, 3)}); });  // to 250
  r.at(microseconds(200), [&] { r.connect({Rail::circuit(4, 5)}); });  // to 300
  r.at(microseconds(299), [&] { EXPECT_FALSE(r.rail().is_lit(PortId{2u})) << "switched, and dark with the others"; });
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(100 + 200 + 150) + kLatency)));
  EXPECT_THAT(r.lit,
              ElementsAre(Pair(Rail::circuit(0, 1), kSwitching), Pair(Rail::circuit(0, 1), microseconds(300)),
                          Pair(Rail::circuit(2, 3), microseconds(300)), Pair(Rail::circuit(4, 5), microseconds(300))));
  // 100 each for three that were switched, 150 for the first while it stood still, 50 for the second.
  EXPECT_EQ(r.rail().dark_port_time(), microseconds(300 + 150 + 50));
}

TEST(WholeSwitch, ACircuitThatIsTakenAwayMeanwhileIsPausedNoLonger) {
  Rail r(4, 1, whole);
  r.light({Rail::circuit(0, 1)});
  r.at(microseconds(150), [&] { r.connect({Rail::circuit(2, 3)}); });  // to 250
  r.at(microseconds(200), [&] { r.connect({Rail::circuit(0, 2)}); });  // to 300
  r.engine.run();
  EXPECT_THAT(r.way(0, 1), IsEmpty());
  EXPECT_THAT(r.way(0, 2), ElementsAre(PortId{0u}));
  EXPECT_THAT(r.way(2, 3), ElementsAre(PortId{2u}));
  // Switched: 3 x 100. 0-1 stood still from 150 to 200, 2-3 from 250 to 300.
  EXPECT_EQ(r.rail().dark_port_time(), microseconds(300 + 50 + 50));
}

// ---- planes

TEST(Planes, JoinPortsOfTheSameNumberOnly) {
  Rail r(2, 2, [](RailSpec& spec) { spec.planes = 2; });
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3)});
  EXPECT_EQ(r.way(0, 1).size(), 1u);
  try {
    r.connect({Rail::circuit(0, 3)});
    FAIL() << "accepted";
  } catch (const ControllerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("port 0 on plane 0 to port 3 on plane 1"));
  }
}

TEST(Planes, AreSwitchesOfTheirOwn) {
  Rail r(3, 2, [](RailSpec& spec) {
    spec.planes = 2;
    whole(spec);
    spec.optical.command_gap = microseconds(1000);
  });
  // One plan, a part for each plane: neither waits for the other's rate.
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3)});
  EXPECT_THAT(r.done, ElementsAre(Pair(0, kSwitching)));
  r.at(microseconds(500), [&] { r.connect({Rail::circuit(2, 4)}); });
  // Plane 0 may begin again at 1000, and is dark then; plane 1 is not.
  r.at(microseconds(1050), [&] {
    EXPECT_FALSE(r.rail().is_lit(PortId{0u}));
    EXPECT_TRUE(r.rail().is_lit(PortId{1u}));
  });
  r.engine.run();
  EXPECT_THAT(r.done, ElementsAre(Pair(0, kSwitching), Pair(1, microseconds(1100))));
}

// ---- pods

// Pods of two servers; a port carries 50 GB/s.
void pods(RailSpec& spec) {
  spec.pods.servers = 2;
  spec.pods.latency = microseconds(3);
}

TEST(Pods, ShareWhatAnElectricalLayerHas) {
  Rail r(4, 1, [](RailSpec& spec) {
    pods(spec);
    spec.pods.oversubscription = 2.0;
  });
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3), Rail::circuit(2, 1), Rail::circuit(3, 0)});
  r.post(0, 2, 10 * kMegabyte, 1);
  r.post(1, 3, 10 * kMegabyte, 2);
  r.post(2, 1, 10 * kMegabyte, 3);
  r.engine.run();
  // Pod 0 sends over 2 x 50 / 2 GB/s: 25 for each of its two, 400 us. Pod 1 has one that sends: 50 GB/s, 200 us.
  const Duration latency = kLatency + microseconds(3);
  EXPECT_THAT(r.arrivals, UnorderedElementsAre(Pair(3, kSwitching + microseconds(200) + latency),
                                               Pair(1, kSwitching + microseconds(400) + latency),
                                               Pair(2, kSwitching + microseconds(400) + latency)));
}

TEST(Pods, WithoutOversubscriptionOnlyTheLatencyIsMore) {
  Rail r(4, 1, pods);
  r.light({Rail::circuit(0, 2), Rail::circuit(1, 3), Rail::circuit(2, 1)});
  for (const std::size_t from : {0u, 1u}) r.post(from, from + 2, 10 * kMegabyte, from);
  r.engine.run();
  for (const auto& [tag, at] : r.arrivals)
    EXPECT_EQ(at, kSwitching + microseconds(200) + kLatency + microseconds(3)) << tag;
  Rail inside(4, 1, pods);
  inside.light({Rail::circuit(0, 1)});
  EXPECT_EQ(route(*inside.fabric, GpuId{0u}, GpuId{1u})->latency, kLatency);
}

TEST(Pods, ACircuitBetweenThemWaitsForBothSwitches) {
  Rail r(4, 1, [](RailSpec& spec) {
    pods(spec);
    spec.optical.command_gap = microseconds(40);
  });
  r.connect({Rail::circuit(0, 1)});
  r.at(microseconds(10), [&] { r.connect({Rail::circuit(1, 2), Rail::circuit(2, 3)}); });
  r.engine.run();
  // The switch of pod 0 comes to the second command at 40, that of pod 1 at 10: 2-3 is lit at 110, 1-2 at 140.
  EXPECT_THAT(r.lit, ElementsAre(Pair(Rail::circuit(0, 1), microseconds(100)), Pair(Rail::circuit(2, 3), microseconds(110)),
                                 Pair(Rail::circuit(1, 2), microseconds(140))));
  EXPECT_THAT(r.done, ElementsAre(Pair(0, microseconds(100)), Pair(1, microseconds(140))));
  EXPECT_EQ(r.rail().dark_port_time(), 3 * kSwitching) << "a circuit is dark once, however many switches it passes";
}

// ---- faults

PortFault fault(PortFault::Kind kind, std::uint32_t server, std::uint32_t port, Duration at) {
  return {kind, std::nullopt, server, port, Time{at}, std::nullopt};
}

TEST(Faults, AFailedPortIsRefusedAndTheRestOfThePlanCarriedOut) {
  Rail r(4, 1, [](RailSpec& spec) { spec.faults = {fault(PortFault::Kind::kFailed, 1, 0, kNothing)}; });
  r.engine.run();
  EXPECT_TRUE(r.rail().is_faulty(PortId{1u}));
  EXPECT_FALSE(r.connect({Rail::circuit(0, 1)}).has_value());
  EXPECT_FALSE(r.connect({Rail::circuit(1, 0)}).has_value());
  const auto command = r.connect({Rail::circuit(0, 1), Rail::circuit(2, 3)});
  ASSERT_TRUE(command.has_value());
  EXPECT_THAT(command->change.connect, ElementsAre(Rail::circuit(2, 3)));
  EXPECT_THAT(r.rail().faults(), ElementsAre("rail 0: port 0 of server 1 failed at 0.000000 s"));
}

TEST(Faults, BytesGoOnOverTheCircuitThatIsLeft) {
  Rail r(2, 2, [](RailSpec& spec) { spec.faults = {fault(PortFault::Kind::kFailed, 0, 0, microseconds(150))}; });
  r.connect({Rail::circuit(0, 2), Rail::circuit(1, 3)});
  OpticalRail::HoldId hold = 0;
  r.at(kSwitching, [&] {
    hold = r.hold(0, 1);
    r.post(0, 1, 10 * kMegabyte, 1);
  });
  r.engine.run();
  // 50 us at 100 GB/s are 5 MB; the other 5 MB take 100 us at 50 GB/s.
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(100 + 50 + 100) + kLatency)));
  EXPECT_THAT(r.changed, ElementsAre(microseconds(150)));
  EXPECT_EQ(r.in_use(0), 0u);
  EXPECT_EQ(r.in_use(1), 1u);
  r.rail().release(hold);
  EXPECT_EQ(r.in_use(1), 0u);
}

TEST(Faults, BytesWithoutACircuitWaitForOneOnAnotherPort) {
  Rail r(2, 2, [](RailSpec& spec) {
    spec.planes = 2;
    spec.faults = {fault(PortFault::Kind::kFailed, 1, 0, microseconds(150))};  // the receiver's
  });
  r.connect({Rail::circuit(0, 2)});
  r.at(kSwitching, [&] {
    (void)r.hold(0, 1, 42);
    r.post(0, 1, 10 * kMegabyte, 1);
  });
  r.at(microseconds(200), [&] {
    EXPECT_THAT(r.lost, ElementsAre(std::tuple(42, 0, 1)));
    r.connect({Rail::circuit(1, 3)});  // the other plane, lit at 300
  });
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(300 + 150) + kLatency)));
  EXPECT_THAT(r.back, ElementsAre(std::tuple(42, 0, 1)));
}

TEST(Faults, ACircuitThatIsBeingSwitchedIsLost) {
  Rail r(2, 1, [](RailSpec& spec) { spec.faults = {fault(PortFault::Kind::kFailed, 0, 0, microseconds(50))}; });
  r.light({Rail::circuit(0, 1)});
  EXPECT_THAT(r.lit, IsEmpty());
  EXPECT_THAT(r.done, ElementsAre(Pair(0, kSwitching)));
}

TEST(Faults, AStuckPortKeepsItsCircuitsAndTheirBytes) {
  Rail r(4, 1, [](RailSpec& spec) { spec.faults = {fault(PortFault::Kind::kStuck, 0, 0, microseconds(150))}; });
  r.connect({Rail::circuit(0, 1), Rail::circuit(2, 0)});
  r.at(kSwitching, [&] { r.post(0, 1, 10 * kMegabyte, 1); });
  r.engine.run();
  EXPECT_THAT(r.arrivals, ElementsAre(Pair(1, microseconds(100 + 200) + kLatency)));
  // By neither of its fibres, and not by the other end of either.
  for (const Circuit circuit : {Rail::circuit(0, 3), Rail::circuit(3, 0), Rail::circuit(3, 1), Rail::circuit(2, 3)}) {
    EXPECT_FALSE(r.connect({circuit}).has_value()) << circuit.from.value << " to " << circuit.to.value;
  }
  EXPECT_FALSE(r.disconnect(0).has_value());
  EXPECT_FALSE(r.disconnect(2).has_value());
  EXPECT_TRUE(r.connect({Rail::circuit(1, 2)}).has_value());
  EXPECT_THAT(r.rail().faults(), ElementsAre(HasSubstr("port 0 of server 0 is stuck since")));
}

TEST(Faults, ThatLastAWhileAreRepaired) {
  Rail r(2, 1, [](RailSpec& spec) {
    spec.faults = {fault(PortFault::Kind::kFailed, 0, 0, kNothing)};
    spec.faults.front().lasts = microseconds(70);
  });
  r.at(microseconds(69), [&] { EXPECT_FALSE(r.connect({Rail::circuit(0, 1)}).has_value()); });
  r.at(microseconds(70), [&] { EXPECT_TRUE(r.connect({Rail::circuit(0, 1)}).has_value()); });
  r.engine.run();
  EXPECT_THAT(r.lit, ElementsAre(Pair(Rail::circuit(0, 1), microseconds(170))));
  EXPECT_THAT(r.changed, ElementsAre(kNothing, microseconds(70)));
  EXPECT_THAT(r.rail().faults(), ElementsAre(HasSubstr("port 0 of server 0 failed from 0.000000 s to 0.000070 s")));
}

TEST(Faults, WithoutAServerOrAPortAreOfAll) {
  Rail r(3, 2, [](RailSpec& spec) {
    spec.faults = {{PortFault::Kind::kFailed, RailId{0u}, std::nullopt, 1, Time{kNothing}, std::nullopt},
                   {PortFault::Kind::kStuck, std::nullopt, 2, std::nullopt, Time{kNothing}, std::nullopt},
                   {PortFault::Kind::kFailed, RailId{1u}, std::nullopt, std::nullopt, Time{kNothing}, std::nullopt}};
  });
  r.engine.run();
  std::vector<std::uint32_t> faulty;
  for (std::uint32_t p = 0; p < 6; ++p) {
    if (r.rail().is_faulty(PortId{p})) faulty.push_back(p);
  }
  // Port 1 of every server, and both of server 2; there is no other rail.
  EXPECT_THAT(faulty, ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(r.rail().faults(), ElementsAre(HasSubstr("port 1 of every server"), HasSubstr("every port of server 2")));
}

}  // namespace
}  // namespace photonrail::test
