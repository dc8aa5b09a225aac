// Circuits of one rail on a mesh that blocks, driven by hand; and two jobs on one.
#include "fabric/mesh_admission.hpp"

#include "fabric/mesh_routes.hpp"
#include "fabric/rail.hpp"
#include "fabric/rail_transitions_site.hpp"
#include "photonrail/core/random.hpp"
#include "pip/reach.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace photonrail::test {
namespace {

using fabric::Hop;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Servers with one port each on a mesh of one row of hexagons, in which long circuits soon leave no room.
class NarrowRail : public Rail {
 public:
  explicit NarrowRail(std::uint32_t servers, std::uint32_t columns)
      : Rail(servers, 1, [columns](RailSpec& rail) {
          rail.optical.pip = PipMeshSpec{1, columns};
        }) {}

  [[nodiscard]] fabric::MeshAdmission& mesh() { return *rail().mesh(); }
  [[nodiscard]] std::vector<Circuit> up() {
    std::vector<Circuit> circuits;
    const auto& ports = rail().crossbar().transmit();
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!ports[p].peer.is_none()) circuits.push_back({PortId{p}, ports[p].peer});
    }
    return circuits;
  }
  /// Uses the circuit and gives it back.
  void use(std::uint32_t from, std::uint32_t to) { rail().release(hold(from, to)); }
  /// As many of the circuits from i to i + `shift`, in this order, as there is room for, of each the one that it is.
  std::vector<Circuit> shift(std::uint32_t by) {
    std::vector<Circuit> circuits;
    for (std::uint32_t i = 0; i < spec.servers; ++i) circuits.push_back(circuit(i, (i + by) % spec.servers));
    return circuits;
  }
};

TEST(MeshAdmission, WithRoomForAllIsACrossbar) {
  NarrowRail rail(2, 8);
  rail.light({Rail::circuit(0, 1), Rail::circuit(1, 0)});
  EXPECT_THAT(rail.up(), ElementsAre(Rail::circuit(0, 1), Rail::circuit(1, 0)));
  EXPECT_EQ(rail.mesh().summary().waited, 0u);
  EXPECT_GT(rail.mesh().summary().cells, 0u);
  EXPECT_THAT(rail.rail().restorable().connect, IsEmpty());
}

// The light of all circuits goes past the middle of the row, one hexagon high.
TEST(MeshAdmission, WhatHasNoRoomWaitsAndTheOthersAreMade) {
  NarrowRail rail(8, 8);
  rail.light(rail.shift(4));
  const std::size_t made = rail.up().size();
  EXPECT_GT(made, 0u);
  EXPECT_LT(made, 8u);
  EXPECT_EQ(rail.mesh().summary().waited, 8 - made);
  EXPECT_EQ(rail.rail().restorable().connect.size(), 8 - made);
  EXPECT_EQ(rail.rail().apply(rail.rail().restorable(), {.again = true}), std::nullopt) << "nothing changed";
  EXPECT_EQ(rail.mesh().summary().waited, 8 - made) << "each is counted once";
}

TEST(MeshAdmission, AClaimIsMadeWholeOrNotAtAll) {
  NarrowRail rail(8, 8);
  std::vector<Hop> claim;
  for (std::uint32_t i = 0; i < 8; ++i) claim.push_back({i, (i + 4) % 8});
  rail.mesh().set_claims({claim});
  rail.light(rail.shift(4));
  EXPECT_THAT(rail.up(), IsEmpty());
  EXPECT_THAT(rail.mesh().why_waiting({0, 4}).text, HasSubstr("has no ways for the 8 circuits that are wanted at once"));
  EXPECT_THAT(rail.mesh().why_waiting({0, 1}).text,
              HasSubstr("has no room for 8 more planned circuits, and this is none of them"));
}

// Each of the shifts alone, pair by pair, so that both together have more than the mesh has room for.
class MeshAdmissionInNeed : public ::testing::Test {
 protected:
  MeshAdmissionInNeed() : rail(8, 8) {
    rail.light(rail.shift(4));
    first = rail.up();
    for (const Circuit c : rail.shift(4)) {
      if (std::find(first.begin(), first.end(), c) == first.end()) lacking = c;
    }
  }
  [[nodiscard]] Hop hop(Circuit c) const { return {c.from.value, c.to.value}; }

  NarrowRail rail;
  std::vector<Circuit> first;
  Circuit lacking{};
};

TEST_F(MeshAdmissionInNeed, IdleCircuitsGiveWayToAnOperation) {
  rail.mesh().set_claims({{hop(lacking)}});
  rail.light({lacking});
  EXPECT_THAT(rail.up(), ::testing::Contains(lacking));
  const std::uint64_t displaced = rail.mesh().summary().displaced;
  EXPECT_GT(displaced, 0u);
  EXPECT_EQ(rail.up().size(), first.size() + 1 - displaced);
}

TEST_F(MeshAdmissionInNeed, CircuitsInUseDoNotAndTheWaitEndsWithTheUse) {
  std::vector<fabric::OpticalRail::HoldId> holds;
  for (const Circuit c : first) holds.push_back(rail.hold(c.from.value, c.to.value));
  rail.mesh().set_claims({{hop(lacking)}});
  rail.light({lacking});
  EXPECT_EQ(rail.up(), first);
  EXPECT_THAT(rail.mesh().why_waiting(hop(lacking)).text, HasSubstr("no room for it beside the circuits that are up"));
  for (const auto hold : holds) rail.rail().release(hold);
  ASSERT_THAT(rail.rail().restorable().connect, ::testing::Contains(lacking));
  rail.rail().apply(rail.rail().restorable(), {.again = true});
  rail.engine.run();
  EXPECT_THAT(rail.up(), ::testing::Contains(lacking));
}

TEST_F(MeshAdmissionInNeed, AnOlderClaimKeepsItsCircuitsFromAYoungerOne) {
  std::vector<std::vector<Hop>> claims;
  for (const Circuit c : first) claims.push_back({hop(c)});
  claims.push_back({hop(lacking)});
  rail.mesh().set_claims(claims);
  rail.light({lacking});
  EXPECT_EQ(rail.up(), first);
  std::rotate(claims.begin(), claims.end() - 1, claims.end());
  rail.mesh().set_claims(claims);
  rail.light({lacking});
  EXPECT_THAT(rail.up(), ::testing::Contains(lacking));
}

// Else a plan that has no room as a whole would go round in circles for ever.
TEST_F(MeshAdmissionInNeed, WhatNoOperationAskedForDisplacesOnlyWhatWasUsed) {
  rail.light({lacking});
  EXPECT_EQ(rail.up(), first);
  for (const Circuit c : first) rail.use(c.from.value, c.to.value);
  rail.light({lacking});
  EXPECT_THAT(rail.up(), ::testing::Contains(lacking));
}

TEST_F(MeshAdmissionInNeed, WhatWasDisplacedComesBackWhenAnOperationWantsIt) {
  rail.mesh().set_claims({{hop(lacking)}});
  rail.light({lacking});
  Circuit gone{};
  for (const Circuit c : first) {
    if (const auto now = rail.up(); std::find(now.begin(), now.end(), c) == now.end()) gone = c;
  }
  rail.mesh().set_claims({});
  const auto waiting = rail.rail().restorable().connect;
  EXPECT_EQ(std::find(waiting.begin(), waiting.end(), gone), waiting.end());
  rail.mesh().set_claims({{hop(gone)}});
  EXPECT_THAT(rail.rail().restorable().connect, ::testing::Contains(gone));
  rail.rail().apply(rail.rail().restorable(), {.again = true});
  rail.engine.run();
  EXPECT_THAT(rail.up(), ::testing::Contains(gone));
}

TEST_F(MeshAdmissionInNeed, AFaultMakesRoom) {
  for (const Circuit c : first) rail.hold(c.from.value, c.to.value);
  rail.mesh().set_claims({{hop(lacking)}});
  rail.light({lacking});
  ASSERT_EQ(rail.up(), first);
  rail.mesh().set_claims({});
  rail.rail().apply({{}, {first.front().from}}, {.preempt = true});
  rail.rail().apply(rail.rail().restorable(), {.again = true});
  rail.engine.run();
  EXPECT_GE(rail.up().size(), first.size()) << "another circuit took the room of the dark one";
}

// A ring of six over three planes of 2x1 hexagons: what the last plane joins makes room on the one before it.
TEST(MeshAdmission, FurtherCircuitsOfAClaimMakeRoomForItOnEveryPlane) {
  Rail rail(8, 3, [](RailSpec& spec) {
    spec.optical.pip = PipMeshSpec{2, 1};
    spec.planes = 3;
  });
  const auto on_plane = [](std::uint32_t plane, const std::vector<std::uint32_t>& servers) {
    std::vector<Circuit> circuits;
    for (const std::uint32_t s : servers) circuits.push_back(Rail::circuit(3 * s + plane, 3 * ((s + 1) % 6) + plane));
    return circuits;
  };
  rail.rail().mesh()->set_claims({{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}});
  rail.light(on_plane(2, {0, 1, 3, 4, 5}));
  rail.light(on_plane(1, {0, 1, 3, 4}));
  const auto leads_to = [&rail](Circuit c) { return rail.rail().crossbar().transmit()[c.from.index()].peer; };
  for (const Circuit c : on_plane(2, {0, 1, 3, 4, 5})) ASSERT_EQ(leads_to(c), c.to);
  for (const Circuit c : on_plane(1, {0, 1, 3, 4})) ASSERT_EQ(leads_to(c), c.to);
  rail.light(on_plane(1, {2, 5}));
  for (const Circuit c : on_plane(1, {2, 5})) EXPECT_EQ(leads_to(c), c.to);
  EXPECT_GT(rail.rail().mesh()->summary().displaced, 0u);
  EXPECT_EQ(rail.rail().mesh()->summary().waited, 0u);
}

// Two servers want four circuits each way, of which a mesh has room for some. Each way has one, so that the operation lacks
// none: a policy that asks for the rest at each of its decisions must not have those that are there switched.
TEST(MeshAdmission, FurtherCircuitsOfAPairDoNotPushEachOtherAside) {
  constexpr std::uint32_t kPorts = 4;
  std::vector<Circuit> all;
  for (std::uint32_t p = 0; p < kPorts; ++p) {
    all.push_back(Rail::circuit(p, 2 * kPorts + p));
    all.push_back(Rail::circuit(2 * kPorts + p, p));
  }
  std::size_t refused = 0;
  for (const PipMeshSpec& mesh :
       {PipMeshSpec{3, 5}, PipMeshSpec{4, 4}, PipMeshSpec{1, 8}, PipMeshSpec{2, 6}, PipMeshSpec{5, 5}}) {
    Rail rail(4, kPorts, [&mesh](RailSpec& spec) { spec.optical.pip = mesh; });
    const auto lacking = [&] {
      std::vector<Circuit> missing;
      const auto& ports = rail.rail().crossbar().transmit();
      const auto is_missing = [&ports](Circuit c) { return ports[c.from.index()].peer != c.to; };
      std::copy_if(all.begin(), all.end(), std::back_inserter(missing), is_missing);
      return missing;
    };
    rail.rail().mesh()->set_claims({{{0, 2}, {2, 0}}});
    rail.light(all);
    const std::vector<Circuit> missing = lacking();
    refused += missing.size();
    rail.light(missing);
    EXPECT_EQ(lacking(), missing) << mesh.rows << 'x' << mesh.columns;
    EXPECT_EQ(rail.rail().mesh()->summary().displaced, 0u);
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace photonrail::test

namespace photonrail::fabric::test {
namespace {

/// A job's share of a mesh, without a clock: plans are carried out at once.
struct MeshJob {
  MeshJob(MeshRoutes& routes, std::uint32_t servers, std::uint32_t columns)
      : rail(servers, 1,
             [columns](RailSpec& spec) {
               spec.optical.pip = PipMeshSpec{1, columns};
             }),
        faults(rail.circuits),
        mesh(routes, {RailId{0u}, rail.circuits, faults, rail.transitions, rail.site.notifier}) {}

  /// Returns what was changed.
  CircuitPlan carry_out(const CircuitPlan& plan) {
    CircuitPlan change = rail.circuits.crossbar().changes(plan);
    mesh.admit(plan, change, false);
    rail.transitions.light(change.connect, rail.transitions.darken(change, false));
    return change;
  }
  [[nodiscard]] bool is_up(Circuit c) const { return rail.circuits.crossbar().transmit()[c.from.index()].peer == c.to; }
  [[nodiscard]] std::vector<Circuit> up() const {
    std::vector<Circuit> circuits;
    for (std::uint32_t p = 0; p < rail.circuits.crossbar().ports(); ++p) {
      const PortId peer = rail.circuits.crossbar().transmit()[p].peer;
      if (!peer.is_none()) circuits.push_back({PortId{p}, peer});
    }
    return circuits;
  }

  TransitionsSite rail;
  PortFaults faults;
  MeshAdmission mesh;
};

ClusterSpec row_of_hexagons(std::uint32_t servers, std::uint32_t columns) {
  return RailSite::describe(servers, 1, [columns](RailSpec& spec) { spec.optical.pip = PipMeshSpec{1, columns}; });
}

// Whatever plans come, each circuit that is up has a way, and no two ways share a waveguide.
TEST(MeshAdmission, CircuitsThatAreUpAlwaysHaveWaysOfTheirOwn) {
  const ClusterSpec cluster = row_of_hexagons(6, 6);
  MeshRoutes routes(cluster);
  const pip::PipMesh mesh(1, 6, 12);  // two fibres for each of six ports
  MeshJob job(routes, 6, 6);
  RandomStream random(7, "plans");
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random.below(n)); };
  std::uint32_t blocked = 0;
  for (int step = 0; step < 300; ++step) {
    CircuitPlan plan;
    const std::uint32_t shift = 1 + below(5);
    for (std::uint32_t i = below(6); i < 6; i += 1 + below(3)) plan.connect.push_back(circuit(i, (i + shift) % 6));
    std::vector<Hop> claim;
    for (const Circuit c : plan.connect) claim.push_back(job.rail.circuits.hop(c));
    job.mesh.set_claims(below(2) == 0 ? std::vector<std::vector<Hop>>{} : std::vector<std::vector<Hop>>{claim});
    job.carry_out(plan);
    blocked += !std::all_of(plan.connect.begin(), plan.connect.end(), [&job](Circuit c) { return job.is_up(c); });
    for (const Circuit c : job.up()) {
      if (below(3) > 0) continue;
      job.rail.circuits.use(c.from);
      job.rail.circuits.release(c.from, true);
    }
    std::vector<pip::PipRoute> lit;
    for (const auto& [from, way] : routes.ways()) {
      if (job.is_up(way.circuit)) lit.push_back({{way.route.ends.a, way.route.ends.b}, way.route.waveguides});
    }
    EXPECT_EQ(lit.size(), job.up().size()) << step;
    EXPECT_EQ(pip::fault_of(mesh, lit), "") << step;
  }
  EXPECT_GT(blocked, 10u) << "else the test shows nothing";
  EXPECT_LT(blocked, 290u);
}

// A claim that finds room only with its other circuits on new ways, and circuits of the same plan, of no claim, that take
// the fibres of those.
TEST(MeshAdmission, CircuitsOfOneCommandShareNoFibre) {
  MeshRoutes routes(row_of_hexagons(6, 6));
  MeshJob job(routes, 6, 6);
  RandomStream random(11, "claims");
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random.below(n)); };
  for (int step = 0; step < 300; ++step) {
    std::vector<std::uint32_t> to{0, 1, 2, 3, 4, 5};
    for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[below(i)]);
    std::vector<Hop> claim;
    for (const Circuit c : job.up()) claim.push_back(job.rail.circuits.hop(c));
    CircuitPlan plan;
    for (std::uint32_t i = 0; i < 6; ++i) {
      if (to[i] == i || below(3) == 0) continue;
      plan.connect.push_back(circuit(i, to[i]));
      if (below(2) == 0) claim.push_back({i, to[i]});
    }
    job.mesh.set_claims({claim});
    const std::vector<Circuit> made = job.carry_out(plan).connect;
    for (std::size_t i = 0; i < made.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(share_fibre(made[i], made[j])) << "step " << step;
    }
  }
}

// Servers with even numbers are the first job's, the others the second's: all circuits cross the middle of the row.
TEST(MeshAdmission, IdleCircuitsOfOneJobGiveWayToTheOther) {
  MeshRoutes routes(row_of_hexagons(8, 8));
  MeshJob first(routes, 8, 8);
  MeshJob second(routes, 8, 8);
  second.carry_out({{circuit(1, 5), circuit(5, 1), circuit(3, 7), circuit(7, 3)}, {}});
  const std::vector<Circuit> before = second.up();
  first.mesh.set_claims({{{0, 4}}, {{4, 0}}, {{2, 6}}, {{6, 2}}});
  first.carry_out({{circuit(0, 4), circuit(4, 0), circuit(2, 6), circuit(6, 2)}, {}});
  const std::vector<Circuit> taken = first.up();
  EXPECT_FALSE(taken.empty());
  EXPECT_GT(second.mesh.summary().displaced, 0u);
  EXPECT_EQ(second.up().size(), before.size() - second.mesh.summary().displaced);
  // The first job's claims go before those of the second.
  std::vector<std::vector<Hop>> claims;
  for (const Circuit c : before) claims.push_back({second.rail.circuits.hop(c)});
  second.mesh.set_claims(claims);
  second.carry_out(second.mesh.retry());
  EXPECT_EQ(first.up(), taken);
  EXPECT_LT(second.up().size(), before.size());
  first.mesh.set_claims({});
  second.carry_out(second.mesh.retry());
  EXPECT_EQ(second.up().size(), before.size());
  // The first job's circuits wait now, and it is notified when the second gives some up.
  first.rail.site.listener.calls.clear();
  second.carry_out({{}, {before.front().from}});
  second.mesh.notify_others();
  EXPECT_THAT(first.rail.site.listener.calls, ::testing::Contains("0 light back"));
}

TEST(MeshRoutes, TheLightOfAWayMustReachItsReceiver) {
  ClusterSpec cluster = row_of_hexagons(4, 6);
  const std::vector<Circuit> far{circuit(0, 2)};
  const std::vector<Circuit> both{circuit(0, 2), circuit(1, 3)};
  MeshRoutes unlimited(cluster);
  const auto way = unlimited.find(far, {});
  ASSERT_TRUE(way);
  // 2 x 1 dB of ports, and for each cell 0.25 dB and what leaks, 10 log10(1 + 0.001) = 0.00434 dB.
  const double loss = unlimited.loss_db(MeshRoutes::cells(way->front()));
  EXPECT_NEAR(loss, 2.0 + MeshRoutes::cells(way->front()) * 0.25434, 1e-4);
  cluster.nic.optical_budget_db = loss + 0.001;
  MeshRoutes enough(cluster);
  EXPECT_TRUE(enough.bright(*way));
  cluster.nic.optical_budget_db = loss - 0.01;
  MeshRoutes dark(cluster);
  EXPECT_FALSE(dark.bright(*way));
  const auto two = unlimited.find(both, {});
  ASSERT_TRUE(two);
  cluster.nic.optical_budget_db = loss + 0.001;
  EXPECT_FALSE(MeshRoutes(cluster).bright(*two)) << "the light of the second leaks into the first";
}

TEST(PortReach, HasTheLongestShortestWayAndThePairsWithoutOne) {
  // Against the negotiated ways of each pair alone, which are the shortest.
  for (const auto& [rows, columns, ports] : {std::tuple{1u, 1u, 4u}, {1u, 6u, 8u}, {3u, 4u, 10u}, {3u, 3u, 16u}}) {
    const pip::PipMesh mesh(rows, columns, ports);
    std::uint32_t most = 0;
    std::uint64_t without = 0;
    for (std::uint32_t a = 0; a < ports; ++a) {
      for (std::uint32_t b = a + 1; b < ports; ++b) {
        const pip::PortPair pair{a, b};
        if (const auto way = pip::route_matching(mesh, {&pair, 1})) {
          most = std::max(most, static_cast<std::uint32_t>(way->front().waveguides.size()) - 1);
        } else {
          ++without;
          EXPECT_EQ(pip::search_routes(mesh, {&pair, 1}, 1'000'000).routable, pip::Routable::kNo);
        }
      }
    }
    const pip::PortReach reach = pip::port_reach(mesh, [](std::uint32_t, std::uint32_t) { return true; });
    EXPECT_EQ(reach.cells, most);
    EXPECT_EQ(reach.unjoined, without);
  }
}

}  // namespace
}  // namespace photonrail::fabric::test
