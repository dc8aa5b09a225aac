#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace photonrail::test {
namespace {

using testing::check_plan;
using testing::RailView;

std::vector<ServerPair> all_pairs(ServerIndex n) {
  std::vector<ServerPair> pairs;
  for (ServerIndex from = 0; from < n; ++from) {
    for (ServerIndex to = 0; to < n; ++to) {
      if (from != to) pairs.push_back({from, to});
    }
  }
  return pairs;
}

class Decomposed : public ::testing::TestWithParam<std::string> {};

// An even all-to-all of 4 is 3 matchings of 4 pairs, no fewer: 12 pairs, 4 at a time. Each pair is served when it is lit.
TEST_P(Decomposed, LightsOneMatchingAfterTheOtherUntilAllPairsAreServed) {
  const auto policy = make_controller(GetParam());
  RailView rail(4);
  rail.reconfiguration(Duration{1000});
  std::set<ServerPair> left;
  for (const ServerPair pair : all_pairs(4)) left.insert(pair);
  for (int round = 0; round < 3; ++round) {
    rail.clear_demands().demand({left.begin(), left.end()});
    Shown shown(rail);
    shown.bytes(0, std::vector<std::int64_t>(left.size(), 1'000'000));
    const Decision decision = policy->decide(shown.view);
    ASSERT_FALSE(decision.keeps()) << "round " << round;
    EXPECT_EQ(decision.steps.front().when, When::kDrained);
    EXPECT_EQ(check_plan(rail.view(), decision.plan()), "");
    EXPECT_EQ(decision.plan().connect.size(), 4u);
    for (const ServerPair pair : joined(rail.view(), decision.plan())) EXPECT_EQ(left.erase(pair), 1u);
    rail.apply(decision.plan());
  }
  EXPECT_TRUE(left.empty());
}

TEST_P(Decomposed, ARoundLastsUntilItsCircuitsAreOutOfUse) {
  const auto policy = make_controller(GetParam());
  RailView first(3);
  first.demand({{0, 1}, {0, 2}});
  Shown shown(first);
  shown.bytes(0, {2000, 1000});
  ASSERT_EQ(policy->decide(shown.view).plan(), first.plan({{0, 1}}));
  RailView busy(3);
  busy.in_use({0, 1}).demand({{0, 2}});
  Shown during(busy);
  during.bytes(0, {1000});
  EXPECT_TRUE(policy->decide(during.view).keeps());
  RailView idle(3);
  idle.lit({0, 1}).demand({{0, 2}});
  Shown after(idle);
  after.bytes(0, {1000});
  EXPECT_EQ(policy->decide(after.view).plan(), idle.plan({{0, 2}}));
}

// Three matchings on two ports: two at once, and the port that is through first begins the third while the other goes on.
TEST_P(Decomposed, EveryPortGoesThroughTheMatchingsOnItsOwn) {
  const auto policy = make_controller(GetParam(), {}, 2);
  RailView rail(4, 2);
  rail.demand(all_pairs(4));
  Shown shown(rail);
  shown.bytes(0, std::vector<std::int64_t>(12, 1'000'000));
  const CircuitPlan two = policy->decide(shown.view).plan();
  EXPECT_EQ(check_plan(rail.view(), two), "");
  EXPECT_EQ(two.connect.size(), 8u);
  std::set<ServerPair> left;
  for (const ServerPair pair : all_pairs(4)) left.insert(pair);
  for (const ServerPair pair : joined(rail.view(), two)) EXPECT_EQ(left.erase(pair), 1u);
  rail.apply(two);
  // The second port's circuits are in use, the first's are through.
  for (const Circuit c : two.connect) {
    if (c.from.value % 2 == 0) continue;
    EXPECT_TRUE(rail.hold({c.from.value / 2, c.to.value / 2}));
  }
  rail.clear_demands().demand({left.begin(), left.end()});
  Shown later(rail);
  later.bytes(0, std::vector<std::int64_t>(left.size(), 1'000'000));
  const CircuitPlan third = policy->decide(later.view).plan();
  EXPECT_EQ(check_plan(rail.view(), third), "");
  EXPECT_THAT(joined(rail.view(), third), ::testing::ElementsAreArray(left));
  for (const Circuit c : third.connect) EXPECT_EQ(c.from.value % 2, 0u);
}

TEST_P(Decomposed, PortsWithoutAMatchingJoinTheSame) {
  RailView rail(3, 3);
  rail.demand({{0, 1}, {1, 2}});
  Shown shown(rail);
  shown.bytes(0, {1000, 1000});
  const CircuitPlan plan = make_controller(GetParam(), {}, 3)->decide(shown.view).plan();
  EXPECT_EQ(check_plan(rail.view(), plan), "");
  EXPECT_THAT(joined(rail.view(), plan), ::testing::ElementsAre(ServerPair{0, 1}, ServerPair{0, 1}, ServerPair{0, 1},
                                                                ServerPair{1, 2}, ServerPair{1, 2}, ServerPair{1, 2}));
}

// Cut exactly, the byte that one pair has more is a matching of its own. No send is cut, so that it takes no port from the
// others.
TEST_P(Decomposed, TheRestOfAPairThatBeginsTakesNoPort) {
  RailView rail(3, 2);
  rail.demand({{0, 1}, {1, 2}, {2, 0}});
  Shown shown(rail);
  shown.bytes(0, {1000, 1001, 1000});
  const CircuitPlan plan = make_controller(GetParam(), {}, 2)->decide(shown.view).plan();
  EXPECT_EQ(check_plan(rail.view(), plan), "");
  EXPECT_THAT(joined(rail.view(), plan), ::testing::ElementsAre(ServerPair{0, 1}, ServerPair{0, 1}, ServerPair{1, 2},
                                                                ServerPair{1, 2}, ServerPair{2, 0}, ServerPair{2, 0}));
}

// A circuit of the matching is gone, as when its port failed for a moment, and its send waits again.
TEST_P(Decomposed, ACircuitThatWasLostIsJoinedAgain) {
  const auto policy = make_controller(GetParam());
  RailView rail(3);
  rail.demand({{0, 1}});
  Shown shown(rail);
  shown.bytes(0, {1000});
  const CircuitPlan plan = policy->decide(shown.view).plan();
  rail.apply(plan);
  EXPECT_TRUE(policy->decide(Shown(rail).bytes(0, {1000}).view).keeps());
  rail.dark({0, 1});
  Shown lost(rail);
  lost.bytes(0, {1000});
  EXPECT_EQ(policy->decide(lost.view).plan(), plan);
}

INSTANTIATE_TEST_SUITE_P(Both, Decomposed, ::testing::ValuesIn(std::vector<std::string>{"bvn", "solstice"}),
                         [](const auto& name) { return name.param; });

// 0 has 100 for 1 and 10 for 2, 3 has 10 for 1. A switch costs as much as 1000 bytes: the larger matching is worth more
// than the exact cut of 100 into pieces.
TEST(Solstice, LightsAsMuchAsItCanWhenSwitchingIsDear) {
  RailView rail(4);
  rail.reconfiguration(Duration{1000}).demand({{0, 1}, {0, 2}, {3, 1}});
  Shown shown(rail);
  shown.bytes(0, {100, 90, 90});
  // Rate of each: 100 / 1100 for 0->1 alone, 180 / 1090 for the other two.
  EXPECT_EQ(make_controller("solstice")->decide(shown.view).plan(), rail.plan({{0, 2}, {3, 1}}));
}

// What a port could send during a switch is more than 2^63 bytes.
TEST(Solstice, ASwitchMayCostMoreThanAnyNumberOfBytes) {
  RailView rail(4);
  rail.reconfiguration(std::chrono::seconds(600)).demand({{0, 1}, {0, 2}, {3, 1}});
  Shown shown(rail);
  shown.bytes(0, {100, 90, 90});
  shown.view.port_rate = Bandwidth{1e18};
  EXPECT_EQ(make_controller("solstice")->decide(shown.view).plan(), rail.plan({{0, 2}, {3, 1}}));
}

}  // namespace
}  // namespace photonrail::test
