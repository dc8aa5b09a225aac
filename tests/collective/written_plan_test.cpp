#include "collective/written_plan.hpp"

#include "collective/merged_rounds.hpp"
#include "photonrail/collective.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

namespace photonrail {
namespace {

std::unique_ptr<const SendPlan> exchange_on_grid(std::uint32_t servers, std::uint32_t rails) {
  CollectiveCall call{.op = CollectiveOp::kAllToAll, .members = servers * rails, .size = {servers * rails * 60}};
  std::vector<MemberPlace> places;
  for (Member m = 0; m < call.members; ++m) places.push_back({m / rails, m % rails});
  call.places = places;
  return collective::merge_rounds(CollectiveRegistry::builtin().find("pairwise").expand(call), places);
}

void expect_equal_plans(const SendPlan& a, const SendPlan& b) {
  ASSERT_EQ(a.send_count(), b.send_count());
  ASSERT_EQ(a.rounds(), b.rounds());
  EXPECT_EQ(a.initial_sends(), b.initial_sends());
  EXPECT_EQ(a.wire_bytes(), b.wire_bytes());
  for (SendIndex i = 0; i < a.send_count(); ++i) {
    std::vector<SendIndex> released[2];
    a.released_by(i, released[0]);
    b.released_by(i, released[1]);
    ASSERT_EQ(released[0], released[1]) << "send " << i;
    ASSERT_EQ(a.waits_for(i), b.waits_for(i));
    const Send one = a.send(i);
    const Send other = b.send(i);
    ASSERT_EQ(std::tuple(one.from, one.to, one.bytes, one.round),
              std::tuple(other.from, other.to, other.bytes, other.round));
  }
  for (std::uint32_t round = 0; round < a.rounds(); ++round) {
    EXPECT_EQ(a.pairs(round), b.pairs(round));
    for (Member m = 0; m < a.members(); ++m) {
      EXPECT_EQ(a.sends_from(m, round), b.sends_from(m, round));
      EXPECT_EQ(a.sends_to(m, round), b.sends_to(m, round));
    }
  }
}

TEST(WrittenPlan, IsThePlanThatItWasMadeOf) {
  const std::unique_ptr<const SendPlan> plan = exchange_on_grid(4, 3);
  const std::unique_ptr<const SendPlan> written = collective::written_out(exchange_on_grid(4, 3));
  expect_equal_plans(*plan, *written);
  expect_equal_plans(*plan->folded(3), *collective::written_out(plan->folded(3)));
  expect_equal_plans(*plan->folded(3), *written->folded(3));
  for (SendIndex i = 0; i < plan->send_count(); ++i) {
    std::vector<ChunkRun> data[2];
    plan->data(i, data[0]);
    written->data(i, data[1]);
    EXPECT_EQ(data[0], data[1]);
  }
}

// A ring of one round is a formula that costs less than a table; an exchange of 512 has 261,632 sends.
TEST(WrittenPlan, LeavesShortAndLongPlansAsTheyAre) {
  const auto stays = [](std::string_view algorithm, CollectiveOp op, Member members) {
    const CollectiveRegistry registry = CollectiveRegistry::builtin();
    std::unique_ptr<const SendPlan> plan =
        registry.find(algorithm).expand({.op = op, .members = members, .size = {1 << 20}});
    const SendPlan* const before = plan.get();
    return collective::written_out(std::move(plan)).get() == before;
  };
  EXPECT_TRUE(stays("ring", CollectiveOp::kAllReduce, 4));
  EXPECT_TRUE(stays("pairwise", CollectiveOp::kAllToAll, 512));
  EXPECT_FALSE(stays("pairwise", CollectiveOp::kAllToAll, 4));
}

}  // namespace
}  // namespace photonrail
