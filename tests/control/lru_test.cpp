#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using testing::RailView;

TEST(Lru, GivesUpTheCircuitThatWasUsedTheLongestTimeAgo) {
  for (const bool first_is_older : {true, false}) {
    const auto lru = make_controller("lru", {}, 2);
    RailView rail(4, 2);
    // 0 uses its circuit to 1 at 10 or 30 ps, that to 2 at 20 ps.
    rail.in_use({0, 1}).lit({0, 2}).at(Time{first_is_older ? 10 : 30});
    RailView other(4, 2);
    other.lit({0, 1}).in_use({0, 2}).at(Time{20});
    (void)lru->decide(first_is_older ? rail.view() : other.view());
    (void)lru->decide(first_is_older ? other.view() : rail.view());
    RailView now(4, 2);
    now.lit({0, 1}).lit({0, 2}).demand({{0, 3}}).at(Time{40});
    const CircuitPlan plan = lru->decide(now.view()).plan();
    ASSERT_EQ(plan.connect.size(), 1u);
    EXPECT_EQ(plan.connect.front().from, now.view().port(0, first_is_older ? 0 : 1));
  }
}

TEST(Lru, FindsWhatIsThere) {
  RailView rail(4, 2);
  rail.lit({0, 1}).lit({0, 2}).demand({{0, 2}});
  EXPECT_TRUE(make_controller("lru", {}, 2)->decide(rail.view()).keeps());
}

TEST(Lru, ServesDemandsWholeInTheirOrder) {
  RailView rail(4);
  rail.in_use({1, 2}).demand({{0, 1}, {1, 0}}).demand({{3, 1}});
  EXPECT_TRUE(make_controller("lru")->decide(rail.view()).keeps())
      << "the transmit side of 1 is in use, and its receive side is promised";
}

// Both ports of 0 are dark, and both of 1: the pair gets two circuits. The next pair takes one of them back.
TEST(Lru, PortsThatAreLeftDarkAreSharedOut) {
  const auto lru = make_controller("lru", {}, 2);
  RailView rail(3, 2);
  rail.demand({{0, 1}});
  rail.apply(lru->decide(rail.view()).plan());
  EXPECT_EQ(rail.view().circuits({0, 1}), 2u);
  rail.clear_demands().demand({{0, 2}});
  rail.apply(lru->decide(rail.view()).plan());
  EXPECT_EQ(rail.view().circuits({0, 1}), 1u);
  EXPECT_EQ(rail.view().circuits({0, 2}), 1u);
}

// A ring each way over three servers with a port on each of two planes: one of them on each plane.
TEST(Lru, ServesARingEachWayOnTwoPlanes) {
  for (const char* name : {"lru", "opus", "harvest"}) {
    RailView rail(3, 2);
    rail.demand({{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}});
    Shown shown(rail);
    shown.bytes(0, {1, 1, 1, 1, 1, 1});
    shown.view.planes = 2;
    const Decision decision = make_controller(name, {}, 2)->decide(shown.view);
    ASSERT_FALSE(decision.keeps()) << name;
    EXPECT_EQ(testing::check_plan(shown.view, decision.plan()), "");
    EXPECT_EQ(joined(shown.view, decision.plan()).size(), 6u);
    for (const Circuit c : decision.plan().connect) EXPECT_EQ(shown.view.plane(c.from), shown.view.plane(c.to));
  }
}

TEST(Lru, TakesNoPortOfAnotherJob) {
  RailView rail(3);
  rail.demand({{0, 1}}).demand({{2, 0}});
  FabricView view = rail.view();
  const std::vector<ServerIndex> own{2, 0};
  view.own = own;
  EXPECT_EQ(make_controller("lru")->decide(view).plan(), rail.plan({{2, 0}}));
}

TEST(Lru, ASpareCircuitOfAPairGivesWayToTheFirstOfAnother) {
  RailView rail(4, 2);
  rail.lit({0, 1}).lit({0, 1}).demand({{0, 1}, {0, 2}});
  ParameterValues parameters;
  parameters.set("width", 2.0);
  const CircuitPlan plan = make_controller("lru", parameters, 2)->decide(rail.view()).plan();
  rail.apply(plan);
  EXPECT_EQ(rail.view().circuits({0, 1}), 1u);
  EXPECT_EQ(rail.view().circuits({0, 2}), 1u);
}

}  // namespace
}  // namespace photonrail::test
