#include "fabric/fault_timeline.hpp"

#include "fabric/rail_transitions_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three servers of two ports; server 0 has ports 0 and 1, server 1 ports 2 and 3.
struct Timeline : TransitionsSite {
  explicit Timeline(const PortFault& fault, std::uint32_t planes = 1)
      : TransitionsSite(3, 2,
                        [&](RailSpec& spec) {
                          spec.faults = {fault};
                          spec.planes = planes;
                        }),
        faults(circuits),
        timeline(site.context, circuits, faults, transitions, site.notifier) {
    connect({circuit(0, 2), circuit(3, 1)});
    timeline.schedule();
  }

  PortFaults faults;
  FaultTimeline timeline;
};

PortFault fault(PortFault::Kind kind) {
  PortFault f;
  f.kind = kind;
  f.server = 0;
  f.port = 0;
  f.at = Time{microseconds(50)};
  f.lasts = microseconds(200);
  return f;
}

TEST(FaultTimeline, AFailedPortLosesItsCircuitAndGetsItBackWhenItIsRepaired) {
  Timeline t(fault(PortFault::Kind::kFailed));
  t.hold({0, 1}, 7);
  EXPECT_THAT(t.timeline.lines(), IsEmpty());
  t.site.engine.run(1);
  EXPECT_THAT(t.site.listener.calls, ElementsAre("50 dark 0-2", "50 missed by 7: 0>1", "50 rail changed"));
  EXPECT_TRUE(t.faults.is_faulty(PortId{0u}));
  EXPECT_FALSE(t.faults.is_faulty(PortId{1u}));
  EXPECT_THAT(t.faults.restorable().connect, IsEmpty());
  t.site.engine.run();
  EXPECT_EQ(t.site.listener.calls.back(), "250 rail changed");
  EXPECT_FALSE(t.faults.is_faulty(PortId{0u}));
  EXPECT_THAT(t.faults.restorable().connect, ElementsAre(circuit(0, 2)));
  EXPECT_THAT(t.timeline.lines(), ElementsAre("rail 0: port 0 of server 0 failed from 0.000050 s to 0.000250 s"));
}

// Light is gone at 50 us; what held the circuit keeps it. The control plane knows at 80.
TEST(FaultTimeline, AFaultIsDarkAtOnceAndKnownOnceItIsDetected) {
  PortFault f = fault(PortFault::Kind::kFailed);
  f.detection = microseconds(30);
  Timeline t(f);
  t.hold({0, 1}, 7);
  t.site.engine.run(1);
  EXPECT_THAT(t.site.listener.calls, ElementsAre("50 dark 0-2", "50 switching 0-2"));
  EXPECT_FALSE(t.circuits.is_lit(PortId{0u}));
  EXPECT_TRUE(t.circuits.is_lit(PortId{3u})) << "another port";
  EXPECT_FALSE(t.faults.is_faulty(PortId{0u}));
  t.site.engine.run(1);
  EXPECT_TRUE(t.faults.is_faulty(PortId{0u}));
  EXPECT_THAT(t.site.listener.calls,
              ElementsAre("50 dark 0-2", "50 switching 0-2", "80 dark 0-2", "80 missed by 7: 0>1", "80 rail changed"));
  t.site.engine.run();
  EXPECT_EQ(t.site.listener.calls.back(), "250 rail changed");
  EXPECT_THAT(t.faults.restorable().connect, ElementsAre(circuit(0, 2)));
}

TEST(FaultTimeline, AFaultThatIsOverBeforeItsDetectionIsNeverKnown) {
  PortFault f = fault(PortFault::Kind::kFailed);
  f.detection = microseconds(200);
  Timeline t(f);
  t.hold({0, 1}, 7);
  t.site.engine.run();
  EXPECT_EQ(t.site.listener.calls.front(), "50 dark 0-2");
  EXPECT_THAT(t.site.listener.calls, ::testing::Contains("250 lit 0-2"));
  EXPECT_THAT(t.site.listener.calls, ::testing::Not(::testing::Contains("250 rail changed")));
  EXPECT_TRUE(t.circuits.is_lit(PortId{0u}));
}

// Plane 1 of two has port 1 of each NIC.
TEST(FaultTimeline, APlaneIsItsPortsOfEveryServer) {
  PortFault f = fault(PortFault::Kind::kFailed);
  f.server.reset();
  f.port.reset();
  f.plane = 1;
  Timeline t(f, 2);
  t.site.engine.run(1);
  for (std::uint32_t p = 0; p < 6; ++p) EXPECT_EQ(t.faults.is_faulty(PortId{p}), p % 2 == 1) << p;
  EXPECT_THAT(t.timeline.lines(),
              ElementsAre("rail 0: every port of plane 1 of every server failed from 0.000050 s to 0.000250 s"));
}

TEST(FaultTimeline, AStuckPortKeepsItsCircuit) {
  Timeline t(fault(PortFault::Kind::kStuck));
  t.site.engine.run(1);
  EXPECT_THAT(t.site.listener.calls, ElementsAre("50 rail changed"));
  EXPECT_TRUE(t.circuits.is_lit(PortId{0u}));
  EXPECT_TRUE(t.faults.is_faulty(PortId{0u}));
}

TEST(FaultTimeline, AFaultWithoutAPortIsOfEveryPortOfTheServerForTransmitAndReceive) {
  PortFault f = fault(PortFault::Kind::kFailed);
  f.port.reset();
  f.lasts.reset();
  Timeline t(f);
  t.site.engine.run();
  EXPECT_THAT(t.site.listener.calls, ElementsAre("50 dark 0-2", "50 dark 3-1", "50 rail changed"));
  EXPECT_THAT(t.timeline.lines(), ElementsAre("rail 0: every port of server 0 failed at 0.000050 s"));
}

TEST(FaultTimeline, FaultsOfOtherRailsAreNotThisOnes) {
  PortFault f = fault(PortFault::Kind::kFailed);
  f.rail = RailId{1u};
  Timeline t(f);
  EXPECT_EQ(t.site.engine.pending(), 0u);
}

}  // namespace
}  // namespace photonrail::fabric::test
