#include "photonrail/controller.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <gtest/gtest.h>

namespace photonrail {
namespace {

using testing::check_plan;
using testing::RailView;

std::unique_ptr<Controller> opus() {
  return ControllerRegistry::builtin().find("opus").make(ControllerSpec{}, RailId{0}, 1, 1);
}

TEST(Opus, LightsWhatAGroupAsksForWhenEveryMemberHas) {
  RailView rail(4);
  rail.demand({{0, 1}, {1, 0}});
  EXPECT_EQ(opus()->decide(rail.view()).plan(), rail.plan({{0, 1}, {1, 0}}));
}

TEST(Opus, DoesNothingForAGroupThatIsNotComplete) {
  RailView rail(4);
  rail.demand({{0, 1}, {1, 0}}, Dimension::kDp, {.asked = 1});
  EXPECT_TRUE(opus()->decide(rail.view()).keeps());
}

TEST(Opus, KeepsWhatIsLitOrOnItsWay) {
  RailView rail(4);
  rail.lit({0, 1}).switching({1, 0}).demand({{0, 1}, {1, 0}});
  EXPECT_TRUE(opus()->decide(rail.view()).keeps());
}

TEST(Opus, ChangesOnlyTheCircuitsThatAreMissing) {
  RailView rail(4);
  rail.lit({0, 1}).lit({1, 3}).demand({{0, 1}, {1, 0}});
  EXPECT_EQ(opus()->decide(rail.view()).plan(), rail.plan({{1, 0}}));
}

TEST(Opus, WhatOnePairOfADemandHasIsNotTakenForAnother) {
  RailView rail(4, 2);
  rail.lit({0, 2}).lit({0, 3}).demand({{0, 1}, {0, 2}});
  // Port 0 of position 0 has its circuit to 2 already; its port 1, which no request needs any more, goes to 1.
  const CircuitPlan plan{{{rail.view().port(0, 1), rail.view().port(1, 0)}}, {}};
  EXPECT_EQ(opus()->decide(rail.view()).plan(), plan);
}

TEST(Opus, NeverTakesACircuitInUse) {
  RailView rail(4);
  rail.in_use({0, 1}).demand({{0, 2}}, Dimension::kPp);
  EXPECT_TRUE(opus()->decide(rail.view()).keeps()) << "the transmit fibre of 0 carries bytes";
  RailView other(4);
  other.in_use({1, 2}).demand({{0, 2}}, Dimension::kPp);
  EXPECT_TRUE(opus()->decide(other.view()).keeps()) << "the receive fibre of 2 carries bytes";
}

TEST(Opus, AnOlderDemandThatMustWaitKeepsItsPortsFromAYoungerOne) {
  RailView rail(4);
  // 0->2 waits for the bytes on 0->1. Port 2's receive fibre is free, but promised.
  rail.in_use({0, 1}).demand({{0, 2}}, Dimension::kPp).demand({{3, 2}}, Dimension::kPp);
  EXPECT_TRUE(opus()->decide(rail.view()).keeps());
}

TEST(Opus, DisjointDemandsAreServedTogether) {
  RailView rail(6);
  rail.in_use({0, 1}).demand({{0, 2}}, Dimension::kPp).demand({{3, 4}, {4, 3}});
  EXPECT_EQ(opus()->decide(rail.view()).plan(), rail.plan({{3, 4}, {4, 3}}));
}

TEST(Opus, WhoIsHeldUpComesBeforeWhoOnlyAnnounced) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 1}}, Dimension::kDp, {.blocking = false}).demand({{0, 2}}, Dimension::kPp);
  EXPECT_EQ(opus()->decide(rail.view()).plan(), rail.plan({{0, 2}}));
}

TEST(Opus, AnAnnouncedDemandIsServedWhenNobodyIsHeldUp) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 2}}, Dimension::kPp, {.blocking = false});
  EXPECT_EQ(opus()->decide(rail.view()).plan(), rail.plan({{0, 2}}));
}

TEST(Opus, OnePartnerGetsAllPortsTwoPartnersShareThem) {
  RailView one(3, 2);
  one.demand({{0, 1}}, Dimension::kPp);
  const Decision all = opus()->decide(one.view());
  ASSERT_FALSE(all.keeps());
  EXPECT_EQ(all.plan().connect.size(), 2u);
  EXPECT_EQ(check_plan(one.view(), all.plan()), "");
  RailView two(3, 2);
  two.demand({{0, 1}, {0, 2}});
  const Decision shared = opus()->decide(two.view());
  ASSERT_FALSE(shared.keeps());
  EXPECT_EQ(shared.plan().connect.size(), 2u);
  two.apply(shared.plan());
  EXPECT_EQ(two.view().circuits({0, 1}), 1u);
  EXPECT_EQ(two.view().circuits({0, 2}), 1u);
}

}  // namespace
}  // namespace photonrail
