// The plans of a refit, proven by replay.
#include "collective/refit/refit.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace photonrail::collective {
namespace {

using ::testing::HasSubstr;

constexpr RefitWay kAllWays[] = {RefitWay::kFunnel, RefitWay::kRing, RefitWay::kRingPerRail, RefitWay::kSharded,
                                 RefitWay::kShardedMatchings};

RefitSpec small_model(const WeightLayout& training, const WeightLayout& engine, Member engines, bool colocated = false) {
  RefitSpec spec;
  for (int u = 0; u < 4; ++u) spec.units.push_back({.dense = {1201}, .experts = 4, .expert = {307}});
  spec.training = training;
  spec.engine = engine;
  spec.engines = engines;
  spec.colocated = colocated;
  spec.pieces = 5;
  return spec;
}

std::vector<std::uint32_t> servers_of(Member members, std::uint32_t gpus) {
  std::vector<std::uint32_t> servers(members);
  for (Member m = 0; m < members; ++m) servers[m] = m / gpus;
  return servers;
}

std::vector<testing::PlacedChunk> placed(const RefitPlan& refit) {
  std::vector<testing::PlacedChunk> chunks;
  for (const RefitPlan::Chunk& chunk : refit.chunks) {
    chunks.push_back({chunk.bytes, refit.shards[chunk.shard].holders, refit.shards[chunk.shard].needers});
  }
  return chunks;
}

std::vector<std::int64_t> received(const SendPlan& plan) {
  std::vector<std::int64_t> bytes(plan.members());
  for (SendIndex i = 0; i < plan.send_count(); ++i) bytes[plan.send(i).to] += plan.send(i).bytes.count;
  return bytes;
}

const RefitSpec kShapes[] = {
    small_model({.ranks = 4, .tp = 2, .ep = 2, .etp = 2}, {.ranks = 2, .tp = 2, .etp = 2}, 2),
    small_model({.ranks = 8, .pp = 2, .ep = 4}, {.ranks = 4, .tp = 4, .ep = 2, .etp = 2}, 1),
    small_model({.ranks = 1}, {.ranks = 3, .tp = 3, .etp = 3}, 3),
    small_model({.ranks = 8, .pp = 4, .tp = 2}, {.ranks = 1}, 5),
    small_model({.ranks = 8, .pp = 2, .tp = 2, .ep = 2}, {.ranks = 4, .tp = 4, .etp = 4}, 2, true),
};

// Every engine rank ends with each of its bytes, whatever the order of arrival; each chunk has the bytes of its shard.
TEST(Refit, EveryWayIsProvenByReplay) {
  for (const RefitSpec& shape : kShapes) {
    for (const RefitWay way : kAllWays) {
      for (const std::uint32_t gpus : {1u, 2u, 4u}) {
        RefitSpec spec = shape;
        spec.way = way;
        const RefitPlan refit = plan_refit(spec, servers_of(spec.members(), gpus));
        std::vector<Bytes> of_shard(refit.shards.size());
        for (const RefitPlan::Chunk& chunk : refit.chunks) of_shard[chunk.shard] += chunk.bytes;
        for (std::size_t s = 0; s < of_shard.size(); ++s) EXPECT_EQ(of_shard[s], refit.shards[s].bytes);
        using enum testing::ArrivalOrder;
        for (const testing::ArrivalOrder order : {kOldestFirst, kNewestFirst, kRandom}) {
          for (const bool by_rounds : {false, true}) {
            const auto report = testing::replay(placed(refit), *refit.plan, {.order = order, .by_rounds = by_rounds});
            EXPECT_TRUE(report.correct) << static_cast<int>(way) << " on servers of " << gpus << ": " << report.problem;
          }
        }
      }
    }
  }
}

// The weights of the stages, one after another, are those of the model: each is proven alone, and together they send no
// byte more.
TEST(Refit, StagesTogetherAreTheWhole) {
  for (const RefitSpec& shape : kShapes) {
    for (const RefitWay way : kAllWays) {
      RefitSpec spec = shape;
      spec.way = way;
      const auto servers = servers_of(spec.members(), 2);
      std::vector<std::int64_t> bytes(spec.members());
      for (std::uint32_t stage = 0; stage < spec.training.pp; ++stage) {
        const RefitPlan part = plan_refit(spec, servers, stage);
        const auto report = testing::replay(placed(part), *part.plan, {});
        EXPECT_TRUE(report.correct) << static_cast<int>(way) << ": " << report.problem;
        for (const WeightShard& shard : part.shards) EXPECT_EQ(shard.holders.front() / spec.training.stage_ranks(), stage);
        const std::vector<std::int64_t> of_part = received(*part.plan);
        for (Member m = 0; m < bytes.size(); ++m) bytes[m] += of_part[m];
      }
      EXPECT_EQ(bytes, received(*plan_refit(spec, servers).plan)) << static_cast<int>(way);
    }
  }
}

// Sharded: what a rank receives is what it needs and does not hold.
TEST(Refit, ShardsTravelOnce) {
  for (const RefitSpec& shape : kShapes) {
    for (const RefitWay way : {RefitWay::kSharded, RefitWay::kShardedMatchings}) {
      RefitSpec spec = shape;
      spec.way = way;
      const RefitPlan refit = plan_refit(spec, servers_of(spec.members(), 2));
      std::vector<std::int64_t> wanted(spec.members());
      for (const WeightShard& shard : refit.shards) {
        for (const Member m : shard.needers) {
          const bool has = std::find(shard.holders.begin(), shard.holders.end(), m) != shard.holders.end();
          wanted[m] += has ? 0 : shard.bytes.count;
        }
      }
      EXPECT_EQ(received(*refit.plan), wanted);
    }
  }
}

// Rings are one matching on the rails, and matchings are matchings: a NIC, named by the sender's server and the receiver's
// rail, has one partner in a round.
TEST(Refit, RingsAndMatchingsNeedOneCircuitANic) {
  for (const RefitSpec& shape : kShapes) {
    for (const RefitWay way : {RefitWay::kRing, RefitWay::kRingPerRail, RefitWay::kShardedMatchings}) {
      RefitSpec spec = shape;
      spec.way = way;
      const std::uint32_t gpus = 2;
      const RefitPlan refit = plan_refit(spec, servers_of(spec.members(), gpus));
      const bool ring = way != RefitWay::kShardedMatchings;
      EXPECT_TRUE(!ring || refit.plan->rounds() == 1u);
      for (std::uint32_t round = 0; round < refit.plan->rounds(); ++round) {
        std::set<std::pair<Member, Member>> transmit;
        std::set<Member> receive;
        for (const auto& [from, to] : refit.plan->pairs(round)) {
          if (from / gpus == to / gpus) continue;
          EXPECT_TRUE(transmit.emplace(from / gpus, to % gpus).second) << static_cast<int>(way);
          EXPECT_TRUE(receive.insert(to).second) << static_cast<int>(way);
        }
      }
    }
  }
}

TEST(Refit, WrongChunksAreFound) {
  RefitSpec spec = kShapes[0];
  spec.way = RefitWay::kSharded;
  const RefitPlan refit = plan_refit(spec, servers_of(spec.members(), 2));
  std::vector<testing::PlacedChunk> chunks = placed(refit);
  chunks[0].needers.push_back(1);  // a training rank of the other half, which nothing is sent to
  EXPECT_THAT(testing::replay(chunks, *refit.plan).problem, HasSubstr("in the end member 1 lacks"));
}

TEST(Refit, RefusesLayoutsThatDoNotDivide) {
  const auto problem = [](const RefitSpec& spec) -> std::string {
    try {
      spec.validate();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(problem(small_model({.ranks = 4, .pp = 3}, {.ranks = 1}, 1)), HasSubstr("must divide the 4 ranks"));
  EXPECT_THAT(problem(small_model({.ranks = 4}, {.ranks = 6, .ep = 3}, 1)), HasSubstr("must divide the 4 experts"));
  EXPECT_THAT(problem(small_model({.ranks = 4}, {.ranks = 2, .tp = 2}, 3, true)),
              HasSubstr("need 6 ranks, but training has 4"));
}

}  // namespace
}  // namespace photonrail::collective
