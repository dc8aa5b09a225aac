// Opus on rails of several planes, and on rails with faulty ports.
#include "photonrail/controller.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photonrail {
namespace {

using testing::RailView;

std::unique_ptr<Controller> opus_policy() {
  return ControllerRegistry::builtin().find("opus").make(ControllerSpec{}, RailId{0}, 1, 1);
}

/// The view of a rail, in which some ports are faulty.
class Faulty {
 public:
  Faulty(RailView& rail, const std::vector<PortId>& ports) : view(rail.view()) {
    transmit_.assign(view.transmit.begin(), view.transmit.end());
    for (const PortId port : ports) transmit_[port.index()].faulty = true;
    view.transmit = transmit_;
  }

  FabricView view;

 private:
  std::vector<PortView> transmit_;
};

TEST(OpusPorts, ACircuitStaysOnItsPlane) {
  RailView rail(3, 2);
  rail.in_use({2, 1}).demand({{0, 1}}, Dimension::kPp);  // the receive side of port 0 of position 1 is taken
  FabricView view = rail.view();
  EXPECT_EQ(opus_policy()->decide(view).plan().connect, (std::vector<Circuit>{{view.port(0, 0), view.port(1, 1)}}));
  view.planes = 2;
  EXPECT_EQ(opus_policy()->decide(view).plan().connect, (std::vector<Circuit>{{view.port(0, 1), view.port(1, 1)}}));
}

TEST(OpusPorts, AFreePlaneIsTakenBeforeCircuitsThatNobodyUses) {
  RailView rail(4, 2);
  rail.lit({0, 2}).demand({{0, 1}, {0, 3}}, Dimension::kPp);  // on plane 0; each pair gets one port
  FabricView view = rail.view();
  view.planes = 2;
  EXPECT_EQ(opus_policy()->decide(view).plan().connect,
            (std::vector<Circuit>{{view.port(0, 1), view.port(1, 1)}, {view.port(0, 0), view.port(3, 0)}}));
}

TEST(OpusPorts, AFaultyPortIsLeftAlone) {
  RailView rail(2, 2);
  rail.demand({{0, 1}}, Dimension::kPp);
  const FabricView plain = rail.view();
  EXPECT_EQ(opus_policy()->decide(plain).plan().connect.size(), 2u);
  const Faulty sender(rail, {plain.port(0, 0)});
  EXPECT_EQ(opus_policy()->decide(sender.view).plan().connect,
            (std::vector<Circuit>{{plain.port(0, 1), plain.port(1, 0)}}));
  const Faulty receiver(rail, {plain.port(1, 0)});
  EXPECT_EQ(opus_policy()->decide(receiver.view).plan().connect,
            (std::vector<Circuit>{{plain.port(0, 0), plain.port(1, 1)}}));
  const Faulty none_left(rail, {plain.port(1, 0), plain.port(1, 1)});
  EXPECT_TRUE(opus_policy()->decide(none_left.view).keeps());
}

TEST(OpusPorts, WhatAStuckPortIsJoinedToCannotBeTaken) {
  RailView rail(3);
  rail.lit({0, 2}).demand({{0, 1}}, Dimension::kPp);
  EXPECT_FALSE(opus_policy()->decide(rail.view()).keeps());
  EXPECT_TRUE(opus_policy()->decide(Faulty(rail, {PortId{0u}}).view).keeps()) << "the sender is stuck";
  EXPECT_TRUE(opus_policy()->decide(Faulty(rail, {PortId{2u}}).view).keeps()) << "the other end of its circuit is stuck";
  RailView other(3);
  other.lit({2, 1}).demand({{0, 1}}, Dimension::kPp);
  EXPECT_TRUE(opus_policy()->decide(Faulty(other, {PortId{2u}}).view).keeps()) << "who sends to the receiver is stuck";
  RailView joined(3);
  joined.lit({0, 1}).demand({{0, 1}}, Dimension::kPp);
  EXPECT_TRUE(opus_policy()->decide(Faulty(joined, {PortId{0u}}).view).keeps()) << "it has what it wants";
}

}  // namespace
}  // namespace photonrail
