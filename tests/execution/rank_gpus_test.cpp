// Which GPU computes for a rank.
#include "execution/rank_gpus.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail::execution {
namespace {

GpuSpec model(const char* name) {
  GpuSpec gpu;
  gpu.name = name;
  return gpu;
}

// Two servers of two. GPU 1 is faster, but of the cluster's model; GPU 3 is of another one. Rank 0 is on GPU 3, rank 1 on
// GPU 1, rank 2 on GPU 0.
TEST(RankGpus, FollowThePlacement) {
  ClusterSpec cluster;
  cluster.servers = cluster.gpus_per_server = 2;
  cluster.gpu = model("common");
  cluster.unlike = {{.servers = {0}, .gpus = {1}, .speed = 2.0}, {.servers = {1}, .gpus = {1}, .gpu = model("other")}};
  const std::vector<GpuId> gpus{GpuId{3u}, GpuId{1u}, GpuId{0u}};
  const RankGpus of_ranks(cluster, gpus);
  EXPECT_EQ(of_ranks.of(RankId{0u}).name, "other");
  EXPECT_EQ(of_ranks.of(RankId{1u}).name, "common");
  EXPECT_EQ(of_ranks.of(RankId{2u}).name, "common");
}

TEST(RankGpus, AreOfOneModelWhereNoneIsNamed) {
  ClusterSpec cluster;
  cluster.gpu = model("common");
  cluster.unlike = {{.servers = {0}, .speed = 2.0}};
  EXPECT_EQ(&RankGpus(cluster, {}).of(RankId{7u}), &cluster.gpu);
}

}  // namespace
}  // namespace photonrail::execution
