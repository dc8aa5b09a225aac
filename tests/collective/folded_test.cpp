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

/// Member m is on rail m % rails of server m / rails.
std::vector<MemberPlace> servers_in_order(Member members, Member rails) {
  std::vector<MemberPlace> places;
  for (Member m = 0; m < members; ++m) places.push_back({m / rails, m % rails});
  return places;
}

// Only a turn by whole servers leaves these unchanged.
TEST(Folded, PlansOverServersFoldByServers) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  using enum CollectiveOp;
  for (const char* name : {"hierarchical", "hierarchical_reversed"}) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll}) {
      for (const auto& [servers, rails] : {std::pair<Member, Member>{2, 3}, {6, 1}, {4, 4}, {6, 2}, {9, 5}}) {
        const Member n = servers * rails;
        SCOPED_TRACE(std::string(name) + " " + std::to_string(servers) + " x " + std::to_string(rails));
        const auto whole = registry.find(name).expand(
            {.op = op, .members = n, .size = Bytes{n * 1000}, .places = servers_in_order(n, rails)});
        for (Member period = rails; period < n; period += rails) {
          if (n % period != 0) continue;
          const auto part = whole->folded(period);
          ASSERT_NE(part, nullptr);
          expect_part(*whole, *part, period);
        }
        if (rails > 1) {
          EXPECT_EQ(whole->folded(1), nullptr);
        }
      }
    }
  }
}

std::vector<std::uint32_t> chunks_of(const SendPlan& plan, SendIndex i) {
  std::vector<ChunkRun> runs;
  plan.data(i, runs);
  std::vector<std::uint32_t> chunks;
  for (const ChunkRun& run : runs) {
    for (std::uint32_t c = 0; c < run.count; ++c) chunks.push_back(run.first + c);
  }
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

// Where servers do not all send equally many bytes the plan is a list of all sends; else the first server's alone is kept.
TEST(Folded, APlanKeptForOneServerIsTheListOfAll) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  using enum CollectiveOp;
  for (const char* name : {"hierarchical", "hierarchical_reversed"}) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllToAll}) {
      for (const auto& [servers, rails] : {std::pair<Member, Member>{2, 3}, {5, 1}, {4, 4}, {7, 2}}) {
        const Member n = servers * rails;
        SCOPED_TRACE(std::string(name) + " " + std::to_string(servers) + " x " + std::to_string(rails));
        const auto expand = [&](std::int64_t size) {
          return registry.find(name).expand(
              {.op = op, .members = n, .size = Bytes{size}, .places = servers_in_order(n, rails)});
        };
        const auto kept = expand(n * 1000);
        const auto list = expand(n * 1000 + 1);
        ASSERT_EQ(kept->send_count(), list->send_count());
        EXPECT_EQ(kept->initial_sends(), list->initial_sends());
        EXPECT_EQ(kept->rounds(), list->rounds());
        EXPECT_EQ(kept->most_waits(), list->most_waits());
        EXPECT_EQ(kept->critical_sends(), list->critical_sends());
        Bytes wire{};
        for (SendIndex i = 0; i < kept->send_count(); ++i) {
          const Send a = kept->send(i);
          const Send b = list->send(i);
          ASSERT_EQ(std::tuple(a.from, a.to, a.round, a.reduce), std::tuple(b.from, b.to, b.round, b.reduce)) << i;
          ASSERT_EQ(chunks_of(*kept, i), chunks_of(*list, i)) << i;
          ASSERT_EQ(kept->waits_for(i), list->waits_for(i)) << i;
          std::vector<SendIndex> one;
          std::vector<SendIndex> other;
          kept->released_by(i, one);
          list->released_by(i, other);
          ASSERT_EQ(one, other) << i;
          wire += a.bytes;
        }
        EXPECT_EQ(kept->wire_bytes(), wire);
      }
    }
  }
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
  for (const char* wanted : {"ring all_reduce", "direct all_reduce", "direct all_gather", "ring all_gather",
                             "ring reduce_scatter", "pairwise all_to_all", "direct all_to_all", "hierarchical all_reduce",
                             "hierarchical all_gather", "hierarchical reduce_scatter"}) {
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
