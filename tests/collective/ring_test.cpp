#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<const SendPlan> ring(const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find("ring").expand(call);
}

std::vector<SendIndex> released_by(const SendPlan& plan, SendIndex arrived) {
  std::vector<SendIndex> out;
  plan.released_by(arrived, out);
  return out;
}

TEST(Ring, AllReduceOfFourMembers) {
  const auto plan = ring({.op = CollectiveOp::kAllReduce, .members = 4, .size = {18}});
  // 2 * (4 - 1) steps of 4 sends.
  EXPECT_EQ(plan->send_count(), 24u);
  EXPECT_EQ(plan->initial_sends(), 4u);
  EXPECT_EQ(plan->rounds(), 1u);
  EXPECT_EQ(plan->most_waits(), 1u);
  EXPECT_EQ(plan->sends_from(2, 0), 6u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}, MemberPair{1, 2}, MemberPair{2, 3}, MemberPair{3, 0}));
  // Step 0: member 3 starts with the shard behind its own, 2; 18 bytes in 4 are 5, 5, 4, 4.
  EXPECT_EQ(plan->send(3).from, 3u);
  EXPECT_EQ(plan->send(3).to, 0u);
  EXPECT_EQ(plan->send(3).first_chunk, 2u);
  EXPECT_EQ(plan->send(3).bytes, Bytes{4});
  EXPECT_TRUE(plan->send(3).reduce);
  // Step 1: member 0 passes chunk 2 on. Send (step 1, member 0) is number 4.
  EXPECT_THAT(released_by(*plan, 3), ElementsAre(4u));
  EXPECT_EQ(plan->send(4).first_chunk, 2u);
  // Step 3 starts the all-gather: each member sends its own shard, complete now.
  EXPECT_EQ(plan->send(12).from, 0u);
  EXPECT_EQ(plan->send(12).first_chunk, 0u);
  EXPECT_FALSE(plan->send(12).reduce);
  EXPECT_THAT(released_by(*plan, 20), IsEmpty());
}

TEST(Ring, PiecesStartTogetherAndFollowTheirOwnRing) {
  const auto plan = ring({.op = CollectiveOp::kAllGather, .members = 3, .size = {7}, .pieces = 2});
  // (step, piece, member): 2 steps * 2 pieces * 3 members, the first 6 at once.
  EXPECT_EQ(plan->send_count(), 12u);
  EXPECT_EQ(plan->initial_sends(), 6u);
  // Step 0, piece 1, member 2: piece 1 of shard 2, 3 of the 7 bytes; it releases step 1, piece 1, member 0.
  EXPECT_EQ(plan->send(5).from, 2u);
  EXPECT_EQ(plan->send(5).first_chunk, 5u);
  EXPECT_EQ(plan->send(5).bytes, Bytes{3});
  EXPECT_THAT(released_by(*plan, 5), ElementsAre(9u));
  EXPECT_EQ(plan->send(9).from, 0u);
  EXPECT_EQ(plan->send(9).first_chunk, 5u);
}

TEST(Ring, BroadcastLeavesTheCircuitIntoTheRootAlone) {
  const auto plan = ring({.op = CollectiveOp::kBroadcast, .members = 4, .size = {8}, .root = 2, .pieces = 2});
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}, MemberPair{2, 3}, MemberPair{3, 0}));
  EXPECT_EQ(plan->initial_sends(), 2u);
  EXPECT_EQ(plan->sends_from(2, 0), 2u);
  EXPECT_EQ(plan->sends_to(2, 0), 0u);
  EXPECT_EQ(plan->sends_from(1, 0), 0u);
}

TEST(Ring, ReduceLeavesTheCircuitOutOfTheRootAlone) {
  const auto plan = ring({.op = CollectiveOp::kReduce, .members = 4, .size = {8}, .root = 2});
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}, MemberPair{1, 2}, MemberPair{3, 0}));
}

TEST(Ring, BarrierIsOneToken) {
  const auto plan = ring({.op = CollectiveOp::kBarrier, .members = 3, .size = {99}, .pieces = 4});
  // Two hops collect all members, two release them: 0 > 1 > 2 > 0 > 1.
  EXPECT_EQ(plan->send_count(), 4u);
  EXPECT_EQ(plan->initial_sends(), 1u);
  EXPECT_EQ(plan->send(1).bytes, Bytes{0});
  EXPECT_TRUE(plan->send(1).reduce);
  EXPECT_FALSE(plan->send(2).reduce);
  EXPECT_EQ(plan->send(3).to, 1u);
}

TEST(Ring, TotalsOutliveTheSendsThatAnIndexCanHold) {
  // 2 * (65536 - 1) steps of 65536 sends are over 2^32.
  const auto plan = ring({.op = CollectiveOp::kAllReduce, .members = 65536, .size = {1000}});
  EXPECT_EQ(plan->wire_bytes(), Bytes{131'070'000});
  EXPECT_EQ(plan->critical_sends(), 131'070u);
  EXPECT_THROW(static_cast<void>(plan->send_count()), ConfigError);
}

TEST(Ring, RefusesBytesThatOverflow) {
  EXPECT_THROW(static_cast<void>(ring({.op = CollectiveOp::kAllReduce, .members = 4, .size = {std::int64_t{1} << 62}})),
               ConfigError);
}

// The stream of a ring carries, for each pair, what the sends of the plan carry: summed here send by send.
TEST(Ring, ItsStreamHasTheBytesOfEveryPair) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kReduceScatter, CollectiveOp::kAllGather}) {
    for (Member n = 2; n <= 33; ++n) {
      for (const std::uint32_t pieces : {1u, 3u, 4u}) {
        for (const std::int64_t size : {0, 1, 1000, 1234567}) {
          const auto plan = registry.find("ring").expand({op, n, Bytes{size}, 0, pieces});
          const auto stream = plan->stream();
          if (stream == nullptr) {
            const bool uneven = op != CollectiveOp::kAllGather && size % (n * pieces) != 0 && size < 100 * n * pieces;
            EXPECT_TRUE(uneven || plan->send_count() == n) << "already one send a pair";
            continue;
          }
          std::vector<std::int64_t> bytes(n, 0);
          for (SendIndex i = 0; i < plan->send_count(); ++i) bytes[plan->send(i).from] += plan->send(i).bytes.count;
          ASSERT_EQ(stream->send_count(), n);
          for (SendIndex i = 0; i < n; ++i) {
            const Send send = stream->send(i);
            ASSERT_EQ(send.to, (send.from + 1) % n);
            ASSERT_EQ(send.bytes.count, bytes[send.from])
                << name(op) << " of " << n << ", " << pieces << " pieces, " << size;
          }
          EXPECT_EQ(stream->wire_bytes(), plan->wire_bytes());
        }
      }
    }
  }
}

// The one byte of four ranks takes three steps, and a flow would have it at three ranks at once.
TEST(Ring, HasNoStreamWhereAByteMoreMatters) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const auto has_stream = [&registry](std::int64_t size) {
    return registry.find("ring").expand({CollectiveOp::kReduceScatter, 4, Bytes{size}})->stream() != nullptr;
  };
  EXPECT_FALSE(has_stream(1));
  EXPECT_FALSE(has_stream(399));
  EXPECT_TRUE(has_stream(8)) << "two bytes each";
  EXPECT_TRUE(has_stream(401));
}

TEST(Ring, AChainHasNoStream) {
  // A hop waits for the data of the one before, so that its time is not that of its bytes.
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  EXPECT_EQ(registry.find("ring").expand({CollectiveOp::kBroadcast, 4, Bytes{100}, 0, 2})->stream(), nullptr);
}

}  // namespace
}  // namespace photonrail
