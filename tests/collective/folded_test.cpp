// SendPlan::folded of every built-in algorithm: it is the part of the whole plan that the first members have.
#include "photonrail/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail {
namespace {

using Message = std::tuple<Member, Member, std::int64_t, std::uint32_t>;  // from, to, bytes, round

std::vector<Message> messages_of(const SendPlan& plan, Member first_members) {
  std::vector<Message> messages;
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (send.from < first_members) messages.emplace_back(send.from, send.to, send.bytes.count, send.round);
  }
  std::sort(messages.begin(), messages.end());
  return messages;
}

/// Every send is released once by each of the sends that it waits for, and all of them leave.
void expect_complete(const SendPlan& plan) {
  std::vector<std::uint32_t> arrivals(plan.send_count(), 0);
  std::vector<SendIndex> ready;
  for (SendIndex i = 0; i < plan.initial_sends(); ++i) ready.push_back(i);
  std::size_t left = 0;
  for (; left < ready.size(); ++left) {
    std::vector<SendIndex> released;
    plan.released_by(ready[left], released);
    for (const SendIndex next : released) {
      if (++arrivals[next] == plan.waits_for(next)) ready.push_back(next);
    }
  }
  EXPECT_EQ(left, plan.send_count());
}

void expect_part(const SendPlan& whole, const SendPlan& part, Member period) {
  EXPECT_EQ(part.members(), period);
  EXPECT_EQ(messages_of(part, period), messages_of(whole, period));
  EXPECT_EQ(part.wire_bytes().count * (whole.members() / period), whole.wire_bytes().count);
  EXPECT_EQ(part.critical_sends(), whole.critical_sends());
  ASSERT_EQ(part.rounds(), whole.rounds());
  for (std::uint32_t round = 0; round < whole.rounds(); ++round) {
    std::vector<MemberPair> pairs = whole.pairs(round);
    std::erase_if(pairs, [&](const MemberPair& pair) { return pair.first >= period; });
    EXPECT_EQ(part.pairs(round), pairs);
    for (Member m = 0; m < period; ++m) {
      EXPECT_EQ(part.sends_from(m, round), whole.sends_from(m, round));
      EXPECT_EQ(part.sends_to(m, round), whole.sends_to(m, round));
    }
  }
  expect_complete(part);
  const auto stream = whole.stream();
  const auto part_stream = part.stream();
  ASSERT_EQ(stream == nullptr, part_stream == nullptr);
  if (stream == nullptr) return;
  EXPECT_EQ(messages_of(*part_stream, period), messages_of(*stream, period));
}

TEST(Folded, APartIsWhatTheFirstMembersHaveInTheWhole) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  std::map<std::string, int> parts;
  for (const auto& algorithm : registry.all()) {
    for (int o = 0; o < kCollectiveOpCount; ++o) {
      for (const Member members : {2u, 3u, 4u, 6u, 12u}) {
        for (const std::uint32_t pieces : {1u, 3u}) {
          const CollectiveCall call{static_cast<CollectiveOp>(o), members, Bytes{12 * 3 * 1000}, 0, pieces};
          if (!algorithm->supports(call.op, members)) continue;
          const auto whole = algorithm->expand(call);
          for (Member period = 1; period < members; ++period) {
            if (members % period != 0) continue;
            const auto part = whole->folded(period);
            if (part == nullptr) continue;
            SCOPED_TRACE(std::string(algorithm->name()) + " " + std::string(name(call.op)) + " among " +
                         std::to_string(members) + ", period " + std::to_string(period));
            expect_part(*whole, *part, period);
            ++parts[std::string(algorithm->name()) + " " + std::string(name(call.op))];
          }
        }
      }
    }
  }
  for (const char* wanted :
       {"ring all_reduce", "ring all_gather", "ring reduce_scatter", "pairwise all_to_all", "direct all_to_all",
        "hierarchical all_reduce", "hierarchical all_gather", "hierarchical reduce_scatter"}) {
    EXPECT_GT(parts[wanted], 0) << wanted;
  }
  EXPECT_EQ(parts.count("ring broadcast"), 0u) << "the root has a part of its own";
}

// 100 bytes among 3: a shard of 34 and two of 33.
TEST(Folded, SharesThatDifferCannotBeFolded) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  EXPECT_EQ(registry.find("ring").expand({CollectiveOp::kAllReduce, 3, Bytes{100}, 0, 1})->folded(1), nullptr);
  EXPECT_EQ(registry.find("pairwise").expand({CollectiveOp::kAllToAll, 3, Bytes{100}, 0, 1})->folded(1), nullptr);
  // Of an all-gather 100 bytes are each member's shard.
  EXPECT_NE(registry.find("ring").expand({CollectiveOp::kAllGather, 3, Bytes{100}, 0, 1})->folded(1), nullptr);
}

}  // namespace
}  // namespace photonrail
