// What bounds a run: the parts of the critical path add up to the makespan on every golden job, and are what they are by
// hand.
#include "golden/golden.hpp"
#include "photonrail/config.hpp"
#include "photonrail/study/worth.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace photonrail::test {
namespace {

using nlohmann::json;

json electrical_job(std::uint32_t servers, const json& rail = {{"kind", "electrical"}}) {
  return {{"schema", "photonrail.scenario/1"},
          {"cluster", {{"servers", servers}, {"gpus_per_server", 1}, {"nic", {{"port_gb_per_s", 50}}}, {"rail", rail}}},
          {"workload", {{"collective", {{"op", "all_reduce"}, {"bytes", 1000000}}}}}};
}

Scenario scenario_of(const json& text) { return parse_scenario(text.dump(), "."); }

RunResult with_path(Scenario scenario) {
  scenario.run.critical_path = true;
  return simulate(scenario);
}

Duration time_of(const CriticalPath& path, PathPart::Kind kind) {
  Duration sum{};
  for (const PathPart& part : path.parts) {
    if (part.kind == kind) sum += part.time;
  }
  return sum;
}

class PathOfConfigs : public ::testing::TestWithParam<const char*> {};

TEST_P(PathOfConfigs, AddsUpAndLeavesNothingUnexplained) {
  const Scenario scenario = load(GetParam());
  const RunResult plain = simulate(scenario);
  const RunResult result = with_path(scenario);
  EXPECT_EQ(result.makespan, plain.makespan) << "looking changes nothing";
  EXPECT_EQ(result.folding.classes, plain.folding.classes);
  ASSERT_TRUE(result.critical_path);
  EXPECT_EQ(result.critical_path->total(), result.makespan);
  EXPECT_EQ(time_of(*result.critical_path, PathPart::Kind::kUnexplained), Duration{});
  EXPECT_EQ(time_of(*result.critical_path, PathPart::Kind::kLane), Duration{});
}

INSTANTIATE_TEST_SUITE_P(All, PathOfConfigs,
                         ::testing::Values("quickstart.json", "quickstart-electrical.json", "quickstart-on-demand.json",
                                           "llama3-8b-16gpu.json", "checkpoint-to-peers.json", "moe-all-to-all.json",
                                           "moe-all-to-all-electrical.json", "moe-layer.json", "shared-nics.json",
                                           "straggler-all-reduce.json", "two-gpu-models.json",
                                           "unlike-gpus-uneven-stages.json", "all-gather-inside-a-server.json",
                                           "all-to-all-within-one-percent.json", "llama3-8b-operator-tables.json"));

// A ring of 4 sends 2 x 3 quarters of 1 MB over each port: 1.5 MB at 50 GB/s is 30 us, and nothing else takes time.
TEST(CriticalPath, OfARingIsItsPorts) {
  const RunResult result = with_path(scenario_of(electrical_job(4)));
  ASSERT_EQ(result.critical_path->parts.size(), 1u);
  const PathPart& part = result.critical_path->parts[0];
  EXPECT_EQ(part.label(), "dp over port");
  EXPECT_EQ(part.time, Duration{30'000'000});
  ASSERT_TRUE(result.critical_path->busiest);
  EXPECT_NEAR(result.critical_path->busiest->utilisation, 1.0, 1e-9);
  EXPECT_EQ(result.critical_path->busiest->place, Place::kPort);
}

// Radix 4 and 3:1: 3 ports below a leaf and 1 above. Of 6 servers in two leaves an all-to-all sends half of each member's
// bytes and more over the one uplink: 3 members x 3 sixths of 1 MB over a port's rate is what takes 3 times as long as the
// port.
TEST(CriticalPath, OfAnAllToAllOverOversubscribedLeavesIsTheUplinks) {
  json text = electrical_job(6, {{"kind", "electrical"}, {"radix", 4}, {"oversubscription", 3}});
  text["workload"]["collective"]["op"] = "all_to_all";
  const RunResult result = with_path(scenario_of(text));
  ASSERT_TRUE(result.critical_path->busiest);
  EXPECT_EQ(result.critical_path->busiest->place, Place::kLeafUplink);
  EXPECT_EQ(result.critical_path->parts[0].label(), "dp over leaf_uplink");
  ASSERT_TRUE(result.utilisation->uplinks);
  EXPECT_GT(result.utilisation->uplinks->busiest, 0.8);
  EXPECT_EQ(result.utilisation->uplinks->count, 2u);
}

// A ring crosses each leaf once: of the same leaves the uplink carries what one port carries, and its rate is one port's.
TEST(CriticalPath, OfARingOverLeavesTheUplinksAreAsBusyAsAPort) {
  const RunResult result =
      with_path(scenario_of(electrical_job(6, {{"kind", "electrical"}, {"radix", 4}, {"oversubscription", 3}})));
  ASSERT_TRUE(result.utilisation->uplinks);
  EXPECT_NEAR(result.utilisation->uplinks->busiest, result.utilisation->rail_ports, 1e-6);
  EXPECT_NEAR(result.utilisation->uplinks->members, 1.0, 1e-6);
}

TEST(CriticalPath, FoldedIsThatOfEveryRank) {
  for (const char* file : {"quickstart.json", "quickstart-electrical.json"}) {
    Scenario scenario = load(file);
    scenario.run.critical_path = true;
    const RunResult folded = simulate(scenario);
    scenario.run.folding = false;
    const RunResult whole = simulate(scenario);
    EXPECT_EQ(folded.critical_path->total(), whole.critical_path->total());
    for (const auto kind : {PathPart::Kind::kComputation, PathPart::Kind::kCommunication, PathPart::Kind::kCircuits}) {
      EXPECT_EQ(time_of(*folded.critical_path, kind), time_of(*whole.critical_path, kind)) << file;
    }
  }
}

// The ring of the first test is bound by its ports: with x 1.1 it takes 1.5 MB at 55 GB/s, 1 - 1/1.1 = 9.09 % less. Nothing
// else saves anything.
TEST(WorthOf, APortBoundJobIsThatOfItsPorts) {
  const Scenario scenario = scenario_of(electrical_job(4));
  const RunResult base = simulate(scenario);
  const std::vector<Worth> worth = worth_of(scenario, base, Registries{});
  ASSERT_FALSE(worth.empty());
  EXPECT_EQ(worth[0].resource->name, "NIC ports");
  EXPECT_NEAR(worth[0].gain, 1.0 - 1.0 / 1.1, 1e-6);
  for (std::size_t i = 1; i < worth.size(); ++i) EXPECT_EQ(worth[i].gain, 0.0) << worth[i].resource->name;
}

TEST(WorthOf, AResourceIsTheRunWithItsKeyChanged) {
  const Scenario scenario = load("quickstart.json");
  const RunResult base = simulate(scenario);
  const double port = scenario.cluster.nic.per_port.bytes_per_second / 1e9;
  const RunResult faster = run("quickstart.json", {"/cluster/nic/port_gb_per_s=" + std::to_string(port * 11 / 10)});
  const std::vector<Worth> worth = worth_of(scenario, base, Registries{});
  const auto ports =
      std::find_if(worth.begin(), worth.end(), [](const Worth& of) { return of.resource->name == "NIC ports"; });
  ASSERT_NE(ports, worth.end());
  EXPECT_EQ(ports->measure.value, to_seconds(faster.step_time()));
}

// Computations alone: each takes 1 / 1.1 of its time, rounded up to the picosecond.
TEST(WorthOf, AComputeBoundJobIsThatOfItsComputations) {
  json text = electrical_job(2);
  text["workload"] = {{"training",
                       {{"model", {{"preset", "llama3_8b"}, {"layers", 1}}},
                        {"sequence", 1024},
                        {"global_batch", 1},
                        {"parallelism", json::object()}}}};
  const Scenario scenario = scenario_of(text);
  const RunResult base = simulate(scenario);
  const std::vector<Worth> worth = worth_of(scenario, base, Registries{});
  ASSERT_FALSE(worth.empty());
  EXPECT_EQ(worth[0].resource->name, "computation");
  EXPECT_NEAR(worth[0].gain, 1.0 - 1.0 / 1.1, 1e-6);
}

}  // namespace
}  // namespace photonrail::test
