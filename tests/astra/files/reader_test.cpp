// ASTRA-sim's inputs as files, and what is said of those that cannot be read.
#include "formats/chakra/chakra_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/formats/astra.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace photonrail::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNetwork =
    "topology: [ Switch, Ring ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 50.0, 25.0 ]\nlatency: [ 500, 700.5 ]\n";
constexpr const char* kSystem = R"({
  "scheduling-policy": "FIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 2, "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["direct3", "ring"], "all-gather-implementation": ["oneRing"],
  "reduce-scatter-implementation": ["halvingDoubling", "doubleBinaryTree"], "all-to-all-implementation": ["direct", "ring"],
  "collective-optimization": "localBWAware", "local-mem-bw": 1600, "boost-mode": 0, "roofline-enabled": 1, "peak-perf": 900 })";

/// Four ranks: a computation, then an all-reduce of all, and an all-gather of a group.
class AstraReader : public ::testing::Test {
 protected:
  AstraReader() {
    options_.system = folder_.write("system.json", kSystem);
    options_.network = folder_.write("network.yml", kNetwork);
    options_.comm_groups = folder_.write("groups.json", R"({"7": [0, 2], "8": [3, 1]})");
    options_.remote_memory = folder_.write("memory.json", R"({"memory-type": "NO_MEMORY_EXPANSION"})");
    options_.workload = folder_.path() / "w";
    for (int r = 0; r < 4; ++r) {
      std::vector<Node> nodes{Node(1, kCompute, "layer").number("num_ops", 900000000).number("tensor_size", 1000)};
      nodes.push_back(collective(4, 0, 1 << 20));
      nodes.back().waits_for({1});
      nodes.push_back(collective(6, 2, 4096, r % 2 == 0 ? "7" : "8"));
      nodes.back().waits_for({4}, 4);
      folder_.write("w." + std::to_string(r) + ".et", trace(nodes));
    }
  }

  Folder folder_;
  AstraOptions options_;
};

TEST_F(AstraReader, ReadsTheSystemTheNetworkAndTheTraces) {
  const AnalyticalJob job = read_astra(options_);
  EXPECT_THAT(job.warnings, IsEmpty());
  EXPECT_EQ(job.system.order, AnalyticalOrder::kFifo);
  EXPECT_EQ(job.system.chunks, 4U);
  EXPECT_EQ(job.system.active_chunks, 2U);
  EXPECT_EQ(job.system.all_reduce.at(0).algorithm, AnalyticalAlgorithm::kDirect);
  EXPECT_EQ(job.system.all_reduce.at(0).window, 3U);
  EXPECT_TRUE(job.system.all_gather.at(0).whole_network);
  EXPECT_EQ(job.system.reduce_scatter.at(1).algorithm, AnalyticalAlgorithm::kDoubleBinaryTree);
  ASSERT_EQ(job.network.size(), 2U);
  EXPECT_EQ(job.network[1].shape, AnalyticalShape::kRing);
  EXPECT_DOUBLE_EQ(job.network[1].latency_ns, 700.5);
  ASSERT_EQ(job.ranks.size(), 4U);
  EXPECT_EQ(job.ranks[3].at(2).group, 2U);
  EXPECT_THAT(job.groups.at(1), ::testing::ElementsAre(3, 1));  // the order of the ring
  EXPECT_THAT(job.ranks[0].at(2).after, ::testing::ElementsAre(1));
  // 9e8 FLOPs at 1.6e12 B/s x 9e5 FLOP/B > 900e12 FLOP/s: 1000 ns before anything else.
  EXPECT_THAT(simulate_analytical(job, AnalyticalBackend::kCongestionUnaware).finish_ns, Each(::testing::Gt(1000)));
}

TEST_F(AstraReader, InvolvedDimensionsAndPrioritiesComeFromTheTrace) {
  for (int r = 0; r < 4; ++r) {
    Node node = collective(1, 0, 4096);
    node.number("comm_priority", 3);
    node.attribute("involved_dim", [](protozero::pbf_writer& a) {
      protozero::pbf_writer list(a, 28);
      const bool values[] = {false, true};
      list.add_packed_bool(1, std::begin(values), std::end(values));
    });
    folder_.write("w." + std::to_string(r) + ".et", trace({node}));
  }
  const AnalyticalJob job = read_astra(options_);
  EXPECT_EQ(job.ranks[0].at(0).dimensions & 3U, 2U);
  EXPECT_EQ(job.ranks[0].at(0).priority, 3);
}

TEST_F(AstraReader, WhatIsNotModelledIsNamed) {
  const auto complaint = [&] { return message_of([&] { static_cast<void>(read_astra(options_)); }); };
  folder_.write("system.json", R"({"model-shared-bus": 1})");
  EXPECT_THAT(complaint(), HasSubstr("system.json: /model-shared-bus: the shared memory bus (LogGP) is not modelled"));
  folder_.write("system.json", R"({"all-reduce-implementation-custom": ["x"]})");
  EXPECT_THAT(complaint(), HasSubstr("all-reduce-implementation-custom"));
  folder_.write("system.json", R"({"all-reduce-implementation": ["magic"]})");
  EXPECT_THAT(complaint(), HasSubstr("unknown implementation \"magic\""));
  folder_.write("system.json", kSystem);
  folder_.write("memory.json", R"({"memory-type": "PER_NPU_MEMORY_EXPANSION"})");
  EXPECT_THAT(complaint(), HasSubstr("remote memory (\"PER_NPU_MEMORY_EXPANSION\") is not modelled"));
  folder_.write("memory.json", R"({"memory-type": "NO_MEMORY_EXPANSION"})");
  folder_.write("network.yml", "topology: [ Torus ]\nnpus_count: [ 4 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n");
  EXPECT_THAT(complaint(), HasSubstr("network.yml: /topology/0: the topology \"Torus\" is not modelled"));
  folder_.write("network.yml", "topology: [ Ring ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n");
  EXPECT_THAT(complaint(), HasSubstr("/npus_count: 2 values for 1 dimension "));
  folder_.write("network.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n");
  EXPECT_THAT(complaint(), HasSubstr("w.4.et: no such file, but the network has 8 NPUs"));
  folder_.write("network.yml", std::string(kNetwork) + "latency: [ 1, 2 ]\n");
  EXPECT_THAT(complaint(), HasSubstr("network.yml: /latency: occurs twice"));
  folder_.write("network.yml", "topology: [ Ring\n");
  EXPECT_THAT(complaint(), HasSubstr("network.yml:"));
}

TEST_F(AstraReader, KeysThatAreNotReadAreWarningsWithTheirNames) {
  std::string system = kSystem;
  system.replace(system.find("\"boost-mode\""), 12, "\"intra-dimension-scheduling\": \"SCF\", \"boost-mode\"");
  folder_.write("system.json", system);
  folder_.write("network.yml", std::string(kNetwork) + "weather: fine\n");
  EXPECT_THAT(read_astra(options_).warnings, ::testing::ElementsAre(HasSubstr("/intra-dimension-scheduling: not modelled"),
                                                                    HasSubstr("/weather: not modelled")));
}

TEST_F(AstraReader, AScenarioFromThemRunsAndOneEditMakesItOptical) {
  const std::string text = scenario_from_astra(options_, folder_.path());
  const Scenario scenario = parse_scenario(text, folder_.path(), "imported");
  EXPECT_EQ(scenario.cluster.servers, 2U);
  EXPECT_EQ(scenario.cluster.gpus_per_server, 2U);
  EXPECT_NEAR(scenario.cluster.nic.per_port.bytes_per_second, 25.0 * 1073741824.0, 1.0);
  const std::vector<Override> optical{{"/cluster/rail", R"({"kind": "optical", "switch": "polatis_6000"})"},
                                      {"/controller", R"({"name": "opus", "mode": "provisioned"})"}};
  EXPECT_EQ(parse_scenario(text, folder_.path(), "imported", optical).cluster.rail.kind, RailKind::kOptical);
}

TEST_F(AstraReader, ASectionOfAScenarioGivesWhatTheScenarioDoesNot) {
  const Scenario scenario = parse_scenario(R"({"schema": "photonrail.scenario/1", "name": "mine",
    "astra": {"system": "system.json", "network": "network.yml", "workload": "w", "comm_groups": "groups.json"},
    "cluster": {"rail": {"kind": "optical", "switch": "polatis_6000"}}, "controller": {"name": "opus"}})",
                                           folder_.path(), "mine.json");
  EXPECT_EQ(scenario.name, "mine");
  EXPECT_EQ(scenario.cluster.rail.kind, RailKind::kOptical);
  EXPECT_EQ(scenario.cluster.gpus_per_server, 2U);
  EXPECT_EQ(scenario.graph.ranks(), 4U);
  const std::string error = message_of([&] {
    static_cast<void>(
        parse_scenario(R"({"schema": "photonrail.scenario/1", "astra": {"system": "system.json"}})", folder_.path(), "f"));
  });
  EXPECT_THAT(error, HasSubstr("/astra/network"));
}

TEST(AstraLog, HasTheLinesThatScriptsLookFor) {
  EXPECT_EQ(astra_log({{43000, 7}, {42000, 7}, 0, 0}),
            "[workload] [info] sys[0] finished, 43000 cycles, exposed communication 42000 cycles.\n"
            "[workload] [info] sys[1] finished, 7 cycles, exposed communication 7 cycles.\n");
}

}  // namespace
}  // namespace photonrail::test
