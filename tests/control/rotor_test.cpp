#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace photonrail::test {
namespace {

using testing::check_plan;
using testing::RailView;

TEST(Rotor, EveryPairTakesItsTurnAndEveryRoundIsAMatching) {
  for (const std::uint32_t positions : {2u, 3u, 5u, 8u}) {
    for (const std::uint32_t ports : {1u, 2u, 3u}) {
      RailView rail(positions, ports);
      const FabricView& view = rail.view();
      const Decision decision = make_controller("rotor", {}, ports)->decide(view);
      ASSERT_TRUE(decision.timetable.has_value());
      std::map<ServerPair, std::size_t> turns;
      for (const CircuitPlan& round : decision.timetable->rounds) {
        EXPECT_EQ(check_plan(view, round), "");
        for (const ServerPair pair : joined(view, round)) ++turns[pair];
      }
      // n(n-1) pairs; with at least n-1 ports all at once, otherwise each once for every port.
      EXPECT_EQ(turns.size(), std::size_t{positions} * (positions - 1));
      for (const auto& [pair, count] : turns) EXPECT_EQ(count, ports >= positions - 1 ? 1u : ports);
    }
  }
}

TEST(Rotor, ASlotIsAsLongAsTheDutyCycleSays) {
  RailView rail(4);
  rail.reconfiguration(Duration{1'000'000});
  ParameterValues parameters;
  parameters.set("duty", 0.75);
  // Dark for 1 us, which is a quarter.
  EXPECT_EQ(make_controller("rotor", parameters)->decide(rail.view()).timetable->slot, Duration{4'000'000});
  parameters.set("slot", Duration{7'000'000});
  EXPECT_EQ(make_controller("rotor", parameters)->decide(rail.view()).timetable->slot, Duration{7'000'000});
}

TEST(Rotor, TurnsThePortsOfItsOwnJobOnly) {
  RailView rail(5);
  FabricView view = rail.view();
  const std::vector<ServerIndex> own{0, 3, 4};
  view.own = own;
  const Decision decision = make_controller("rotor")->decide(view);
  std::map<ServerPair, std::size_t> turns;
  for (const CircuitPlan& round : decision.timetable->rounds) {
    for (const ServerPair pair : joined(view, round)) ++turns[pair];
  }
  // Three positions: six pairs in two rounds.
  EXPECT_EQ(decision.timetable->rounds.size(), 2u);
  EXPECT_THAT(turns, ::testing::UnorderedElementsAre(
                         ::testing::ServerPair(ServerPair{0, 3}, 1u), ::testing::ServerPair(ServerPair{0, 4}, 1u), ::testing::ServerPair(ServerPair{3, 0}, 1u),
                         ::testing::ServerPair(ServerPair{3, 4}, 1u), ::testing::ServerPair(ServerPair{4, 0}, 1u), ::testing::ServerPair(ServerPair{4, 3}, 1u)));
}

TEST(Rotor, SaysItOnce) {
  RailView rail(4);
  const auto rotor = make_controller("rotor");
  EXPECT_FALSE(rotor->decide(rail.view()).keeps());
  rail.demand({{0, 3}});
  EXPECT_TRUE(rotor->decide(rail.view()).keeps());
}

TEST(Rotor, TakesTwoHopsWhenItMay) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  ControllerSpec spec;
  EXPECT_EQ(registry.find("rotor").needs_of(spec).hops, 1u);
  spec.parameters.set("paths", std::string("two_hop"));
  EXPECT_EQ(registry.find("rotor").needs_of(spec).hops, 2u);
}

}  // namespace
}  // namespace photonrail::test
