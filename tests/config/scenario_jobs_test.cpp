// The "jobs" section.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

json ring(int ranks) { return {{"collective", {{"op", "all_reduce"}, {"bytes", 1000}, {"ranks", ranks}}}}; }

/// Two jobs on six servers of two GPUs, under Opus.
json two_jobs() {
  return {
      {"schema", "photonrail.scenario/1"},
      {"cluster",
       {{"servers", 6}, {"gpus_per_server", 2}, {"rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}}}}}}},
      {"controller", {{"name", "opus"}, {"mode", "provisioned"}}},
      {"collectives", {{"all_reduce", "halving_doubling"}}},
      {"run", {{"seed", 7}, {"iterations", 2}}},
      {"jobs",
       {{{"name", "a"}, {"servers", {4, 1}}, {"workload", ring(4)}},
        {{"servers", {0, 5}},
         {"start_ms", 2.5},
         {"iterations", 3},
         {"placement", {{"rank_to_gpu", {3, 0}}}},
         {"controller", {{"name", "opus"}, {"mode", "on_demand"}}},
         {"executor", {{"comm_lanes", "one"}}},
         {"workload", ring(2)}}}}};
}

Scenario parse(const json& scenario) { return parse_scenario(scenario.dump(), "."); }

std::string error_in(const json& scenario) {
  try {
    parse(scenario);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "none";
}

TEST(ScenarioJobs, AreReadEachWithItsOwn) {
  const Scenario all = parse(two_jobs());
  ASSERT_THAT(all.jobs, SizeIs(2));
  EXPECT_EQ(all.graph.ranks(), 0u);
  const JobSpec& a = all.jobs[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.start, Time{});
  EXPECT_EQ(a.run.iterations, 2u);
  EXPECT_EQ(a.run.seed, 7u);
  EXPECT_EQ(a.controller.parameters.word("mode"), "provisioned");
  EXPECT_EQ(a.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)], "halving_doubling");
  // Its first server is server 4, with GPUs 8 and 9; its second is server 1.
  EXPECT_THAT(a.gpu_of_rank, ElementsAre(GpuId{8}, GpuId{9}, GpuId{2}, GpuId{3}));
  const JobSpec& b = all.jobs[1];
  EXPECT_EQ(b.name, "job 1");
  EXPECT_EQ(to_seconds(b.start), 0.0025);
  EXPECT_EQ(b.run.iterations, 3u);
  EXPECT_EQ(b.run.seed, 8u);
  EXPECT_EQ(b.controller.parameters.word("mode"), "on_demand");
  EXPECT_EQ(b.executor.comm_lanes, CommLanes::kOne);
  // Its GPU 3 is the second of server 5, its GPU 0 the first of server 0.
  EXPECT_THAT(b.gpu_of_rank, ElementsAre(GpuId{11}, GpuId{0}));
}

TEST(ScenarioJobs, WithoutServersHaveAllAndShareThemByPlacement) {
  json scenario = two_jobs();
  scenario["jobs"][0].erase("servers");
  EXPECT_THAT(error_in(scenario), HasSubstr("/jobs/1: rank 1 is on GPU 0, which runs job a"));
  scenario["jobs"][1].erase("placement");
  scenario["jobs"][1]["servers"] = {2};
  EXPECT_THAT(parse(scenario).jobs[0].gpu_of_rank, ElementsAre(GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}));
}

TEST(ScenarioJobs, SayWhatIsWrongAndWhere) {
  const auto with = [](const char* pointer, const json& value) {
    json scenario = two_jobs();
    scenario[json::json_pointer(pointer)] = value;
    return error_in(scenario);
  };
  EXPECT_THAT(with("/workload", ring(2)), HasSubstr("/workload: belongs to a job where there are several"));
  EXPECT_THAT(with("/placement", json{{"rank_to_gpu", {0}}}), HasSubstr("/placement: belongs to a job"));
  EXPECT_THAT(with("/jobs", json::array()), HasSubstr("/jobs: has no jobs"));
  EXPECT_THAT(with("/jobs/0/server", 1), HasSubstr("/jobs/0/server: unknown key"));
  EXPECT_THAT(with("/jobs/0/servers", {1, 6}), HasSubstr("/jobs/0/servers/1: must be a whole number from 0 to 5"));
  EXPECT_THAT(with("/jobs/0/servers", {1, 1}), HasSubstr("/jobs/0/servers/1: the server is there twice"));
  EXPECT_THAT(with("/jobs/0/servers", json::array()), HasSubstr("/jobs/0/servers: names no server"));
  EXPECT_THAT(with("/jobs/0/servers", {1}), HasSubstr("4 ranks do not fit"));
  EXPECT_THAT(with("/jobs/1/servers", {1, 0}), HasSubstr("/jobs/1: rank 1 is on GPU 2, which runs job a"));
  EXPECT_THAT(with("/jobs/1/name", "a"), HasSubstr("/jobs/1/name: job 0 is called a already"));
  EXPECT_THAT(with("/jobs/1/placement/rank_to_gpu", {4, 0}), HasSubstr("/jobs/1/placement/rank_to_gpu/0"));
  EXPECT_THAT(with("/jobs/1/controller/name", "opsu"), HasSubstr("/jobs/1/controller/name"));
  EXPECT_THAT(with("/jobs/1/start_ms", -1), HasSubstr("/jobs/1/start_ms"));
  json scenario = two_jobs();
  scenario["jobs"][1].erase("workload");
  EXPECT_THAT(error_in(scenario), HasSubstr("/jobs/1/workload: missing"));
}

json fixed_circuits(const std::vector<std::pair<int, int>>& circuits) {
  json list = json::array();
  for (const auto& [from, to] : circuits) list.push_back({{"from", from}, {"to", to}});
  return {{"name", "static"}, {"circuits", list}};
}

TEST(ScenarioJobs, HaveThoseOfTheFixedCircuitsWhosePortsAreTheirOwn) {
  json scenario = two_jobs();  // GPUs 2, 3, 8, 9, and 11 and 0
  scenario["jobs"][1].erase("controller");
  scenario["jobs"][1]["placement"] = {{"rank_to_gpu", {2, 0}}};  // GPUs 10 and 0
  scenario["controller"] = fixed_circuits({{8, 2}, {0, 10}, {2, 8}, {10, 0}, {4, 6}});
  const Scenario all = parse(scenario);
  EXPECT_THAT(all.jobs[0].controller.circuits,
              ElementsAre(StaticCircuit{GpuId{8}, GpuId{2}}, StaticCircuit{GpuId{2}, GpuId{8}}));
  EXPECT_THAT(all.jobs[1].controller.circuits,
              ElementsAre(StaticCircuit{GpuId{0}, GpuId{10}}, StaticCircuit{GpuId{10}, GpuId{0}}));
}

// GPUs without a rank pass on what the ranks of their server send to other rails.
TEST(ScenarioJobs, HaveTheFixedCircuitsOfIdleGpusInTheirServers) {
  json scenario = two_jobs();  // GPUs 2, 3, 8, 9, and 11 and 0
  scenario["jobs"][1].erase("controller");
  scenario["controller"] = fixed_circuits({{10, 0}, {1, 11}, {4, 6}});
  EXPECT_THAT(parse(scenario).jobs[1].controller.circuits,
              ElementsAre(StaticCircuit{GpuId{10}, GpuId{0}}, StaticCircuit{GpuId{1}, GpuId{11}}));
}

TEST(ScenarioJobs, HaveNoFixedCircuitToAnotherJob) {
  json scenario = two_jobs();
  scenario["controller"] = fixed_circuits({{8, 2}, {8, 0}});
  EXPECT_THAT(error_in(scenario), HasSubstr("/controller/circuits/1: a fibre of it is in an earlier circuit already"));
  scenario["controller"] = fixed_circuits({{8, 2}, {2, 0}});
  EXPECT_THAT(error_in(scenario), HasSubstr("/controller/circuits/1: joins GPU 2 of a to GPU 0 of job 1"));
}

TEST(ScenarioJobs, OfTheirOwnFixedCircuitsLightNoneOfAnotherJob) {
  json scenario = two_jobs();  // GPUs 2, 3, 8, 9, and 11 and 0
  scenario["jobs"][0]["controller"] = fixed_circuits({{8, 2}, {4, 6}});
  EXPECT_THAT(parse(scenario).jobs[0].controller.circuits, ElementsAre(StaticCircuit{GpuId{8}, GpuId{2}}))
      << "4 and 6 run nothing";
  scenario["jobs"][0]["controller"] = fixed_circuits({{8, 2}, {2, 0}});
  EXPECT_THAT(error_in(scenario), HasSubstr("/jobs/0/controller/circuits/1: joins GPU 2 of a to GPU 0 of job 1"));
}

}  // namespace
}  // namespace photonrail::test
