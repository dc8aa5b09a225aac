#include "collective/merged_rounds.hpp"

#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace photonrail {

using collective::merge_rounds;

namespace {

CollectiveCall call_on(CollectiveOp op, const std::vector<MemberPlace>& places) {
  CollectiveCall call{.op = op, .members = static_cast<Member>(places.size()), .size = {997}};
  call.places = places;
  return call;
}

std::vector<MemberPlace> grid(std::uint32_t servers, std::uint32_t rails) {
  std::vector<MemberPlace> places;
  for (std::uint32_t m = 0; m < servers * rails; ++m) places.push_back({m / rails, m % rails});
  return places;
}

std::unique_ptr<const SendPlan> merged_plan(std::string_view algorithm, const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find(algorithm).expand(call);
}

/// The most circuits of one server and rail one way in any round.
std::size_t most_at_a_port(const SendPlan& plan, const std::vector<MemberPlace>& places) {
  std::size_t most = 0;
  for (std::uint32_t round = 0; round < plan.rounds(); ++round) {
    std::map<MemberPlace, std::set<MemberPlace>> receivers;
    std::map<MemberPlace, std::set<MemberPlace>> senders;
    for (const auto& [from, to] : plan.pairs(round)) {
      if (places[from].server == places[to].server) continue;
      const MemberPlace sender{places[from].server, places[to].rail};
      receivers[sender].insert(places[to]);
      senders[places[to]].insert(sender);
      most = std::max({most, receivers[sender].size(), senders[places[to]].size()});
    }
  }
  return most;
}

// Between two servers every rail joins them and nothing else: all rounds with messages between them want the same circuits.
TEST(MergedRounds, TwoServersNeedOneSetOfCircuits) {
  for (const std::string_view algorithm : {"bruck", "one_factorisation", "birkhoff"}) {
    const CollectiveCall call = call_on(CollectiveOp::kAllToAll, grid(2, 4));
    const auto plan = merged_plan(algorithm, call);
    const std::uint32_t before = plan->rounds();
    const auto merged = merge_rounds(merged_plan(algorithm, call), call.places);
    EXPECT_LT(merged->rounds(), before) << algorithm;
    EXPECT_EQ(most_at_a_port(*merged, call.places), 1u) << algorithm;
    EXPECT_EQ(testing::replay(call, *merged).problem, "") << algorithm;
    EXPECT_EQ(testing::replay(call, *merged, {.by_rounds = true}).problem, "") << algorithm;
  }
}

// 3 servers of 4: two shifts of the servers, each with 4 of the rails, and 3 rounds inside the servers.
TEST(MergedRounds, APairwiseExchangeChangesCircuitsWithTheServersOnly) {
  const CollectiveCall call = call_on(CollectiveOp::kAllToAll, grid(3, 4));
  const auto merged = merge_rounds(merged_plan("pairwise", call), call.places);
  EXPECT_EQ(merged->rounds(), 2u + 3u);
  EXPECT_EQ(merged->pairs(0).size(), 12u * 4u);
  EXPECT_EQ(merged->pairs(2).size(), 12u);
  EXPECT_EQ(merged->sends_from(5, 0), 4u);
  EXPECT_EQ(merged->sends_to(5, 1), 4u);
  EXPECT_EQ(most_at_a_port(*merged, call.places), 1u);
  EXPECT_EQ(testing::replay(call, *merged, {.by_rounds = true}).problem, "");
}

TEST(MergedRounds, OnOneRailNothingIsMerged) {
  std::vector<MemberPlace> places;
  for (std::uint32_t m = 0; m < 6; ++m) places.push_back({m, 0});
  const CollectiveCall call = call_on(CollectiveOp::kAllToAll, places);
  EXPECT_EQ(merge_rounds(merged_plan("pairwise", call), places)->rounds(), 5u);
  EXPECT_EQ(merge_rounds(merged_plan("ring", call_on(CollectiveOp::kAllReduce, places)), places)->rounds(), 1u);
}

// The first rounds of StragglAR run while a member is away: joined with later ones they would wait for it.
TEST(MergedRounds, APlanThatStartsWithoutAMemberKeepsItsRounds) {
  CollectiveCall call = call_on(CollectiveOp::kAllReduce, grid(2, 4));
  call.straggler = 3;
  const auto rounds = merged_plan("stragglar", call)->rounds();
  EXPECT_EQ(merge_rounds(merged_plan("stragglar", call), call.places)->rounds(), rounds);
}

}  // namespace
}  // namespace photonrail
