#include "control/phase_width.hpp"

#include "control/shown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::test {

using control::PhaseWidth;

namespace {

using testing::RailView;

// The middle stage of a pipeline sends to both neighbours, and hears from both; a ring has one partner each way.
Shown pipeline(RailView& rail) {
  Shown shown(rail);
  shown.sends(0, Dimension::kPp, {{0, 1}}, {1}).sends(1, Dimension::kPp, {{1, 0}, {1, 2}}, {1, 1});
  shown.sends(2, Dimension::kPp, {{2, 1}}, {1}).sends(1, Dimension::kDp, {{1, 2}, {2, 1}}, {1, 1});
  shown.view.reconfiguration.switching = Duration{1'000'000};  // a byte never takes so long
  return shown;
}

TEST(PhaseWidth, SharesThePortsAmongThePartnersOfThePhase) {
  RailView rail(3, 4);
  rail.demand({{0, 1}}, Dimension::kPp).demand({{1, 2}}, Dimension::kDp).demand({{0, 1}, {0, 2}}, Dimension::kEp);
  const Shown shown = pipeline(rail);
  PhaseWidth width;
  width.learn(shown.view);
  EXPECT_EQ(width.of(shown.view, shown.view.requests[0]), 2u) << "1 hears from 0 and from 2";
  EXPECT_EQ(width.of(shown.view, shown.view.requests[1]), 4u) << "the ring has all";
  EXPECT_EQ(width.of(shown.view, shown.view.requests[2]), 2u) << "not in the schedule: as many as the demand has";
}

// Where re-pointing takes no time, a share of the ports only makes messages longer.
TEST(PhaseWidth, SharesNothingWhereThatCostsMoreThanItSaves) {
  RailView rail(3, 4);
  rail.demand({{0, 1}}, Dimension::kPp);
  Shown shown = pipeline(rail);
  shown.view.reconfiguration.switching = Duration{};
  PhaseWidth width;
  width.learn(shown.view);
  EXPECT_EQ(width.of(shown.view, shown.view.requests[0]), 4u);
}

TEST(PhaseWidth, GoesByTheDemandWhereThePhaseHasMorePartnersThanPorts) {
  RailView rail(4, 2);
  rail.demand({{0, 1}}, Dimension::kEp);
  Shown shown(rail);
  shown.sends(0, Dimension::kEp, {{0, 1}, {0, 2}, {0, 3}}, {1, 1, 1});
  PhaseWidth width;
  EXPECT_EQ(width.of(shown.view, shown.view.requests[0]), 2u);
  width.learn(shown.view);
  EXPECT_EQ(width.of(shown.view, shown.view.requests[0]), 2u);
}

// Both ports of 0 lead to 1; the pipeline wants one for each neighbour.
TEST(PhaseWidth, OpusGivesEachNeighbourOfAPipelineStageAPort) {
  for (const std::string name : {"opus", "coalesce"}) {
    RailView rail(3, 2);
    rail.demand({{1, 2}}, Dimension::kPp).demand({{1, 0}}, Dimension::kPp);
    const Shown shown = pipeline(rail);
    const auto policy = make_controller(name, {}, 2);
    const Decision decision = policy->decide(shown.view);
    ASSERT_FALSE(decision.keeps()) << name;
    EXPECT_EQ(joined(shown.view, decision.plan()), (std::vector<ServerPair>{{1, 0}, {1, 2}})) << name;
  }
}

}  // namespace
}  // namespace photonrail::test
