#include "fabric/rail_routes.hpp"

#include "fabric/rail_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Five servers of one port, so that a server's port has its number. 0 > 1 > 2 > 3 is lit.
struct Routes {
  explicit Routes(const std::function<void(RailSpec&)>& change = {})
      : site(5, 1, change),
        circuits(site.circuits()),
        links(site.context, site.capacities, circuits),
        faults(circuits),
        routes({site.cluster.rail, site.shared, circuits, links, faults}) {
    light(circuits, {circuit(0, 1), circuit(1, 2), circuit(2, 3)});
    for (std::uint32_t s = 0; s < 5; ++s) links.refresh(s);
  }
  [[nodiscard]] std::vector<Hop> hops(std::uint32_t from, std::uint32_t to) {
    const std::span<const Hop> found = routes.hops({from, to});
    return {found.begin(), found.end()};
  }

  RailSite site;
  RailCircuits circuits;
  CircuitLinks links;
  PortFaults faults;
  RailRoutes routes;
};

void forward(RailSpec& spec) { spec.forwarding = true; }

TEST(RailRoutes, WithoutForwardingOnlyADirectCircuitIsAWay) {
  Routes r;
  EXPECT_THAT(r.hops(1, 2), ElementsAre(Hop{1, 2}));
  EXPECT_THAT(r.hops(0, 2), IsEmpty());
  EXPECT_THAT(r.routes.way({0, 2}), IsEmpty());
  EXPECT_EQ(r.routes.length().circuits, 0u);
}

TEST(RailRoutes, ForwardingGoesOverLitCircuits) {
  Routes r(forward);
  EXPECT_THAT(r.hops(0, 3), ElementsAre(Hop{0, 1}, Hop{1, 2}, Hop{2, 3}));
  EXPECT_THAT(r.hops(0, 4), IsEmpty());
  EXPECT_THAT(r.hops(3, 0), IsEmpty()) << "circuits have a direction";
}

TEST(RailRoutes, AWayIsFoundAnewWhenCircuitsChanged) {
  Routes r(forward);
  EXPECT_EQ(r.hops(0, 3).size(), 3u);
  darken(r.circuits, {PortId{1u}});
  EXPECT_THAT(r.hops(0, 3), IsEmpty());
  light(r.circuits, {circuit(1, 4), circuit(4, 2)});
  EXPECT_THAT(r.hops(0, 3), ElementsAre(Hop{0, 1}, Hop{1, 4}, Hop{4, 2}, Hop{2, 3}));
}

TEST(RailRoutes, ADrainingCircuitIsNoWay) {
  Routes r(forward);
  r.circuits.drain({{}, {PortId{1u}}});
  EXPECT_THAT(r.hops(1, 2), IsEmpty());
  EXPECT_THAT(r.hops(0, 2), IsEmpty());
}

TEST(RailRoutes, TheMostHopsReplaceWhatTheRailSays) {
  Routes with;
  with.routes.set_hops(2);
  EXPECT_EQ(with.hops(0, 2).size(), 2u);
  EXPECT_THAT(with.hops(0, 3), IsEmpty()) << "three circuits";
  Routes without(forward);
  without.routes.set_hops(1);
  EXPECT_THAT(without.hops(0, 2), IsEmpty());
}

TEST(RailRoutes, WhereItWaitsForADirectCircuitItForwardsOnlyUntilOneIsOnItsWay) {
  Routes r(forward);
  r.routes.wait_for_direct();
  EXPECT_EQ(r.hops(1, 3).size(), 2u);
  const CircuitPlan change{{circuit(3, 0)}, {}};
  static_cast<void>(r.circuits.begin(change));
  EXPECT_EQ(r.hops(1, 3).size(), 2u) << "another pair's";
  EXPECT_THAT(r.hops(3, 0), IsEmpty()) << "it switches";
}

TEST(RailRoutes, AroundFaultsOnlyItForwardsWhereNoPlaneIsSoundAtBothEnds) {
  Routes r(forward);
  r.routes.forward_around_faults_only();
  EXPECT_THAT(r.hops(0, 2), IsEmpty());
  r.faults.begin(PortId{2u});
  EXPECT_EQ(r.hops(0, 2).size(), 2u);
  r.faults.end(PortId{2u});
  EXPECT_THAT(r.hops(0, 2), IsEmpty());
}

TEST(RailRoutes, AWayBetweenPodsHasTheCapacitiesOfTheLayerBetweenThem) {
  Routes r([](RailSpec& spec) {
    spec.forwarding = true;
    spec.pods.servers = 2;  // servers 0 and 1, 2 and 3, 4
  });
  EXPECT_THAT(r.routes.way({0, 3}),
              ElementsAre(r.links.find({0, 1})->capacity, r.links.find({1, 2})->capacity, r.links.find({2, 3})->capacity));
  EXPECT_EQ(r.routes.length().circuits, 3u);
  EXPECT_EQ(r.routes.length().crossings, 1u) << "from server 1 to server 2";
  r.site.shared.pod_out = {100, 101, 102};
  r.site.shared.pod_in = {200, 201, 202};
  EXPECT_THAT(r.routes.way({1, 2}), ElementsAre(r.links.find({1, 2})->capacity, 100u, 201u));
}

}  // namespace
}  // namespace photonrail::fabric::test
