#include "collective/refit/weight_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace photonrail::collective {
namespace {

using ::testing::ElementsAre;

// 10 bytes over tp 2 are [0, 5) and [5, 10), over tp 4 [0, 3), [3, 6), [6, 8), [8, 10): cut at 3, 5, 6, 8.
TEST(WeightMap, CutsDenseBytesWhereEitherSideCuts) {
  const std::vector<WeightUnit> units{{.dense = {10}}};
  const WeightMap map = map_weights(units, {.ranks = 4, .tp = 2}, {.ranks = 4, .tp = 4}, 2, 4);
  std::vector<std::int64_t> first;
  for (const WeightRange& range : map.ranges) first.push_back(range.first.count);
  EXPECT_THAT(first, ElementsAre(0, 3, 5, 6, 8));
  // [3, 5): tp rank 0 of training, which ranks 0 and 2 are; rank 1 of each engine, members 5 and 9.
  const WeightShard& shard = map.shards[map.ranges[1].shard];
  EXPECT_EQ(shard.bytes, Bytes{2});
  EXPECT_THAT(shard.holders, ElementsAre(0u, 2u));
  EXPECT_THAT(shard.needers, ElementsAre(5u, 9u));
}

// Two stages of two ranks, 4 experts of 6 bytes over ep 2; an engine of tp 2 that cuts each expert. Units 0 and 1 are of
// the first stage, 2 and 3 of the second.
TEST(WeightMap, PlacesExpertsAndStages) {
  const std::vector<WeightUnit> units(4, {.dense = {4}, .experts = 4, .expert = {6}});
  const WeightMap map = map_weights(units, {.ranks = 4, .pp = 2, .ep = 2}, {.ranks = 2, .tp = 2, .etp = 2}, 1, 4);
  for (const WeightRange& range : map.ranges) {
    const WeightShard& shard = map.shards[range.shard];
    const Member stage = range.unit / 2 * 2;
    const Member half = range.first.count == 0 ? 0 : 1;  // of 4 or 6 bytes
    EXPECT_THAT(shard.needers, ElementsAre(4 + half));
    if (range.expert == WeightRange::kDense) {
      EXPECT_THAT(shard.holders, ElementsAre(stage, stage + 1));
    } else {
      EXPECT_THAT(shard.holders, ElementsAre(stage + range.expert / 2));
    }
  }
}

// Every byte is in one range, and a rank needs what its layout gives it: 1 / tp of the dense bytes of its stage and its
// experts, or a byte more of each cut.
TEST(WeightMap, CoversEveryByteOnce) {
  std::vector<WeightUnit> units;
  for (int u = 0; u < 7; ++u) units.push_back({.dense = {1000 + u}, .experts = u % 2 == 0 ? 8u : 0u, .expert = {101}});
  for (const WeightLayout training :
       {WeightLayout{8, 2, 2, 4, 1}, WeightLayout{8, 1, 4, 2, 2}, WeightLayout{6, 3, 1, 2, 1}}) {
    for (const WeightLayout engine : {WeightLayout{3, 1, 3, 1, 3}, WeightLayout{4, 2, 2, 2, 1}, WeightLayout{1}}) {
      const WeightMap map = map_weights(units, training, engine, 2, training.ranks);
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> end;
      std::vector<Bytes> of_shard(map.shards.size());
      for (const WeightRange& range : map.ranges) {
        auto& at = end[{range.unit, range.expert}];
        EXPECT_EQ(range.first.count, at);
        at += range.bytes.count;
        of_shard[range.shard] += range.bytes;
      }
      for (const auto& [where, bytes] : end) {
        EXPECT_EQ(bytes,
                  where.second == WeightRange::kDense ? units[where.first].dense.count : units[where.first].expert.count);
      }
      for (std::size_t s = 0; s < map.shards.size(); ++s) EXPECT_EQ(map.shards[s].bytes, of_shard[s]);
      EXPECT_EQ(end.size(), 7u + 4u * 8u);
    }
  }
}

}  // namespace
}  // namespace photonrail::collective
