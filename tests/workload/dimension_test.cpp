#include "photonrail/error.hpp"
#include "photonrail/task_graph.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace photonrail {
namespace {

/// Four ranks and a communicator for each case, none of a known dimension but the last.
TaskGraph four_ranks() {
  TaskGraphBuilder builder(4);
  const auto group = [&](const char* name, std::vector<RankId> members, Dimension d = Dimension::kOther) {
    builder.add_communicator(name, std::move(members), d);
  };
  group("server", {RankId{0}, RankId{1}});
  group("rail", {RankId{0}, RankId{2}});
  group("diagonal", {RankId{0}, RankId{3}});
  group("world", {RankId{0}, RankId{1}, RankId{2}, RankId{3}});
  builder.link(RankId{0}, RankId{1}, Dimension::kOther);
  group("expert", {RankId{0}, RankId{1}}, Dimension::kEp);
  const ProgramId p = builder.add_program();
  for (std::size_t r = 0; r < 4; ++r) builder.assign(RankId{r}, p, {});
  return std::move(builder).build();
}

Dimension dimension_of(const TaskGraph& graph, std::string_view name) {
  for (const Communicator& c : graph.communicators()) {
    if (c.name == name) return c.dimension;
  }
  ADD_FAILURE() << "no communicator " << name;
  return Dimension::kOther;
}

TEST(Dimension, NamesReadBack) {
  for (int i = 0; i < kDimensionCount; ++i) {
    const auto d = static_cast<Dimension>(i);
    EXPECT_EQ(dimension_from(name(d)), d);
  }
  EXPECT_EQ(name(Dimension::kCp), "cp");
  EXPECT_FALSE(dimension_from("TP").has_value());
}

TEST(Dimension, IsInferredFromWhereMembersAre) {
  // Two servers of two GPUs, rank r on GPU r: rank 0 shares a server with rank 1 and a rail with rank 2.
  TaskGraph graph = four_ranks();
  const std::vector<GpuId> gpus{GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  graph.infer_dimensions(gpus, 2);
  EXPECT_EQ(dimension_of(graph, "server"), Dimension::kTp);
  EXPECT_EQ(dimension_of(graph, "rail"), Dimension::kDp);
  EXPECT_EQ(dimension_of(graph, "diagonal"), Dimension::kOther);
  EXPECT_EQ(dimension_of(graph, "world"), Dimension::kOther);
  EXPECT_EQ(dimension_of(graph, "link.0>1"), Dimension::kPp);
  EXPECT_EQ(dimension_of(graph, "expert"), Dimension::kEp);
}

TEST(Dimension, FollowsThePlacement) {
  // Rank 1 and rank 2 change places: the group "server" now lies along a rail, and "rail" inside a server.
  TaskGraph graph = four_ranks();
  const std::vector<GpuId> gpus{GpuId{0}, GpuId{2}, GpuId{1}, GpuId{3}};
  graph.infer_dimensions(gpus, 2);
  EXPECT_EQ(dimension_of(graph, "server"), Dimension::kDp);
  EXPECT_EQ(dimension_of(graph, "rail"), Dimension::kTp);
}

TEST(Dimension, RefusesAPlacementThatIsTooShort) {
  TaskGraph graph = four_ranks();
  const std::vector<GpuId> gpus{GpuId{0}};
  EXPECT_THROW(graph.infer_dimensions(gpus, 2), ConfigError);
  EXPECT_THROW(graph.infer_dimensions(std::vector<GpuId>(4), 0), ConfigError);
}

TEST(Dimension, CanBeNamedByHand) {
  TaskGraph graph = four_ranks();
  EXPECT_TRUE(graph.set_dimension("diagonal", Dimension::kCp));
  EXPECT_EQ(dimension_of(graph, "diagonal"), Dimension::kCp);
  EXPECT_FALSE(graph.set_dimension("nobody", Dimension::kCp));
}

}  // namespace
}  // namespace photonrail
