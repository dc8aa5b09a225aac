// An operation that waits for circuits leaves its lanes to others, and takes them again: but not those of members that are
// done.
#include "photonrail/workload/moe.hpp"
#include "run/job.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photonrail::test {
namespace {

// A layer of experts on three servers of three GPUs. A member has one token: many have nothing to send or receive in an
// exchange, and are done when it begins. The combine wants the lanes that they had in the dispatch.
Scenario layer(std::uint64_t seed) {
  MoeLayerSpec spec;
  spec.traffic.router.source_spread = 1;
  spec.traffic.members = 9;
  spec.traffic.experts = 36;
  spec.traffic.top_k = 1;
  spec.traffic.tokens = 1;
  const auto layers = std::make_shared<const MoeLayers>(spec);
  const MoeTraffic& traffic = layers->traffic();
  TaskGraphBuilder builder(9);
  builder.set_demands(layers);
  std::vector<RankId> members;
  for (std::uint32_t r = 0; r < 9; ++r) members.emplace_back(r);
  const CommunicatorId group = builder.add_communicator("all", members, Dimension::kEp);
  const ProgramId program = builder.add_program();
  std::vector<TaskId> after;
  after = {builder.add_all_to_all(program, 0, traffic.number(0, 0, MoeExchange::kDispatch), Bytes{2}, "dispatch", after)};
  after = {builder.add_demand_compute(program, 0, layers->number(0, 0), 4.0, "experts", after)};
  builder.add_all_to_all(program, 0, traffic.number(0, 0, MoeExchange::kCombine), Bytes{2}, "combine", after);
  Scenario scenario;
  for (std::uint32_t r = 0; r < 9; ++r) {
    builder.assign(RankId{r}, program, {group});
    scenario.gpu_of_rank.emplace_back(r);
  }
  scenario.graph = std::move(builder).build();
  scenario.cluster.servers = scenario.cluster.gpus_per_server = 3;
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(us(1));
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
  scenario.controller.name = "coalesce";
  scenario.controller.parameters.set("rehearse", 0.0);
  scenario.executor.comm_lanes = CommLanes::kOne;
  scenario.run.seed = seed;
  return scenario;
}

TEST(CoalesceLanes, MembersWithNothingToDoKeepNoLane) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RunResult result = simulate(layer(seed));
    EXPECT_TRUE(books_balance(result)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace photonrail::test
