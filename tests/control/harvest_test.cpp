#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using testing::RailView;

// A ring 0 -> 1 -> 2 -> 3 -> 0 is lit, 1 byte/ps. The round wants 0->2 and 1->3, 1000 bytes each: forwarded they meet on
// 1->2, which takes 2000 ps; with circuits of their own 1000 ps, after the switch.
TEST(Harvest, SwitchesWhenThatIsFasterThanForwarding) {
  for (const std::int64_t delay : {900, 1100}) {
    RailView rail(4);
    rail.lit({0, 1}).lit({1, 2}).lit({2, 3}).lit({3, 0}).reconfiguration(Duration{delay}).demand({{0, 2}, {1, 3}});
    Shown shown(rail);
    shown.bytes(0, {1000, 1000});
    const Decision decision = make_controller("harvest")->decide(shown.view);
    EXPECT_EQ(decision.keeps(), delay > 1000);
    if (decision.keeps()) continue;
    EXPECT_EQ(decision.plan(), rail.plan({{0, 2}, {1, 3}}));
  }
}

TEST(Harvest, SwitchesWhereThereIsNoWay) {
  RailView rail(4);
  rail.lit({0, 1}).lit({1, 0}).reconfiguration(Duration{1'000'000}).demand({{0, 2}});
  Shown shown(rail);
  shown.bytes(0, {1});
  EXPECT_EQ(make_controller("harvest")->decide(shown.view).plan(), rail.plan({{0, 2}}));
}

// The same round comes three times: one switch serves all, and saves 3 x 1000 ps for 1500. Looking at one round alone it is
// not worth it.
TEST(Harvest, LooksAhead) {
  for (const std::uint32_t look_ahead : {0u, 2u}) {
    RailView rail(4);
    rail.lit({0, 1}).lit({1, 2}).lit({2, 3}).lit({3, 0}).reconfiguration(Duration{1500}).demand({{0, 2}, {1, 3}});
    Shown shown(rail);
    shown.bytes(0, {1000, 1000})
        .next_round(0, {{0, 2}, {1, 3}}, {1000, 1000})
        .next_round(0, {{0, 2}, {1, 3}}, {1000, 1000});
    ParameterValues parameters;
    parameters.set("look_ahead", double(look_ahead));
    EXPECT_EQ(make_controller("harvest", parameters)->decide(shown.view).keeps(), look_ahead == 0);
  }
}

// Nothing is lit; the round wants shifts by 2, which its own circuits do not carry on to shifts by 1 and 3, and the next
// three rounds want those. Circuits of shift 1 carry all of it: one switch of 10,000 ps and forwarding, against one for
// each round.
TEST(Harvest, SwitchesToTheCircuitsOfALaterRound) {
  const auto shift = [](ServerIndex by) {
    std::vector<ServerPair> pairs;
    for (ServerIndex u = 0; u < 5; ++u) pairs.push_back({u, (u + by) % 5});
    return pairs;
  };
  const std::vector<std::int64_t> bytes(5, 1000);
  for (const bool later : {false, true}) {
    RailView rail(5);
    rail.reconfiguration(Duration{10'000}).demand(shift(2));
    Shown shown(rail);
    shown.bytes(0, bytes).next_round(0, shift(1), bytes).next_round(0, shift(1), bytes).next_round(0, shift(1), bytes);
    ParameterValues parameters;
    parameters.set("other_rounds", later ? 1.0 : 0.0);
    const Decision decision = make_controller("harvest", parameters)->decide(shown.view);
    // On shift 2 a shift by 1 takes three hops: 1,000 + 3 x 3,000 ps. On shift 1: 2,000 + 3 x 1,000 ps.
    EXPECT_EQ(decision.plan(), rail.plan(shift(later ? 1 : 2)));
  }
}

// Two ports: a ring is lit twice, 2 bytes/ps. The round, forwarded, puts 2000 bytes on 1->2, which takes 1000 ps; two
// circuits of its own a pair take 500 ps.
TEST(Harvest, CountsTheCircuitsSideBySide) {
  for (const std::int64_t delay : {400, 600}) {
    RailView rail(4, 2);
    for (int twice = 0; twice < 2; ++twice) rail.lit({0, 1}).lit({1, 2}).lit({2, 3}).lit({3, 0});
    rail.reconfiguration(Duration{delay}).demand({{0, 2}, {1, 3}});
    Shown shown(rail);
    shown.bytes(0, {1000, 1000});
    const Decision decision = make_controller("harvest", {}, 2)->decide(shown.view);
    EXPECT_EQ(decision.keeps(), delay > 500);
    if (decision.keeps()) continue;
    EXPECT_EQ(decision.plan().connect.size(), 4u);
  }
}

// 300 ps a hop: two hops cost 600 and one 300, so that a switch of 200 ps pays for one byte.
TEST(Harvest, CountsTheLatencyOfHops) {
  RailView rail(4);
  rail.lit({0, 1}).lit({1, 2}).reconfiguration(Duration{200}).demand({{0, 2}});
  Shown shown(rail);
  shown.bytes(0, {1});
  EXPECT_TRUE(make_controller("harvest")->decide(shown.view).keeps());
  shown.view.hop_latency = Duration{300};
  EXPECT_FALSE(make_controller("harvest")->decide(shown.view).keeps());
}

}  // namespace
}  // namespace photonrail::test
