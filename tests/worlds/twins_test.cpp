// What the twins of a world change, and when there is none.
#include "worlds/twins.hpp"
#include "worlds/judge.hpp"

#include <gtest/gtest.h>

namespace photonrail::worlds {
namespace {

Json small() {
  return Json::parse(R"({
    "cluster": {"servers": 3, "gpus_per_server": 2, "nic": {"port_gb_per_s": 50, "latency_ns": 100},
                "rail": {"kind": "optical", "switch": {"reconfiguration_us": {"distribution": "log_normal", "median": 10, "sigma": 1},
                                                       "commands_per_s": 1000},
                         "faults": [{"kind": "failed", "server": 0, "at_us": 3}]}},
    "controller": {"name": "opus"},
    "workload": {"collective": {"op": "all_reduce", "bytes": 8, "ranks": 4}}})");
}

TEST(Twins, TwiceAsSlowScalesTimesAndRates) {
  const std::optional<Json> twin = twice_as_slow(small());
  ASSERT_TRUE(twin);
  const Json& rail = (*twin)["cluster"]["rail"];
  EXPECT_EQ((*twin)["cluster"]["nic"]["port_gb_per_s"], 25.0);
  EXPECT_EQ((*twin)["cluster"]["nic"]["latency_ns"], 200.0);
  EXPECT_EQ((*twin)["cluster"]["scale_up"]["gb_per_s"], 225.0);  // 450 where nothing is said
  EXPECT_EQ(rail["switch"]["reconfiguration_us"]["median"], 20.0);
  EXPECT_EQ(rail["switch"]["reconfiguration_us"]["sigma"], 1);
  EXPECT_EQ(rail["switch"]["commands_per_s"], 500.0);
  EXPECT_EQ(rail["faults"][0]["at_us"], 6.0);
  EXPECT_EQ((*twin)["workload"], small()["workload"]);
}

// Three rings over the ports of NICs that four GPUs share. A shard of 11,340 KiB takes whole picoseconds at every share of
// their rate that comes about, so that nothing is rounded: the network has no time of its own.
TEST(Twins, RingsThatShareNicsScaleWhereNothingIsRounded) {
  Json scenario = Json::parse(R"({
    "schema": "photonrail.scenario/1",
    "cluster": {"servers": 2, "gpus_per_server": 4, "gpu": {"peak_tflops": 989, "memory_gb_per_s": 4800},
                "scale_up": {"gb_per_s": 450}, "nic": {"ports": 3, "port_gb_per_s": 50, "message_overhead_ns": 62, "gpus": 4},
                "rail": {"kind": "electrical"}},
    "workload": {"collective": {"op": "all_reduce", "algorithm": "ring_channels", "bytes": 278691840}}})");
  ASSERT_TRUE(rings_share_wires(scenario));
  const Outcome first = run(scenario);
  const Outcome twin = run(*twice_as_slow(scenario));
  ASSERT_EQ(first.ending, Ending::kDone) << first.message;
  EXPECT_EQ(twin.result.makespan, first.result.makespan * 2);
  scenario["cluster"]["nic"]["gpus"] = 1;
  EXPECT_FALSE(rings_share_wires(scenario));
}

// 10 us at an accuracy of 10 %: 0.2 x 0.1 of it for a collective on switches that nothing points, 0.1 and 0.1 of it where a
// policy may decide otherwise; 1 ns and a millionth where no flows were taken together.
TEST(Twins, AnAccuracyAllowsWhatItsKindOfRunKeeps) {
  Json scenario = small();
  scenario["network"] = {{"accuracy", 0.1}};
  RunResult result;
  result.makespan = Duration{10'000'000};
  EXPECT_DOUBLE_EQ(accuracy_slack_ps(scenario, result), 1010.0);
  result.engine.epochs = 1;
  EXPECT_DOUBLE_EQ(accuracy_slack_ps(scenario, result), 2'001'000.0);
  EXPECT_DOUBLE_EQ(accuracy_slack_ps(on_electrical_rails(scenario), result), 201'000.0);
}

TEST(Twins, MessagesMayBeForwardedByThePolicyAndByTheRail) {
  Json scenario = small();
  EXPECT_FALSE(may_forward(scenario));
  scenario["controller"]["name"] = "topoopt";
  EXPECT_TRUE(may_forward(scenario));
  scenario["controller"] = {{"name", "rotor"}};
  EXPECT_FALSE(may_forward(scenario));
  scenario["controller"]["paths"] = "two_hop";
  EXPECT_TRUE(may_forward(scenario));
  scenario["controller"] = {{"name", "opus"}};
  scenario["cluster"]["rail"]["forwarding"] = true;
  EXPECT_TRUE(may_forward(scenario));
}

TEST(Twins, ThereIsNoneWhereTheCodeHasATimeOfItsOwn) {
  Json scenario = small();
  scenario["controller"]["name"] = "rotor";
  EXPECT_FALSE(twice_as_slow(scenario));
  scenario["controller"]["slot_us"] = 5;
  EXPECT_TRUE(twice_as_slow(scenario));
}

TEST(Twins, RenamedMovesRanksAndFaults) {
  const std::optional<Json> twin = renamed(small(), {2, 0, 1});
  ASSERT_TRUE(twin);
  // Ranks 0, 1 were on server 0 and are on server 2, GPUs 4 and 5; ranks 2, 3 go from server 1 to 0.
  EXPECT_EQ((*twin)["placement"]["rank_to_gpu"], Json({4, 5, 0, 1}));
  EXPECT_EQ((*twin)["cluster"]["rail"]["faults"][0]["server"], 2);
  Json pods = small();
  pods["cluster"]["rail"]["pods"] = {{"servers", 1}, {"joined_by", "optical"}};
  EXPECT_FALSE(renamed(pods, {2, 0, 1})) << "servers of different pods are not alike";
}

TEST(Twins, AnUnusedServerGetsNoRank) {
  Json scenario = small();
  scenario["workload"]["collective"].erase("ranks");
  const std::optional<Json> twin = with_unused_server(scenario);
  ASSERT_TRUE(twin);
  EXPECT_EQ((*twin)["cluster"]["servers"], 4);
  EXPECT_EQ((*twin)["workload"]["collective"]["ranks"], 6);
}

}  // namespace
}  // namespace photonrail::worlds
