// What bounds a run: the parts of the critical path add up to the makespan on every golden job, and are what they are by
// hand.
#include "execution/run_history.hpp"
#include "golden/golden.hpp"
#include "photonrail/config.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "run/path_walk.hpp"
#include "run/worth.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <span>

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

// Each rank's causes are all of what it waits for its peers.
void expect_waits_of(const RunResult& result) {
  const std::vector<PeerWaits>& waits = result.critical_path->waits;
  ASSERT_EQ(waits.size(), result.ranks.size());
  for (std::size_t r = 0; r < waits.size(); ++r) {
    const Duration sum = std::accumulate(waits[r].begin(), waits[r].end(), Duration{});
    EXPECT_EQ(sum, result.ranks[r].peer_wait) << "rank " << r;
  }
}

Duration wait_of(const RunResult& result, std::size_t rank, WaitCause cause) {
  return result.critical_path->waits.at(rank)[static_cast<std::size_t>(cause)];
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
  expect_waits_of(result);
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    EXPECT_EQ(wait_of(result, r, WaitCause::kOther), Duration{}) << "rank " << r;
  }
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

// ---- operators and waits, on jobs whose answer is known by hand

// A server for each rank, and no latencies: bytes over a port take bytes / 50 GB/s.
Scenario graph_job(const json& graph, const json& rail = {{"kind", "electrical"}}) {
  json text = electrical_job(graph["ranks"].get<std::uint32_t>(), rail);
  text["workload"] = {{"graph", graph}};
  text["workload"]["graph"]["schema"] = "photonrail.graph/1";
  if (rail.at("kind") == "optical") text["controller"] = {{"name", "opus"}, {"mode", "on_demand"}};
  return scenario_of(text);
}

json pair(std::initializer_list<int> ranks, const char* dimension) { return {{"ranks", ranks}, {"dimension", dimension}}; }

constexpr Duration kMillisecond{1'000'000'000};

// Two ranks that do the same, in 10 and in 30 ms: the first one waits 20 ms, for a straggler.
TEST(PeerWaits, OfARankThatComputesLongerAreAStragglers) {
  const RunResult result = with_path(graph_job({{"ranks", 2},
                                                {"communicators", {{"both", pair({0, 1}, "dp")}}},
                                                {"tasks",
                                                 {{{"rank", 0}, {"id", "c"}, {"compute_us", 10000}},
                                                  {{"rank", 1}, {"id", "c"}, {"compute_us", 30000}},
                                                  {{"rank", "all"},
                                                   {"after", {"c"}},
                                                   {"collective", "all_reduce"},
                                                   {"communicator", "both"},
                                                   {"bytes", 1000000}}}}}));
  expect_waits_of(result);
  EXPECT_EQ(wait_of(result, 0, WaitCause::kStraggler), 20 * kMillisecond);
  EXPECT_EQ(wait_of(result, 1, WaitCause::kStraggler), Duration{});
}

// A pipeline of two: the second stage waits 10 ms for its input, and the first one 15 ms after its own end.
TEST(PeerWaits, OfAnotherStageAreThePipelinesBubble) {
  const RunResult result = with_path(graph_job({{"ranks", 2},
                                                {"tasks",
                                                 {{{"rank", 0}, {"id", "c"}, {"compute_us", 10000}},
                                                  {{"rank", 0}, {"send_to", 1}, {"bytes", 50000000}, {"after", {"c"}}},
                                                  {{"rank", 1}, {"id", "r"}, {"receive_from", 0}, {"bytes", 50000000}},
                                                  {{"rank", 1}, {"compute_us", 15000}, {"after", {"r"}}}}}}));
  EXPECT_EQ(result.makespan, 26 * kMillisecond);  // 50 MB at 50 GB/s take 1 ms
  expect_waits_of(result);
  EXPECT_EQ(wait_of(result, 1, WaitCause::kBubble), 10 * kMillisecond);
  EXPECT_EQ(wait_of(result, 0, WaitCause::kBubble), 15 * kMillisecond);
}

// The same walked by hand: 15 ms of the second stage, 1 ms on the way, 10 ms of the first one; and the wait of the second.
TEST(PathWalk, GoesBackFromTheEndAndFromAWait) {
  const Scenario scenario = graph_job({{"ranks", 2},
                                       {"tasks",
                                        {{{"rank", 0}, {"id", "c"}, {"compute_us", 10000}},
                                         {{"rank", 0}, {"send_to", 1}, {"bytes", 50000000}, {"after", {"c"}}},
                                         {{"rank", 1}, {"id", "r"}, {"receive_from", 0}, {"bytes", 50000000}},
                                         {{"rank", 1}, {"compute_us", 15000}, {"after", {"r"}}}}}});
  execution::RunHistory history(scenario.graph, Bytes{}, 1);
  Observer* const observer = &history;
  const RunResult result = simulate(scenario, std::span(&observer, 1));
  run::PathWalk walk(history, {true});
  const auto times = [](const std::vector<run::Stretch>& stretches) {
    std::vector<Duration> list;
    for (const run::Stretch& stretch : stretches) list.push_back(stretch.time());
    return list;
  };
  const Time end = Time{} + result.makespan;
  const std::vector<Duration> whole{15 * kMillisecond, kMillisecond, 10 * kMillisecond};
  EXPECT_EQ(times(walk.from_end(end)), whole);
  EXPECT_EQ(times(walk.from_end(end, Time{} + 20 * kMillisecond)), std::vector<Duration>{6 * kMillisecond});
  const Time arrival = Time{} + 10 * kMillisecond;
  EXPECT_EQ(times(walk.from_wait(RankId{1}, arrival, Time{} + 2 * kMillisecond)), std::vector<Duration>{8 * kMillisecond});
  EXPECT_TRUE(walk.from_wait(RankId{1}, arrival + kMillisecond / 2, Time{}).empty());
}

// Two replicas of a pipeline; the first stage of the second one takes 25 ms in place of 10. Both last stages reduce what
// they have: that of the first replica waits 10 ms for its input, a bubble, and then for its peer, whose input comes 15 ms
// later: a straggler's, since another rank does the same in 10 ms.
TEST(PeerWaits, OfAnotherStageBeyondItsUsualTimeAreAStragglers) {
  json tasks = json::array();
  for (const int replica : {0, 1}) {
    tasks.push_back({{"rank", 2 * replica}, {"id", "c"}, {"flops", 1e9}});
    tasks.push_back({{"rank", 2 * replica}, {"send_to", 2 * replica + 1}, {"bytes", 1}, {"after", {"c"}}});
    tasks.push_back({{"rank", 2 * replica + 1}, {"id", "r"}, {"receive_from", 2 * replica}, {"bytes", 1}});
  }
  tasks.push_back(
      {{"rank", {1, 3}}, {"after", {"r"}}, {"collective", "all_reduce"}, {"communicator", "last"}, {"bytes", 8}});
  Scenario scenario = graph_job(
      {{"ranks", 4}, {"communicators", {{"first", pair({0, 2}, "dp")}, {"last", pair({1, 3}, "dp")}}}, {"tasks", tasks}});
  scenario.stragglers.push_back({.whom = StragglerSpec::Whom::kListed, .ranks = {RankId{2}}, .slowdown = 2.5});
  const RunResult result = with_path(scenario);
  expect_waits_of(result);
  const Duration usual = result.ranks[0].compute;
  EXPECT_EQ(wait_of(result, 1, WaitCause::kBubble), usual);
  EXPECT_EQ(wait_of(result, 3, WaitCause::kBubble), usual);
  EXPECT_EQ(wait_of(result, 3, WaitCause::kStraggler), result.ranks[2].compute - usual);
  EXPECT_NEAR(to_seconds(wait_of(result, 1, WaitCause::kStraggler)), 1.5 * to_seconds(usual), 1e-9);
}

// 100 MB take 2 ms from rank 0 to rank 1, which then sends to rank 2: that one waits for them.
json chain_of_messages() {
  return {{"ranks", 3},
          {"tasks",
           {{{"rank", 0}, {"send_to", 1}, {"bytes", 100000000}},
            {{"rank", 1}, {"id", "r"}, {"receive_from", 0}, {"bytes", 100000000}},
            {{"rank", 1}, {"send_to", 2}, {"bytes", 50000000}, {"after", {"r"}}},
            {{"rank", 2}, {"receive_from", 1}, {"bytes", 50000000}}}}};
}

TEST(PeerWaits, OfBytesBetweenOtherRanksAreTheirData) {
  const RunResult result = with_path(graph_job(chain_of_messages()));
  expect_waits_of(result);
  EXPECT_EQ(wait_of(result, 2, WaitCause::kData), 2 * kMillisecond);
  EXPECT_EQ(wait_of(result, 0, WaitCause::kData), 1 * kMillisecond);  // after its own end
}

// The same over circuits that take 5 ms: rank 2 first waits for those of others.
TEST(PeerWaits, OfCircuitsBetweenOtherRanksAreLateCircuits) {
  const RunResult result = with_path(graph_job(
      chain_of_messages(), {{"kind", "optical"}, {"switch", {{"preset", "polatis_6000"}, {"reconfiguration_ms", 5}}}}));
  expect_waits_of(result);
  EXPECT_EQ(wait_of(result, 2, WaitCause::kCircuits), 5 * kMillisecond);
  EXPECT_EQ(wait_of(result, 2, WaitCause::kData), 2 * kMillisecond);
}

TEST(PeerWaits, AreThoseOfEveryRankWhereRanksAreFolded) {
  Scenario scenario = load("quickstart.json");
  const RunResult folded = with_path(scenario);
  scenario.run.folding = false;
  const RunResult whole = with_path(scenario);
  ASSERT_LT(folded.folding.classes, whole.folding.classes);
  expect_waits_of(folded);
  EXPECT_EQ(folded.critical_path->mean_waits(), whole.critical_path->mean_waits());
}

// GPUs compute nearly all the time, and the classes of its path are those that the operator tables give the step.
TEST(CriticalPath, OfOneGpuIsItsOperators) {
  const Scenario scenario = load("llama3-8b-operator-tables.json");
  const RunResult result = with_path(scenario);
  ASSERT_TRUE(result.work && result.work->operators);
  std::map<std::string, double> of_path;
  for (const PathPart& part : result.critical_path->parts) {
    if (part.kind == PathPart::Kind::kComputation) of_path[part.what] += to_seconds(part.time);
  }
  std::map<std::string, double> of_tables;  // of a GPU
  for (const OperatorUse& use : result.work->operators->operators) {
    const bool optimizer = use.name.substr(0, 9) == "optimizer";
    of_tables[optimizer ? "optimizer" : std::string(name(use.kind))] +=
        use.seconds / static_cast<double>(result.ranks.size());
  }
  ASSERT_EQ(of_path.size(), of_tables.size());
  // The path goes through the reduction of gradients, beside which the embedding's backward pass is computed.
  const Duration hidden =
      time_of(*result.critical_path, PathPart::Kind::kCommunication) - result.ranks[0].exposed_communication;
  of_path["memory"] += to_seconds(hidden);
  for (const auto& [what, seconds] : of_tables) EXPECT_NEAR(of_path[what], seconds, 1e-9 * seconds + 1e-9) << what;
}

// Names say what a computation is where nothing else does.
TEST(CriticalPath, OfNamedKernelsIsTheirClasses) {
  json tasks = json::array();
  const char* const kernels[] = {"ampere_bf16_s16816gemm_128x128",    "void flash_fwd_kernel<64>",
                                 "vectorized_elementwise_kernel",     "multi_tensor_apply_kernel",
                                 "bwd.3.layer12.attention.output",    "mb0.transformer.7.mha.qkv@0_COMP",
                                 "mb0.transformer.7.ffn.dxup@0_COMP", "cook 7"};
  std::string before;
  for (const char* const kernel : kernels) {
    json task = {{"rank", 0}, {"id", kernel}, {"compute_us", 1000}};
    if (!before.empty()) task["after"] = json::array({before});
    tasks.push_back(task);
    before = kernel;
  }
  const RunResult result = with_path(graph_job({{"ranks", 1}, {"tasks", tasks}}));
  std::map<std::string, Duration> of_path;
  for (const PathPart& part : result.critical_path->parts) of_path[part.what] = part.time;
  const std::map<std::string, Duration> expected{{"products", kMillisecond}, {"attention", 3 * kMillisecond},
                                                 {"memory", kMillisecond},   {"optimizer", kMillisecond},
                                                 {"ffn", kMillisecond},      {"cook", kMillisecond}};
  EXPECT_EQ(of_path, expected);
}

// The ring of the first test is bound by its ports: with x 1.1 it takes 1.5 MB at 55 GB/s, 1 - 1/1.1 = 9.09 % less. Nothing
// else saves anything.
TEST(WorthOf, APortBoundJobIsThatOfItsPorts) {
  const Scenario scenario = scenario_of(electrical_job(4));
  const RunResult base = simulate(scenario);
  const std::vector<run::Worth> worth = run::worth_of(scenario, base, Registries{});
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
  const std::vector<run::Worth> worth = run::worth_of(scenario, base, Registries{});
  const auto ports =
      std::find_if(worth.begin(), worth.end(), [](const run::Worth& of) { return of.resource->name == "NIC ports"; });
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
  const std::vector<run::Worth> worth = run::worth_of(scenario, base, Registries{});
  ASSERT_FALSE(worth.empty());
  EXPECT_EQ(worth[0].resource->name, "computation");
  EXPECT_NEAR(worth[0].gain, 1.0 - 1.0 / 1.1, 1e-6);
}

}  // namespace
}  // namespace photonrail::test
