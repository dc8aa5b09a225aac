#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using testing::RailView;

TEST(MixNet, TheLargestPairComesFirstWhateverElseThatRulesOut) {
  RailView rail(4);
  rail.demand({{0, 1}, {0, 2}, {3, 1}});
  Shown shown(rail);
  shown.bytes(0, {10, 8, 8});
  EXPECT_EQ(make_controller("mixnet")->decide(shown.view).plan(), rail.plan({{0, 1}}));
}

// Of equal sizes the older comes first, then the one between earlier ranks: on servers 3, 1, 2 and 0 those are 3 and 1.
TEST(MixNet, TiesGoByAgeAndThenByRank) {
  RailView rail(4);
  rail.demand({{0, 1}}, Dimension::kDp, {.since = Time{5}}).demand({{2, 1}}, Dimension::kDp, {.since = Time{4}});
  Shown aged(rail);
  aged.bytes(0, {7}).bytes(1, {7});
  EXPECT_EQ(make_controller("mixnet")->decide(aged.view).plan(), rail.plan({{2, 1}}));
  RailView other(4);
  other.demand({{0, 1}, {3, 1}});
  Shown shown(other);
  shown.bytes(0, {7, 7});
  EXPECT_EQ(make_controller("mixnet")->decide(shown.view).plan(), other.plan({{0, 1}}));
  const std::vector<ServerIndex> own{3, 1, 2, 0};
  shown.view.own = own;
  EXPECT_EQ(make_controller("mixnet")->decide(shown.view).plan(), other.plan({{3, 1}}));
}

TEST(MixNet, ARegionComesBeforeWhatLeavesIt) {
  RailView rail(4);
  rail.demand({{0, 1}, {0, 2}});
  Shown shown(rail);
  shown.bytes(0, {1, 1000});
  ParameterValues parameters;
  parameters.set("region", 2.0);  // positions 0 and 1, 2 and 3
  EXPECT_EQ(make_controller("mixnet", parameters)->decide(shown.view).plan(), rail.plan({{0, 1}}));
}

TEST(MixNet, ALitPairThatWaitsIsNotGivenUp) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 1}, {0, 2}});
  Shown shown(rail);
  shown.bytes(0, {1, 1000});
  EXPECT_TRUE(make_controller("mixnet")->decide(shown.view).keeps());
}

TEST(MixNet, AnIterationBeginsWithTheCircuitsOfThePastOne) {
  ParameterValues parameters;
  parameters.set("refresh", std::string("iteration"));
  const auto mixnet = make_controller("mixnet", parameters);
  RailView rail(5);
  rail.demand({{0, 1}});
  Shown shown(rail);
  // 0->1 is asked for; of the others 2->3 (70) goes before 2->4 (60), and 0->2 (90) finds the port of 0 taken.
  shown.bytes(0, {5}).iteration(0, 1).traffic({{{0, 1}, 5}, {{0, 2}, 90}, {{2, 3}, 70}, {{2, 4}, 60}});
  EXPECT_THAT(joined(shown.view, mixnet->decide(shown.view).plan()), ElementsAre(ServerPair{0, 1}, ServerPair{2, 3}));
  RailView later(5);
  later.demand({{2, 4}});
  Shown same_iteration(later);
  same_iteration.bytes(0, {5}).iteration(0, 1).traffic({{{2, 3}, 70}, {{2, 4}, 60}});
  EXPECT_THAT(joined(later.view(), mixnet->decide(same_iteration.view).plan()), ElementsAre(ServerPair{2, 4}));
}

}  // namespace
}  // namespace photonrail::test
