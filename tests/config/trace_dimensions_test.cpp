#include "config/trace_dimensions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace photonrail::config {
namespace {

/// A group of these ranks that does one operation, of no known dimension.
struct TracedGroup {
  const char* name;
  std::vector<std::size_t> ranks;
  CollectiveOp op;
  int calls = 1;
};

// The graph with the dimensions that places give to ranks in order on servers of `gpus_per_server`, and what is made of
// them.
std::vector<Dimension> refined(std::size_t ranks, std::uint32_t gpus_per_server, const std::vector<TracedGroup>& groups) {
  TaskGraphBuilder builder(ranks);
  std::vector<CommunicatorId> ids;
  for (const TracedGroup& group : groups) {
    std::vector<RankId> members;
    for (const std::size_t rank : group.ranks) members.emplace_back(rank);
    ids.push_back(builder.add_communicator(group.name, std::move(members), Dimension::kOther));
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    const ProgramId program = builder.add_program();
    std::vector<CommunicatorId> slots;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (std::find(groups[g].ranks.begin(), groups[g].ranks.end(), r) == groups[g].ranks.end()) continue;
      for (int call = 0; call < groups[g].calls; ++call)
        builder.add_collective(program, static_cast<std::uint32_t>(slots.size()), groups[g].op, Bytes{1000});
      slots.push_back(ids[g]);
    }
    builder.assign(RankId{r}, program, slots);
  }
  TaskGraph graph = std::move(builder).build();
  std::vector<GpuId> gpus;
  for (std::size_t r = 0; r < ranks; ++r) gpus.emplace_back(r);
  graph.infer_dimensions(gpus, gpus_per_server);
  std::vector<std::size_t> open(groups.size());
  std::iota(open.begin(), open.end(), 0U);
  refine_dimensions(open, graph);
  std::vector<Dimension> dimensions;
  for (std::size_t g = 0; g < groups.size(); ++g) dimensions.push_back(graph.communicators()[g].dimension);
  return dimensions;
}

using enum CollectiveOp;

TEST(TraceDimensions, FsdpOverAllRanksIsDataParallel) {
  // Eight ranks on two servers: the group of all lies neither in a server nor along a rail.
  EXPECT_EQ(refined(8, 4, {{"all", {0, 1, 2, 3, 4, 5, 6, 7}, kAllGather}}), std::vector{Dimension::kDp});
  EXPECT_EQ(refined(8, 4, {{"all", {0, 1, 2, 3, 4, 5, 6, 7}, kBroadcast}}), std::vector{Dimension::kOther});
  EXPECT_EQ(refined(8, 4, {{"some", {0, 1, 6, 7}, kAllGather}}), std::vector{Dimension::kOther});  // no equal strides
}

TEST(TraceDimensions, AllToAllsAreOfExperts) {
  EXPECT_EQ(refined(4, 4, {{"a", {0, 1, 2, 3}, kAllToAll}}), std::vector{Dimension::kEp});
  EXPECT_EQ(refined(4, 1, {{"a", {0, 1, 2, 3}, kAllToAll}}), std::vector{Dimension::kEp});
  EXPECT_EQ(refined(4, 4, {{"tp.0", {0, 1, 2, 3}, kAllToAll}}), std::vector{Dimension::kTp});  // its name says so
}

TEST(TraceDimensions, WhatStepsOverNeighboursOfAServerIsDataParallel) {
  // tp of two and dp of four inside one server of eight.
  const std::vector<Dimension> found =
      refined(8, 8, {{"a", {0, 1}, kAllReduce}, {"b", {2, 3}, kAllReduce}, {"c", {0, 2, 4, 6}, kReduceScatter}});
  EXPECT_EQ(found, (std::vector{Dimension::kTp, Dimension::kTp, Dimension::kDp}));
  // Without groups of neighbours a group with steps is the tensor-parallel one.
  EXPECT_EQ(refined(8, 8, {{"c", {0, 2, 4, 6}, kReduceScatter}}), std::vector{Dimension::kTp});
}

// Ranks of dp 2, tp 4 with dp innermost: tensor-parallel groups meet four times a layer and micro-batch, and data-parallel
// ones once a layer.
TEST(TraceDimensions, NeighboursThatMeetRarelyAreDataParallel) {
  const auto with = [](int of_neighbours) {
    return refined(8, 8,
                   {{"a", {0, 1}, kAllReduce, of_neighbours},
                    {"b", {2, 3}, kAllReduce, of_neighbours},
                    {"c", {4, 5}, kAllReduce, of_neighbours},
                    {"d", {6, 7}, kAllReduce, of_neighbours},
                    {"e", {0, 2, 4, 6}, kAllGather, 12},
                    {"f", {1, 3, 5, 7}, kAllGather, 12}});
  };
  using enum Dimension;
  EXPECT_EQ(with(4), (std::vector{kDp, kDp, kDp, kDp, kTp, kTp}));
  EXPECT_EQ(with(5), (std::vector{kTp, kTp, kTp, kTp, kDp, kDp}));  // less than three times as often
  // Servers of four: the longer groups are in no server and along no rail. Servers of two: they are along rails.
  const auto placed = [](std::uint32_t gpus) {
    return refined(8, gpus, {{"a", {0, 1}, kAllReduce, 1}, {"e", {0, 2, 4, 6}, kAllGather, 9}});
  };
  EXPECT_EQ(placed(4), (std::vector{kDp, kTp}));
  EXPECT_EQ(placed(2), (std::vector{kDp, kTp}));
}

}  // namespace
}  // namespace photonrail::config
