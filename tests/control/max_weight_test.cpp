#include "control/shown.hpp"
#include "control/weighted_matching.hpp"
#include "support/processor_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace photonrail::test {

using control::heaviest_matching;
using control::WeightedPair;

namespace {

using ::testing::ElementsAre;
using testing::RailView;

std::int64_t weight_of(const std::vector<WeightedPair>& pairs, const std::vector<std::size_t>& chosen) {
  std::int64_t sum = 0;
  for (const std::size_t i : chosen) sum += pairs[i].weight;
  return sum;
}

bool is_matching(const std::vector<WeightedPair>& pairs, const std::vector<std::size_t>& chosen) {
  for (const std::size_t i : chosen) {
    for (const std::size_t j : chosen) {
      if (i < j && (pairs[i].pair.from == pairs[j].pair.from || pairs[i].pair.to == pairs[j].pair.to)) return false;
    }
  }
  return true;
}

// Tries every choice: with or without the first pair, then the second ...
std::int64_t best_by_trial(const std::vector<WeightedPair>& pairs, std::size_t next, std::uint32_t from, std::uint32_t to) {
  if (next == pairs.size()) return 0;
  const std::int64_t without = best_by_trial(pairs, next + 1, from, to);
  const WeightedPair& p = pairs[next];
  if ((from >> p.pair.from & 1) != 0 || (to >> p.pair.to & 1) != 0 || p.weight <= 0) return without;
  return std::max(without, p.weight + best_by_trial(pairs, next + 1, from | 1u << p.pair.from, to | 1u << p.pair.to));
}

TEST(HeaviestMatching, IsTheHeaviestOfAll) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const auto n = static_cast<ServerIndex>(2 + random() % 4);
    std::vector<WeightedPair> pairs;
    for (ServerIndex from = 0; from < n; ++from) {
      for (ServerIndex to = 0; to < n; ++to) {
        if (from != to && random() % 3 != 0) pairs.push_back({{from, to}, static_cast<std::int64_t>(random() % 9)});
      }
    }
    const std::vector<std::size_t> chosen = heaviest_matching(pairs);
    ASSERT_TRUE(is_matching(pairs, chosen));
    ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    ASSERT_EQ(weight_of(pairs, chosen), best_by_trial(pairs, 0, 0, 0)) << "trial " << trial;
  }
}

// 65,280 pairs of 256 positions, by the processor.
TEST(HeaviestMatching, OfManyPairsTakesLessThanASecond) {
  std::mt19937_64 random(5);
  std::vector<WeightedPair> pairs;
  for (ServerIndex from = 0; from < 256; ++from) {
    for (ServerIndex to = 0; to < 256; ++to) {
      if (from != to) pairs.push_back({{from, to}, static_cast<std::int64_t>(1 + random() % 1'000'000)});
    }
  }
  const double before = processor_seconds();
  const std::vector<std::size_t> chosen = heaviest_matching(pairs);
  EXPECT_LT(processor_seconds() - before, 1.0);
  EXPECT_GE(chosen.size(), 255u);
}

// Of several matchings of the same weight it is the same one, whatever the numbers of the servers are.
TEST(HeaviestMatching, DoesNotDependOnTheNumbersOfServers) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const ServerIndex n = 3 + static_cast<ServerIndex>(random() % 6);
    std::vector<ServerIndex> renamed;
    for (ServerIndex i = 0; i < n; ++i) renamed.push_back(7 * i + 1);
    std::shuffle(renamed.begin(), renamed.end(), random);
    std::vector<WeightedPair> pairs;
    for (ServerIndex from = 0; from < n; ++from) {
      for (ServerIndex to = 0; to < n; ++to) {
        if (from != to) pairs.push_back({{from, to}, static_cast<std::int64_t>(1 + random() % 2)});
      }
    }
    std::vector<WeightedPair> others = pairs;
    for (WeightedPair& other : others) other.pair = {renamed[other.pair.from], renamed[other.pair.to]};
    ASSERT_EQ(heaviest_matching(others), heaviest_matching(pairs)) << "trial " << trial;
  }
}

TEST(HeaviestMatching, TakesNothingOfNoWeight) {
  EXPECT_THAT(heaviest_matching({}), ElementsAre());
  const std::vector<WeightedPair> pairs{{{0, 1}, 0}, {{1, 0}, 2}};
  EXPECT_THAT(heaviest_matching(pairs), ElementsAre(1));
}

TEST(MaxWeight, TakesTheMatchingAndNotTheLargestPair) {
  RailView rail(4);
  rail.demand({{0, 1}, {0, 2}, {3, 1}});
  Shown shown(rail);
  // 0->1 alone has 10; 0->2 and 3->1 have 8 each and do not meet.
  shown.bytes(0, {10, 8, 8});
  const Decision decision = make_controller("max_weight")->decide(shown.view);
  ASSERT_FALSE(decision.keeps());
  EXPECT_THAT(joined(shown.view, decision.plan()), ElementsAre(ServerPair{0, 2}, ServerPair{3, 1}));
}

TEST(MaxWeight, GivesUpALitPairOnlyForOneThatIsHeavierByTheHysteresis) {
  for (const std::int64_t other : {1090, 1110}) {
    RailView rail(3);
    rail.lit({0, 1}).demand({{0, 1}, {0, 2}});
    Shown shown(rail);
    shown.bytes(0, {1000, other});
    ParameterValues parameters;
    parameters.set("hysteresis", 0.1);
    const Decision decision = make_controller("max_weight", parameters)->decide(shown.view);
    EXPECT_EQ(decision.keeps(), other < 1100);
  }
}

// A million times as much: a product that does not fit into 64 bits.
TEST(MaxWeight, AGreatHysteresisKeepsALitPair) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 1}, {0, 2}});
  Shown shown(rail);
  shown.bytes(0, {std::int64_t{1} << 50, std::int64_t{1} << 40});
  ParameterValues parameters;
  parameters.set("hysteresis", 1e6);
  EXPECT_TRUE(make_controller("max_weight", parameters)->decide(shown.view).keeps());
}

TEST(MaxWeight, ALitPairThatNobodyWaitsForGivesWay) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 2}});
  Shown shown(rail);
  shown.bytes(0, {1});
  EXPECT_EQ(make_controller("max_weight")->decide(shown.view).plan(), rail.plan({{0, 2}}));
}

TEST(MaxWeight, LeavesCircuitsInUseAndGoesOnBesideThem) {
  RailView rail(6);
  rail.in_use({0, 1}).demand({{0, 2}, {3, 4}});
  Shown shown(rail);
  shown.bytes(0, {1'000'000, 1});
  EXPECT_EQ(make_controller("max_weight")->decide(shown.view).plan(), rail.plan({{3, 4}}));
}

// 5 bytes have waited 100 ps at 1 byte/ps: they weigh 105, more than 50 fresh ones.
TEST(MaxWeight, WhoWaitsGainsWeight) {
  RailView rail(3);
  rail.demand({{0, 1}}, Dimension::kDp, {.since = Time{}})
      .demand({{0, 2}}, Dimension::kDp, {.since = Time{100}})
      .at(Time{100});
  Shown shown(rail);
  shown.bytes(0, {5}).bytes(1, {50});
  EXPECT_EQ(make_controller("max_weight")->decide(shown.view).plan(), rail.plan({{0, 1}}));
  ParameterValues parameters;
  parameters.set("age", 0.0);
  EXPECT_EQ(make_controller("max_weight", parameters)->decide(shown.view).plan(), rail.plan({{0, 2}}));
}

TEST(MaxWeight, APairGetsMorePortsWhenItMay) {
  for (const std::uint32_t width : {0u, 1u, 2u}) {
    RailView rail(2, 2);
    rail.demand({{0, 1}});
    Shown shown(rail);
    shown.bytes(0, {100});
    ParameterValues parameters;
    parameters.set("width", double(width));
    const std::size_t expected = width == 1 ? 1 : 2;  // 0: both are dark
    EXPECT_EQ(make_controller("max_weight", parameters, 2)->decide(shown.view).plan().connect.size(), expected);
  }
}

// 1000 bytes take 1000 ps over one circuit and 500 over two. The second port has an idle circuit to 2.
TEST(MaxWeight, AnIdleCircuitGivesWayWhereThatSavesMoreThanASwitch) {
  for (const std::int64_t delay : {400, 600}) {
    RailView rail(3, 2);
    rail.lit({0, 2}).reconfiguration(Duration{delay}).demand({{0, 1}});
    Shown shown(rail);
    shown.bytes(0, {1000});
    EXPECT_EQ(make_controller("max_weight", {}, 2)->decide(shown.view).plan().connect.size(), delay < 500 ? 2u : 1u);
  }
}

}  // namespace
}  // namespace photonrail::test
