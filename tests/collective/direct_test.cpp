#include "photonrail/collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<const SendPlan> direct(const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find("direct").expand(call);
}

TEST(Direct, SendIsOneMessage) {
  const auto plan = direct({.op = CollectiveOp::kSend, .size = {4096}});
  EXPECT_EQ(plan->send_count(), 1u);
  EXPECT_EQ(plan->send(0).bytes, Bytes{4096});
  EXPECT_EQ(plan->most_waits(), 0u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}));
}

TEST(Direct, SendInPieces) {
  const auto plan = direct({.op = CollectiveOp::kSend, .size = {10}, .pieces = 3});
  EXPECT_EQ(plan->initial_sends(), 3u);
  EXPECT_EQ(plan->send(0).bytes, Bytes{4});  // 10 = 4 + 3 + 3
  EXPECT_EQ(plan->send(2).bytes, Bytes{3});
  EXPECT_EQ(plan->sends_from(0, 0), 3u);
  EXPECT_EQ(plan->sends_to(0, 0), 0u);
}

TEST(Direct, GatherServesOnePeerARound) {
  const auto plan = direct({.op = CollectiveOp::kGather, .members = 4, .size = {5}, .root = 1});
  EXPECT_EQ(plan->rounds(), 3u);
  EXPECT_EQ(plan->initial_sends(), 3u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{2, 1}));
  EXPECT_THAT(plan->pairs(2), ElementsAre(MemberPair{0, 1}));
  EXPECT_EQ(plan->send(2).from, 0u);
  EXPECT_EQ(plan->send(2).bytes, Bytes{5});
  EXPECT_EQ(plan->wire_bytes(), Bytes{15});
}

TEST(Direct, ScatterKeepsTheRootsShare) {
  // 10 = 3 + 3 + 2 + 2; the root keeps the first, 3.
  const auto plan = direct({.op = CollectiveOp::kScatter, .members = 4, .size = {10}, .root = 0});
  EXPECT_EQ(plan->wire_bytes(), Bytes{7});
  EXPECT_EQ(plan->send(1).to, 2u);
  EXPECT_EQ(plan->send(1).bytes, Bytes{2});
  EXPECT_EQ(plan->sends_from(0, 2), 1u);
  EXPECT_EQ(plan->sends_to(3, 2), 1u);
}

TEST(Direct, AllToAllAtOnce) {
  const auto plan = direct({.op = CollectiveOp::kAllToAll, .members = 3, .size = {9}});
  EXPECT_EQ(plan->initial_sends(), 6u);
  EXPECT_EQ(plan->rounds(), 1u);
  EXPECT_EQ(plan->sends_from(1, 0), 2u);
}

}  // namespace
}  // namespace photonrail
