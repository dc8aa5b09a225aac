#include "control/shown.hpp"
#include "photonrail/error.hpp"

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
      // n(n-1) pairs; with at least n-1 ports all at once, otherwise each once for every port. Ports beyond n-1 go through
      // the pairs again: 2 or 3 ports between two positions, and one more for some pairs of three.
      EXPECT_EQ(turns.size(), std::size_t{positions} * (positions - 1));
      const std::size_t shifts = positions - 1;
      for (const auto& [pair, count] : turns) {
        EXPECT_GE(count, ports >= shifts ? ports / shifts : ports);
        EXPECT_LE(count, ports >= shifts ? (ports + shifts - 1) / shifts : ports);
      }
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

// Dark for 1 us, and 50 us until the switch carries a command out: 51 us are a tenth.
TEST(Rotor, ASlotLeavesTimeForTheQueueOfTheSwitch) {
  RailView rail(4);
  rail.reconfiguration(Duration{1'000'000});
  FabricView view = rail.view();
  view.reconfiguration.batching = Duration{50'000'000};
  EXPECT_NEAR(to_seconds(make_controller("rotor")->decide(view).timetable->slot), 510e-6, 1e-9);
  // A command every 200 us, and two jobs: one may wait 200 us for the other's, and they need 400 us a slot.
  view.reconfiguration.batching = Duration{};
  view.reconfiguration.command_gap = Duration{200'000'000};
  view.reconfiguration.jobs = 2;
  EXPECT_EQ(view.reconfiguration.shortest_slot(), Duration{400'000'001});
  EXPECT_GE(make_controller("rotor")->decide(view).timetable->slot, Duration{601'000'000});
}

// Ranks are on servers 4, 0 and 3: the first sends to the second, the second to the third, then the first to the third.
TEST(Rotor, GoesByRanksAndNotByServers) {
  RailView rail(5);
  FabricView view = rail.view();
  const std::vector<ServerIndex> own{4, 0, 3};
  view.own = own;
  const Decision decision = make_controller("rotor")->decide(view);
  EXPECT_THAT(joined(view, decision.timetable->rounds[0]),
              ::testing::ElementsAre(ServerPair{0, 3}, ServerPair{3, 4}, ServerPair{4, 0}));
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
  EXPECT_THAT(
      turns, ::testing::UnorderedElementsAre(::testing::Pair(ServerPair{0, 3}, 1u), ::testing::Pair(ServerPair{0, 4}, 1u),
                                             ::testing::Pair(ServerPair{3, 0}, 1u), ::testing::Pair(ServerPair{3, 4}, 1u),
                                             ::testing::Pair(ServerPair{4, 0}, 1u), ::testing::Pair(ServerPair{4, 3}, 1u)));
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

// Of delays that are drawn, nearly all have to end well within a slot: 3 us in the middle, 50 us at the most.
TEST(Rotor, ASlotLeavesTimeForDelaysThatAreDrawn) {
  RailView rail(4);
  FabricView view = rail.view();
  view.reconfiguration.switching = Duration{3'000'000};
  view.reconfiguration.longer = Duration{47'000'000};
  EXPECT_NEAR(to_seconds(make_controller("rotor")->decide(view).timetable->slot), 500e-6, 1e-9);  // a tenth of it is dark
}

TEST(Rotor, RefusesASlotInWhichNothingIsEverLit) {
  RailView rail(4);
  rail.reconfiguration(Duration{5'000'000});
  ParameterValues parameters;
  parameters.set("slot", Duration{5'000'000});
  try {
    (void)make_controller("rotor", parameters)->decide(rail.view());
    FAIL() << "a slot of 5 us, and 5 us of darkness";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where(), "controller.parameters.slot");
    EXPECT_THAT(error.hint(), ::testing::HasSubstr("at least 5.000001 us"));
  }
}

// Circuits cost nothing, but the switch takes a command a second: 100 us would be too short.
TEST(Rotor, ASlotThatItChoosesIsNeverTooShort) {
  RailView rail(4);
  FabricView view = rail.view();
  view.reconfiguration = {};
  view.reconfiguration.command_gap = Duration{1'000'000'000'000};
  EXPECT_GE(make_controller("rotor")->decide(view).timetable->slot, view.reconfiguration.shortest_slot());
}

TEST(Rotor, RefusesMorePositionsThanATurnHasRoomFor) {
  RailView rail(20'000);
  EXPECT_THROW((void)make_controller("rotor")->decide(rail.view()), ConfigError);
}

}  // namespace
}  // namespace photonrail::test
