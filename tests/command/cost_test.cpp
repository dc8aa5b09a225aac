// `photonrail cost` and `photonrail compare`, as their users meet them.
#include "command/command.hpp"

#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(Command, CostOfClustersIsAnArrayForPrograms) {
  const Outcome done = run("cost --catalogue h200_400g --rule opus_artifact --gpus 512,1024 --json");
  ASSERT_EQ(done.status, 0) << done.err;
  const json rows = json::parse(done.out);
  ASSERT_EQ(rows.size(), 6u);
  for (const json& row : rows) EXPECT_EQ(row.size(), 4u);
  EXPECT_EQ(rows[0]["fabric"], "fat_tree");
  EXPECT_EQ(rows[1]["fabric"], "rail_optimised");
  EXPECT_EQ(rows[2]["fabric"], "photonic_rail");
  EXPECT_EQ(rows[2]["gpus"], 512);
  // 1,024 GPUs: 2,048 OCS ports at 520 USD and 75 / 192 W, 1,024 transceivers at 879 USD and 10 W.
  EXPECT_DOUBLE_EQ(rows[5]["cost_usd"], 2048 * 520 + 1024 * 879);
  EXPECT_DOUBLE_EQ(rows[5]["power_w"], 2048 * 75.0 / 192 + 1024 * 10);
  // The physical rule is the default and prices rails without a spine too, for 512 to 8,192 GPUs.
  EXPECT_EQ(json::parse(run("cost --json").out).size(), 5u * 4);
  EXPECT_THAT(run("cost --gpus 1024 --rule opus_artifact").out, HasSubstr("23.59 x"));
}

TEST_F(Command, CostOfAScenarioIsThatOfItsResult) {
  write("a.json", tiny("first"));
  ASSERT_EQ(run("run a.json --out results --quiet").status, 0);
  const json of_run = result("results/result.json")["cost"];
  const Outcome done = run("cost a.json --json");
  ASSERT_EQ(done.status, 0) << done.err;
  const json alone = json::parse(done.out);
  for (const char* key : {"catalogue", "rule", "fabric", "usd", "power_w", "bill"})
    EXPECT_EQ(alone[key], of_run[key]) << key;
  EXPECT_EQ(alone["fabric"], "rail_only");
  // One 64-port switch and a spare, 8 transceivers and a spare, nothing for fibres.
  EXPECT_DOUBLE_EQ(alone["usd"], 2 * 37299 + 9 * 879);
  EXPECT_DOUBLE_EQ(alone["power_w"], 2524 + 8 * 10);
  EXPECT_DOUBLE_EQ(of_run["network_energy_per_step_j"].get<double>(),
                   2604 * result("results/result.json")["makespan_s"].get<double>());
  EXPECT_TRUE(of_run["energy_per_step_j"].is_null());  // a GPU of unknown power
  EXPECT_EQ(json::parse(run("cost a.json --json --set /cost/spare_share=0").out)["usd"], 37299 + 8 * 879);
  EXPECT_THAT(run("cost a.json").out, HasSubstr("electrical switch"));
}

TEST_F(Command, CostNeedsPricesThatItKnows) {
  write("a.json", tiny("first"));
  for (const char* arguments :
       {"cost --catalogue dear", "cost --rule cheap", "cost --gpus 100", "cost --gpus 0", "cost b.json",
        "cost --catalogue none.json", "cost a.json --gpus 512", "cost a.json --set /cost/rule=cheap"}) {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.status, 2) << arguments;
    EXPECT_EQ(done.out, "") << arguments;
    EXPECT_THAT(done.err, StartsWith("photonrail: error: ")) << arguments;
  }
  EXPECT_THAT(run("list catalogues").out, HasSubstr("h200_400g  "));
  const std::string mesh =
      R"( --set '/controller={"name":"opus"}' --set '/cluster/rail={"kind":"optical","switch":{"reconfiguration_us":1,"pip":{"rows":4,"columns":4}}}')";
  EXPECT_THAT(run("cost a.json" + mesh).err, StartsWith("photonrail: error: a.json: /cluster/rail/switch/pip: catalogues"));
  EXPECT_THAT(run("run a.json" + mesh).err, HasSubstr(": no cost: catalogues have no price"));
}

TEST_F(Command, CompareSaysWhatDiffersAndExitsOneBeyondTheTolerance) {
  write("a.json", tiny("first"));
  ASSERT_EQ(run("run a.json --out a --quiet").status, 0);
  ASSERT_EQ(run("run a.json --out b --quiet").status, 0);
  // 1,010,000 bytes instead of 1,000,000: 1 % more.
  ASSERT_EQ(run("run a.json --out c --quiet --set /workload/collective/bytes=1010000").status, 0);
  const Outcome same = run("compare a/result.json b/result.json --tolerance 0");
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_THAT(same.out, HasSubstr("0 places differ"));
  const Outcome within = run("compare a/result.json c/result.json --tolerance 0.011");
  EXPECT_EQ(within.status, 0) << within.out;
  EXPECT_THAT(within.out, HasSubstr("communication/dp/bytes"));
  const Outcome beyond = run("compare a/result.json c/result.json --tolerance 0.009");
  EXPECT_EQ(beyond.status, 1);
  EXPECT_THAT(beyond.out, HasSubstr("! makespan_s"));
  EXPECT_EQ(run("compare a c --tolerance 0.011").status, 0);
  EXPECT_EQ(run("compare a c --tolerance 0.009").status, 1);
  for (const char* arguments :
       {"compare a.json a/result.json", "compare a/result.json d/result.json", "compare a a/result.json", "compare a",
        "compare a c --tolerance -1", "compare a c --tolerance x"}) {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.status, 2) << arguments;
    EXPECT_EQ(done.out, "") << arguments;
  }
}

// A ring of 4 over NICs does not care for the scale-up fabric; within one server it takes half as long with twice of it.
TEST_F(Command, CclBenchComparesWithTwiceTheScaleUpBandwidth) {
  json scenario = tiny("first");
  write("a.json", scenario);
  scenario["cluster"]["servers"] = 1;
  scenario["cluster"]["gpus_per_server"] = 4;
  write("b.json", scenario);
  for (const auto& [file, percent] : {std::pair{"a", 0.0}, {"b", 50.0}}) {
    ASSERT_EQ(run(std::string("run ") + file + ".json --out " + file + " --ccl-bench --quiet").status, 0);
    EXPECT_NEAR(result(std::string(file) + "/ccl_bench.json")["scale_up_bw_utility"], percent, 1e-3);
  }
}

}  // namespace
}  // namespace photonrail::test
