#include "photonrail/collective.hpp"
#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::unique_ptr<const SendPlan> pairwise(Member members, std::int64_t size) {
  return CollectiveRegistry::builtin()
      .find("pairwise")
      .expand({.op = CollectiveOp::kAllToAll, .members = members, .size = {size}});
}

TEST(Pairwise, RoundsAreShifts) {
  const auto plan = pairwise(4, 10);
  EXPECT_EQ(plan->rounds(), 3u);
  EXPECT_EQ(plan->send_count(), 12u);
  EXPECT_EQ(plan->initial_sends(), 4u);
  EXPECT_EQ(plan->most_waits(), 2u);
  EXPECT_THAT(plan->pairs(1), ElementsAre(MemberPair{0, 2}, MemberPair{1, 3}, MemberPair{2, 0}, MemberPair{3, 1}));
  // Send 5 = (shift 2, member 1): to 3, which gets 10 = 3 + 3 + 2 + 2, the last; chunk 1 * 4 + 3.
  EXPECT_EQ(plan->send(5).to, 3u);
  EXPECT_EQ(plan->send(5).bytes, Bytes{2});
  EXPECT_EQ(plan->send(5).first_chunk, 7u);
  EXPECT_EQ(plan->send(5).round, 1u);
}

TEST(Pairwise, AMemberGoesOnWhenItsSendAndItsReceiveAreDone) {
  const auto plan = pairwise(4, 10);
  std::vector<SendIndex> out;
  plan->released_by(3, out);  // (shift 1, member 3) to 0: frees (shift 2, member 3) and (shift 2, member 0)
  EXPECT_THAT(out, UnorderedElementsAre(7u, 4u));
  EXPECT_EQ(plan->waits_for(3), 0u);
  EXPECT_EQ(plan->waits_for(4), 2u);
}

TEST(Pairwise, TwoMembersSwapOnce) {
  const auto plan = pairwise(2, 7);
  EXPECT_EQ(plan->rounds(), 1u);
  EXPECT_EQ(plan->most_waits(), 0u);
  EXPECT_EQ(plan->wire_bytes(), Bytes{7});  // 0 sends 3 to 1, 1 sends 4 to 0
}

CollectiveCall call_on(const std::vector<MemberPlace>& places, std::int64_t size = 997) {
  CollectiveCall call{.op = CollectiveOp::kAllToAll, .members = static_cast<Member>(places.size()), .size = {size}};
  call.places = places;
  return call;
}

std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find("pairwise").expand(call);
}

// Members (server, rail): 0 (0, 0), 1 (0, 1), 2 (1, 0), 3 (1, 1). To the other server on the same rail, to the other server
// and the other rail, and to the other rail.
TEST(Pairwise, OverServersAndRailsRailsAreShiftedWithinAShiftOfTheServers) {
  const auto plan = expand(call_on({{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  ASSERT_EQ(plan->rounds(), 3u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 2}, MemberPair{1, 3}, MemberPair{2, 0}, MemberPair{3, 1}));
  EXPECT_THAT(plan->pairs(1), ElementsAre(MemberPair{0, 3}, MemberPair{1, 2}, MemberPair{2, 1}, MemberPair{3, 0}));
  EXPECT_THAT(plan->pairs(2), ElementsAre(MemberPair{0, 1}, MemberPair{1, 0}, MemberPair{2, 3}, MemberPair{3, 2}));
}

// Whatever order the places are named in; groups that are no grid; sizes that do not divide, and of fewer bytes than
// members.
TEST(Pairwise, IsRightWhereverMembersSit) {
  const std::vector<std::vector<MemberPlace>> groups{
      {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}},          // a grid
      {{7, 3}, {2, 1}, {2, 3}, {7, 1}},                          // a grid in another order
      {{0, 0}, {0, 1}, {0, 2}, {1, 1}},                          // a server with one of three rails
      {{0, 0}, {1, 1}, {2, 2}},                                  // no two members share a server or a rail
      {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 1}},  // the last server in part
  };
  for (const std::vector<MemberPlace>& places : groups) {
    for (const std::int64_t size : {0, 3, 997}) {
      const CollectiveCall call = call_on(places, size);
      const auto plan = expand(call);
      EXPECT_EQ(plan->send_count(), places.size() * (places.size() - 1));
      for (const bool by_rounds : {false, true}) {
        EXPECT_EQ(testing::replay(call, *plan, {.by_rounds = by_rounds}).problem, "") << places.size() << " of " << size;
      }
    }
  }
}

// A group in one server or on one rail gets the plan of members without places: it may be folded.
TEST(Pairwise, OnOneLevelPlacesDoNotMatter) {
  const auto plain = pairwise(4, 400);
  for (const auto& places : {std::vector<MemberPlace>{{0, 5}, {0, 1}, {0, 2}, {0, 3}}, {{4, 0}, {1, 0}, {2, 0}, {3, 0}}}) {
    const auto plan = expand(call_on(places, 400));
    ASSERT_EQ(plan->rounds(), plain->rounds());
    for (std::uint32_t round = 0; round < 3; ++round) EXPECT_EQ(plan->pairs(round), plain->pairs(round));
    EXPECT_NE(plan->folded(1), nullptr);
  }
  const auto grid = expand(call_on({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 400));
  EXPECT_EQ(grid->folded(1), nullptr);
  EXPECT_NE(grid->folded(2), nullptr) << "both servers are alike";
  EXPECT_EQ(expand(call_on({{0, 0}, {1, 0}, {0, 1}, {1, 1}}, 400))->folded(2), nullptr) << "members are numbered by rails";
}

}  // namespace
}  // namespace photonrail
