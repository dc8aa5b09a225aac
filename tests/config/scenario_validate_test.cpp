// Scenario::validate for scenarios that were built in code, which the reader's own checks never saw.
#include "photonrail/error.hpp"
#include "photonrail/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace photonrail {
namespace {

// Two servers of one GPU, an all-reduce over both, electrical rails.
Scenario good() {
  Scenario s;
  s.cluster.servers = 2;
  s.gpu_of_rank = {GpuId{0}, GpuId{1}};
  TaskGraphBuilder builder(2);
  const CommunicatorId all = builder.add_communicator("all", {RankId{0}, RankId{1}}, Dimension::kDp);
  const ProgramId p = builder.add_program();
  builder.add_collective(p, 0, CollectiveOp::kAllReduce, Bytes{8});
  for (const std::size_t r : {0, 1}) builder.assign(RankId{r}, p, {all});
  s.graph = std::move(builder).build();
  return s;
}

std::string where_of(const std::function<void(Scenario&)>& change) {
  Scenario s = good();
  change(s);
  try {
    s.validate();
  } catch (const ConfigError& e) {
    return e.where();
  }
  return "no error";
}

TEST(ScenarioValidate, AcceptsWhatFits) {
  EXPECT_EQ(where_of([](Scenario&) {}), "no error");
}

TEST(ScenarioValidate, NamesTheCluster) {
  EXPECT_EQ(where_of([](Scenario& s) { s.cluster.servers = 0; }), "cluster.servers");
  EXPECT_EQ(where_of([](Scenario& s) { s.cluster.nic.per_port = Bandwidth{-1}; }), "cluster.nic.per_port");
}

TEST(ScenarioValidate, NamesThePlacement) {
  EXPECT_EQ(where_of([](Scenario& s) { s.graph = TaskGraph{}; }), "graph");
  EXPECT_EQ(where_of([](Scenario& s) { s.cluster.servers = 1; }), "graph");
  EXPECT_EQ(where_of([](Scenario& s) { s.gpu_of_rank.clear(); }), "gpu_of_rank");
  EXPECT_EQ(where_of([](Scenario& s) { s.gpu_of_rank[1] = GpuId{0}; }), "gpu_of_rank[1]");
  EXPECT_EQ(where_of([](Scenario& s) { s.gpu_of_rank[0] = GpuId::none(); }), "gpu_of_rank[0]");
}

TEST(ScenarioValidate, NamesTheController) {
  EXPECT_EQ(where_of([](Scenario& s) { s.cluster.rail.kind = RailKind::kOptical; }), "controller.name");
  EXPECT_EQ(where_of([](Scenario& s) { s.controller.name = "opus"; }), "controller.name");
  EXPECT_EQ(where_of([](Scenario& s) { s.controller.service = Duration{-1}; }), "controller.service");
}

TEST(ScenarioValidate, NamesTheNumbers) {
  EXPECT_EQ(where_of([](Scenario& s) { s.executor.buffered_send = Bytes{-1}; }), "executor.buffered_send");
  EXPECT_EQ(where_of([](Scenario& s) { s.collectives.chunks = 0; }), "collectives.chunks");
  EXPECT_EQ(where_of([](Scenario& s) { s.run.iterations = 0; }), "run.iterations");
}

// A caller may simulate with an algorithm and a controller of its own: simulate() looks them up.
TEST(ScenarioValidate, LeavesUnknownNamesToTheRegistriesOfTheRun) {
  const auto algorithm = [](Scenario& s) -> std::string& { return s.collectives.algorithm[0]; };
  EXPECT_EQ(where_of([&](Scenario& s) { algorithm(s) = "pairwise"; }), "collectives.algorithm.all_reduce");
  EXPECT_EQ(where_of([&](Scenario& s) { algorithm(s) = "mine"; }), "no error");
  EXPECT_EQ(where_of([](Scenario& s) {
              s.cluster.rail.kind = RailKind::kOptical;
              s.controller.name = "mine";
            }),
            "no error");
}

}  // namespace
}  // namespace photonrail
