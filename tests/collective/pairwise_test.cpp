#include "photonrail/collective.hpp"

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

}  // namespace
}  // namespace photonrail
