#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace photonrail {
namespace {

constexpr std::string_view kBoth[] = {"hierarchical", "hierarchical_reversed"};

/// Member m is in server m % servers: neighbours in number are not neighbours in place.
std::vector<MemberPlace> scattered(std::uint32_t servers, std::uint32_t rails) {
  std::vector<MemberPlace> places;
  for (std::uint32_t m = 0; m < servers * rails; ++m)
    places.push_back({7 + m % servers, (5 * (m / servers) + 1) % (5 * rails)});
  return places;
}

std::unique_ptr<const SendPlan> expand(std::string_view algorithm, const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find(algorithm).expand(call);
}

TEST(Hierarchical, MovesTheDataOnEveryGrid) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  using enum CollectiveOp;
  for (const std::string_view algorithm : kBoth) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast, kReduce}) {
      for (std::uint32_t servers = 1; servers <= 6; ++servers) {
        for (std::uint32_t rails = servers == 1 ? 2 : 1; rails <= 5; ++rails) {
          const Member n = servers * rails;
          const bool rooted = op == kBroadcast || op == kReduce;
          for (const Member root : rooted ? std::set<Member>{0, n / 2, n - 1} : std::set<Member>{0}) {
            const CollectiveCall call{
                .op = op, .members = n, .size = {10'007}, .root = root, .places = scattered(servers, rails)};
            const auto plan = registry.find(algorithm).expand(call);
            for (const bool by_rounds : {false, true}) {
              for (const auto order : {testing::ArrivalOrder::kOldestFirst, testing::ArrivalOrder::kRandom}) {
                const auto report = testing::replay(call, *plan, {.order = order, .by_rounds = by_rounds});
                ASSERT_TRUE(report.correct) << algorithm << " " << name(op) << " on " << servers << " x " << rails
                                            << " from " << root << ": " << report.problem;
              }
            }
          }
        }
      }
    }
  }
}

// With as many bytes for each server the plan is kept for the first one alone.
TEST(Hierarchical, MovesTheDataWhereServersAreAlike) {
  using enum CollectiveOp;
  for (const std::string_view algorithm : kBoth) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll}) {
      for (const auto& [servers, rails] : {std::pair<Member, Member>{2, 1}, {2, 4}, {5, 3}, {6, 2}}) {
        const Member n = servers * rails;
        CollectiveCall call{.op = op, .members = n, .size = Bytes{n * 10}};
        for (Member m = 0; m < n; ++m) call.places.push_back({m / rails, m % rails});
        const auto report = testing::replay(call, *expand(algorithm, call), {.order = testing::ArrivalOrder::kRandom});
        EXPECT_TRUE(report.correct) << algorithm << " " << name(op) << " on " << servers << " x " << rails << ": "
                                    << report.problem;
      }
    }
  }
}

// A pair in two has nothing to exchange; the shares of the others go over two hops, and empty shares are not sent.
TEST(Hierarchical, FollowsADemand) {
  for (const std::string_view algorithm : kBoth) {
    TrafficMatrix demand(12);
    for (Member from = 0; from < 12; ++from) {
      for (Member to = 0; to < 12; ++to) demand.at(from, to) = {(from * 5 + to * 3) % 4 < 2 ? 0 : 10 * from + to + 1};
    }
    const CollectiveCall call{.op = CollectiveOp::kAllToAll, .members = 12, .places = scattered(3, 4), .demand = &demand};
    const auto plan = expand(algorithm, call);
    for (const auto order : {testing::ArrivalOrder::kOldestFirst, testing::ArrivalOrder::kRandom}) {
      EXPECT_EQ(testing::replay(call, *plan, {.order = order, .by_rounds = true}).problem, "") << algorithm;
    }
    EXPECT_LE(plan->wire_bytes().count, 2 * demand.wire_bytes().count);
    EXPECT_GE(plan->wire_bytes().count, demand.wire_bytes().count);
  }
}

/// Bytes that leave a member over its rail.
std::vector<std::int64_t> rail_bytes(const CollectiveCall& call, const SendPlan& plan) {
  std::vector<std::int64_t> bytes(call.members, 0);
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (call.places[send.from].server == call.places[send.to].server) continue;
    EXPECT_EQ(call.places[send.from].rail, call.places[send.to].rail) << "a send that changes server and rail";
    bytes[send.from] += send.bytes.count;
  }
  return bytes;
}

// 3 servers of 4. All-reduce of 1200 bytes: each rail reduces a quarter of the tensor, 300 bytes, in rings of 3 members: 2
// * 2 steps of 100 bytes. Reversed, each rail carries the whole tensor: 4 steps of 400 bytes.
TEST(Hierarchical, SpreadsTheTrafficOverAllRails) {
  CollectiveCall call{.op = CollectiveOp::kAllReduce, .members = 12, .size = {1200}, .places = scattered(3, 4)};
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical", call)), std::vector<std::int64_t>(12, 400));
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical_reversed", call)), std::vector<std::int64_t>(12, 1600));
  // A shard of 60 bytes: over the rails go the shards of the own rail, 2 hops of 60; reversed, those of whole servers.
  call.op = CollectiveOp::kAllGather;
  call.size = {60};
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical", call)), std::vector<std::int64_t>(12, 120));
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical_reversed", call)), std::vector<std::int64_t>(12, 480));
  // All-to-all of 1200 bytes a member: 8 of the 12 shares of 100 bytes are for other servers, in either order.
  call.op = CollectiveOp::kAllToAll;
  call.size = {1200};
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical", call)), std::vector<std::int64_t>(12, 800));
  EXPECT_EQ(rail_bytes(call, *expand("hierarchical_reversed", call)), std::vector<std::int64_t>(12, 800));
}

TEST(Hierarchical, EveryRoundIsAMatchingOnTheRails) {
  using enum CollectiveOp;
  for (const std::string_view algorithm : kBoth) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast, kReduce}) {
      const CollectiveCall call{.op = op, .members = 15, .size = {1500}, .root = 7, .places = scattered(5, 3)};
      const auto plan = expand(algorithm, call);
      for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
        std::set<Member> senders;
        std::set<Member> receivers;
        for (const auto& [from, to] : plan->pairs(round)) {
          if (call.places[from].server == call.places[to].server) continue;
          EXPECT_TRUE(senders.insert(from).second) << name(op) << " round " << round;
          EXPECT_TRUE(receivers.insert(to).second) << name(op) << " round " << round;
        }
      }
    }
  }
}

TEST(Hierarchical, RefusesWhatIsNoGrid) {
  CollectiveCall call{.op = CollectiveOp::kAllReduce, .members = 4, .size = {4}, .places = scattered(2, 2)};
  EXPECT_NO_THROW(static_cast<void>(expand("hierarchical", call)));
  call.places = {{0, 0}, {0, 1}, {0, 2}, {1, 0}};  // 3 + 1
  EXPECT_THROW(static_cast<void>(expand("hierarchical", call)), ConfigError);
  call.places = {{0, 0}, {0, 1}, {1, 0}, {1, 2}};  // other rails
  EXPECT_THROW(static_cast<void>(expand("hierarchical", call)), ConfigError);
  call.places = {{0, 0}, {0, 0}, {1, 0}, {1, 0}};  // two members at one place
  EXPECT_THROW(static_cast<void>(expand("hierarchical", call)), ConfigError);
}

}  // namespace
}  // namespace photonrail
