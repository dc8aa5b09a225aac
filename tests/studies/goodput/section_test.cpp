// The "reliability" section: units of rates, and messages of what is wrong.
#include "photonrail/study/goodput.hpp"

#include "photonrail/simulate.hpp"
#include "studies/goodput/section/faults.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using goodput::GoodputScenario;

constexpr const char* kSection = R"({"schema": "photonrail.scenario/1", "reliability": {
  "step_s": 10, "job": {"servers": 16}, "days": 2,
  "failures": [{"of": "gpu", "per_1000_server_days": 4, "repair_h": 3}],
  "checkpoint": {"interval": "young", "stall_s": 20},
  "recovery": [{"action": "wait", "stages": [{"name": "restart", "time_s": {"distribution": "uniform", "least": 5, "greatest": 20}}]}]}})";

GoodputScenario parsed(const std::vector<Override>& set = {}) {
  return goodput::parse_goodput(kSection, {}, "s.json", set, Registries{});
}

std::string problem(const std::vector<Override>& set) {
  return error_of([&] { static_cast<void>(parsed(set)); }).what();
}

// Per 1,000 server-days: the 8 GPUs of a server share the rate, so that each fails every 2,000 days. A FIT is a failure in
// 10^9 hours.
TEST(ReliabilitySection, RatesInTheUnitsOfOperators) {
  EXPECT_DOUBLE_EQ(parsed().spec.failures[0].time_to_failure.mean_s, 2000.0 * 86400.0);
  const auto mean = [](const char* failure) {
    return parsed({{"/reliability/failures/0", failure}}).spec.failures[0].time_to_failure.mean_s;
  };
  EXPECT_DOUBLE_EQ(mean(R"({"of": "nic", "fit": 1000})"), 1e6 * 3600.0);
  EXPECT_DOUBLE_EQ(mean(R"({"of": "server", "mtbf_h": 1000})"), 3.6e6);
  EXPECT_DOUBLE_EQ(mean(R"({"of": "ocs", "share_per_day": 0.0004})"), 86400.0 / 0.0004);
  EXPECT_GT(mean(R"({"of": "server", "fit": 0})"), 1e14);  // never, within any history
}

TEST(ReliabilitySection, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem({{"/reliability/failures/0/fit", "3"}}),
            "s.json: /reliability/failures/0: needs exactly one of \"per_1000_server_days\", \"fit\", \"mtbf_h\", "
            "\"share_per_day\"");
  EXPECT_NE(problem({{"/reliability/sparse", "3"}}).find("s.json: /reliability/sparse: unknown key"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/recovery/0/action", "\"swap\""}})
                .find("s.json: /reliability/recovery: has no option \"wait\""),
            std::string::npos);
  EXPECT_NE(problem({{"/reliability/recovery/0/sources", "[\"gpus\"]"}}).find("/reliability/recovery"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/failures/0/effect", "\"slow\""}}).find("/reliability/failures/0/degrade"),
            std::string::npos);
  EXPECT_NE(problem({{"/reliability/job/replicas", "5"}}).find("/reliability/job/replicas"), std::string::npos);
  EXPECT_NE(problem({{"/reliability/failures/0/repair_d", "5"}}).find("two units"), std::string::npos);
}

TEST(ReliabilitySection, NamesAndSeedsAreNotInTheHash) {
  const std::string hash = parsed().hash;
  EXPECT_EQ(parsed({{"/name", "x"}, {"/reliability/seeds", "7"}}).hash, hash);
  EXPECT_NE(parsed({{"/reliability/days", "3"}}).hash, hash);
  EXPECT_EQ(parsed({{"/reliability/days", "3"}}).step_hash, parsed().step_hash);
}

TEST(ReliabilitySection, ARunIgnoresItButChecksIt) {
  const std::string scenario = R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 1,
    "rail": {"kind": "electrical"}}, "workload": {"collective": {"op": "all_reduce", "bytes": 1000}},
    "reliability": {"recovery": [{"action": "wait"}]}})";
  EXPECT_NO_THROW(static_cast<void>(parse_scenario(scenario, {})));
  const auto wrong = error_of([&] {
    static_cast<void>(parse_scenario(scenario, {}, "s.json", std::vector{Override{"/reliability/days", "-1"}}));
  });
  EXPECT_EQ(wrong.where(), "s.json: /reliability/days");
}

constexpr const char* kSaving = R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 2,
    "gpu": "h200", "rail": {"kind": "electrical"}},
    "workload": {"training": {"model": "llama3_8b", "sequence": 1024, "global_batch": 4,
      "parallelism": {"tp": 2, "dp": 2, "pp": 2}}, "checkpoint": {"to": "peer", "distance": 2}},
    "reliability": {"checkpoint": {"interval": "daly"}, "recovery": [{"action": "wait"}]}})";

Scenario saving(const std::vector<Override>& set = {}) { return parse_scenario(kSaving, {}, "s.json", set); }

// Of the two replicas, which have the same state, each saves a half: 12 bytes a parameter.
TEST(CheckpointSection, TheStateIsThatOfTheOptimizerEachPartOnce) {
  const Scenario scenario = saving();
  double bytes = 0.0;
  for (std::size_t r = 0; r < scenario.graph.ranks(); ++r) {
    const auto tasks = scenario.graph.program(RankId{r}).tasks();
    EXPECT_EQ(tasks[tasks.size() - 2].kind, TaskKind::kSend);
    bytes += static_cast<double>(tasks[tasks.size() - 2].size().count);
  }
  const double held = 4.0 * (scenario.memory[0].optimizer + scenario.memory[1].optimizer);
  EXPECT_NEAR(bytes, held / 2.0, 8.0);
  EXPECT_NEAR(bytes, 12.0 * 8.03e9, 12.0 * 0.01e9);
  EXPECT_EQ(scenario.storage_ranks, 0u);
}

TEST(CheckpointSection, HostsOfStorageAreServersThatTheJobDoesNotUse) {
  const Scenario scenario = saving({{"/workload/checkpoint", R"({"to": "storage"})"}, {"/cluster/servers", "5"}});
  EXPECT_EQ(scenario.storage_ranks, 2u);
  EXPECT_EQ(scenario.gpu_of_rank.back(), GpuId{9u});
  const auto months = goodput::parse_goodput(
      kSaving, {}, "s.json",
      std::vector{Override{"/workload/checkpoint", R"({"to": "storage"})"}, Override{"/cluster/servers", "5"}},
      Registries{});
  EXPECT_EQ(months.spec.job.servers, 4u);
  EXPECT_EQ(months.job->graph.ranks(), 8u);
  EXPECT_EQ(months.checkpoint->job.graph.ranks(), 10u);
}

TEST(CheckpointSection, SaysWhatIsWrongAndWhere) {
  const auto problem = [](const std::vector<Override>& set) {
    return std::string(error_of([&] { static_cast<void>(saving(set)); }).what());
  };
  const auto expect = [&](const char* checkpoint, const char* text) {
    EXPECT_NE(problem({{"/workload/checkpoint", checkpoint}}).find(text), std::string::npos)
        << problem({{"/workload/checkpoint", checkpoint}});
  };
  expect(R"({"to": "storage"})", "s.json: /workload/checkpoint/servers: the last 1 of 4 servers");
  expect(R"({"to": "peer", "distance": 4})", "s.json: /workload/checkpoint/distance: a rank would be its own peer");
  expect(R"({"to": "own_network"})", "/workload/checkpoint/gb_per_s");
  expect(R"({"to": "peer", "over_steps": 2})", "/workload/checkpoint/over_steps: unknown key");
  expect(R"({"to": "peer", "gb_per_s": 2})", "/workload/checkpoint/gb_per_s: unknown key");
  EXPECT_NE(
      problem({{"/reliability/checkpoint/stall_s", "1"}}).find("s.json: /reliability/checkpoint/stall_s: is simulated"),
      std::string::npos);
  const std::string other = R"({"collective": {"op": "all_reduce", "bytes": 1000}, "checkpoint": {"to": "peer"}})";
  EXPECT_NE(problem({{"/workload", other}}).find("/workload/checkpoint/bytes_per_rank: missing"), std::string::npos)
      << problem({{"/workload", other}});
}

TEST(ServerFaults, AreOfAllGpusAndNicsOfTheServer) {
  const std::string fault = R"([{"server": 1, "at_ms": 5, "lasts_ms": 10, "detection_ms": 2}])";
  const Scenario scenario = saving({{"/server_faults", fault}});
  ASSERT_EQ(scenario.cluster.rail.faults.size(), 1u);
  EXPECT_EQ(scenario.cluster.rail.faults[0].server, 1u);
  EXPECT_EQ(scenario.cluster.rail.faults[0].detection, Duration{}) << "electrical";
  ASSERT_EQ(scenario.stragglers.size(), 1u);
  EXPECT_EQ(scenario.stragglers[0].ranks, (std::vector{RankId{2u}, RankId{3u}}));
  EXPECT_TRUE(scenario.stragglers[0].stops);
  EXPECT_EQ(scenario.stragglers[0].detection, from_seconds(0.002));
  const RunResult result = simulate(scenario);
  EXPECT_EQ(result.ranks[2].detection, from_seconds(0.002));
  EXPECT_EQ(result.ranks[2].total(), result.makespan);
  const auto problem = [](const char* faults) {
    return std::string(error_of([&] { static_cast<void>(saving({{"/server_faults", faults}})); }).what());
  };
  EXPECT_NE(problem(R"([{"server": 4}])").find("/server_faults/0/server"), std::string::npos);
  EXPECT_NE(problem(R"([{"server": 1, "lasts_ms": 1, "detection_ms": 2}])").find("/server_faults/0"), std::string::npos);
}

TEST(Faults, CsvAndJsonAreTheSame) {
  const Folder folder;
  const auto csv = folder.write(
      "f.csv", "server,start_day,end_day,level,class,description\n3,2.5,4,Hardware,NIC,\"a, b\"\n1,1,1.5,x,GPU,y\n");
  const auto json = folder.write("f.json", R"([{"server": 1, "start_day": 1, "end_day": 1.5, "class": "GPU"},
    {"server": 3, "start_day": 2.5, "end_day": 4, "class": "NIC"}])");
  const auto a = goodput::read_faults(csv);
  const auto b = goodput::read_faults(json);
  ASSERT_EQ(a.size(), 2u);
  ASSERT_EQ(b.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(a[i].server, b[i].server);
    EXPECT_EQ(a[i].start_d, b[i].start_d);
    EXPECT_EQ(a[i].end_d, b[i].end_d);
    EXPECT_EQ(a[i].cause, b[i].cause);
  }
  const auto bad = folder.write("g.csv", "server,start_day\n1,x\n");
  EXPECT_EQ(error_of([&] { static_cast<void>(goodput::read_faults(bad)); }).where(), bad.string() + ":2");
}

}  // namespace
}  // namespace photonrail::test
