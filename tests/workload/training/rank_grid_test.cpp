#include "workload/training/rank_grid.hpp"
#include "workload/training/small_spec.hpp"
#include "workload/training/stage_slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace photonrail {

using workload::group_shape;
using workload::RankGrid;
using workload::SlotUse;

namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> ranks_of(const TrainingSpec& spec, SlotUse use, std::uint32_t base, std::uint32_t stage = 0) {
  const RankGrid grid(spec);
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t p : RankGrid::members(group_shape(spec, stage, use), base)) ranks.push_back(grid.rank(p).value);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

TEST(RankGrid, EveryOrderNumbersEveryRankOnce) {
  TrainingSpec spec = test::small_spec();
  spec.parallelism = {.tp = 2, .pp = 3, .dp = 5, .cp = 4};
  spec.order = {"cp", "dp", "pp", "tp"};
  std::sort(spec.order.begin(), spec.order.end());
  do {
    const RankGrid grid(spec);
    std::set<RankId> seen;
    for (std::uint32_t p = 0; p < grid.positions(); ++p) seen.insert(grid.rank(p));
    EXPECT_EQ(seen.size(), 120u);
    EXPECT_EQ(*seen.rbegin(), RankId{119});
  } while (std::next_permutation(spec.order.begin(), spec.order.end()));
}

TEST(RankGrid, GroupsFollowTheOrder) {
  // rank = cp + 2 tp + 4 dp + 8 pp.
  TrainingSpec spec = test::small_spec();
  spec.parallelism = {.tp = 2, .pp = 2, .dp = 2, .cp = 2};
  spec.order = {"cp", "tp", "dp", "pp"};
  EXPECT_THAT(ranks_of(spec, SlotUse::kTensor, 0), ElementsAre(0, 2));
  EXPECT_THAT(ranks_of(spec, SlotUse::kData, 0), ElementsAre(0, 1, 4, 5));  // gradients are reduced over cp x dp
  EXPECT_THAT(ranks_of(spec, SlotUse::kPipeline, 0), ElementsAre(0, 8));
}

TEST(RankGrid, ExpertsAreLaidOverDataParallelOrTensorParallelRanks) {
  // tp 2, dp 4: rank = tp + 2 dp. With etp = tp a group of four takes one tp index of every replica; with etp = 1 it takes
  // both tp indices of two replicas, and the gradients of its experts are reduced with the other two.
  TrainingSpec spec = test::small_spec();
  spec.model.moe = ExpertSpec{.experts = 8, .top_k = 2};
  spec.parallelism = {.tp = 2, .dp = 4, .ep = 4};
  EXPECT_THAT(ranks_of(spec, SlotUse::kExpert, 0), ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(group_shape(spec, 0, SlotUse::kExpertData).members(), 1u);
  spec.parallelism.etp = 1;
  EXPECT_THAT(ranks_of(spec, SlotUse::kExpert, 4), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(ranks_of(spec, SlotUse::kExpertData, 1), ElementsAre(1, 5));
}

TEST(RankGrid, HybridShardingCutsDataParallelRanksIntoReplicas) {
  // dp 6 in two replicas of three; experts over two of the three tp x dp = 6 ranks of a replica.
  TrainingSpec spec = test::small_spec();
  spec.model.moe = ExpertSpec{.experts = 8, .top_k = 2};
  spec.parallelism = {.tp = 2, .dp = 6, .fsdp = true, .ep = 2, .etp = 1, .dp_replicate = 2};
  EXPECT_THAT(ranks_of(spec, SlotUse::kData, 0), ElementsAre(0, 2, 4));
  EXPECT_THAT(ranks_of(spec, SlotUse::kReplicate, 0), ElementsAre(0, 6));
  EXPECT_THAT(ranks_of(spec, SlotUse::kExpertData, 0), ElementsAre(0, 2, 4));
  EXPECT_THAT(ranks_of(spec, SlotUse::kExpertReplicate, 1), ElementsAre(1, 7));
}

TEST(RankGrid, TheCopiesOfDualPipeShareAGroup) {
  // pp 4, dp 2: stages 1 and 2 hold the same layers. rank = dp + 2 pp.
  TrainingSpec spec = test::small_spec();
  spec.schedule = PipelineSchedule::kDualPipe;
  spec.parallelism = {.pp = 4, .dp = 2};
  EXPECT_THAT(ranks_of(spec, SlotUse::kData, 2, 1), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(ranks_of(spec, SlotUse::kDataMirror, 0, 0), ElementsAre(0, 1, 6, 7));
}

}  // namespace
}  // namespace photonrail
