#include "report/cost_report.hpp"
#include "photonrail/report.hpp"

#include <nlohmann/json.hpp>

namespace photonrail::test {

using report::to_json;
using report::to_table;

namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Bill bill() {
  return {NetworkFabric::kPhotonicRail,
          {{"optical switch", 1, 192, 384, 2, 1, 300'000, 150}, {"transceiver", 0, 0, 0, 192, 4, 19'600, 1920}}};
}

std::vector<FabricCost> rows() {
  return {{NetworkFabric::kRailOptimised, 1024, 8'296'788.1875, 260'393.75},
          {NetworkFabric::kPhotonicRail, 1024, 1'965'056, 11'040}};
}

TEST(CostReport, RowsAreAnArray) {
  const Json json = Json::parse(to_json(rows()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].dump(), R"({"fabric":"rail_optimised","gpus":1024,"cost_usd":8296788.1875,"power_w":260393.75})");
}

TEST(CostReport, ATableSaysWhatPhotonicRailsSave) {
  const std::string table = to_table(rows());
  EXPECT_THAT(table, HasSubstr("8.297 M USD"));
  EXPECT_THAT(table, HasSubstr("260.4 kW"));
  EXPECT_THAT(table, HasSubstr("4.22 x"));   // 8.2968 / 1.9651
  EXPECT_THAT(table, HasSubstr("23.59 x"));  // 260.39 / 11.04
}

TEST(CostReport, ABillHasItsLinesAndItsSum) {
  const Json json = Json::parse(to_json(bill(), Pricing{}, rows()));
  EXPECT_EQ(json["fabric"], "photonic_rail");
  EXPECT_EQ(json["rule"], "physical");
  EXPECT_EQ(json["usd"], 319'600.0);
  EXPECT_EQ(json["power_w"], 2070.0);
  EXPECT_EQ(json["bill"][0]["ports_used"], 384);
  EXPECT_FALSE(json["bill"][1].contains("ports"));
  EXPECT_EQ(json["fabrics"].size(), 2u);
  EXPECT_THAT(to_table(bill()), HasSubstr("319.6 k USD"));
  EXPECT_THAT(to_table(bill()), HasSubstr("\n2 switches in all\n"));
}

TEST(CostReport, AResultHasIt) {
  RunResult result;
  EXPECT_FALSE(Json::parse(to_json(result)).contains("cost"));
  result.cost = CostSummary{"h200_400g", CostRule::kPhysical, bill(), 20.0, {}};
  Json cost = Json::parse(to_json(result))["cost"];
  EXPECT_EQ(cost["catalogue"], "h200_400g");
  EXPECT_EQ(cost["usd"], 319'600.0);
  EXPECT_EQ(cost["power_w"], 2070.0);
  EXPECT_EQ(cost["network_energy_per_step_j"], 20.0);
  EXPECT_TRUE(cost["gpu_energy_per_step_j"].is_null());
  EXPECT_TRUE(cost["energy_per_step_j"].is_null());
  result.cost->gpu_energy_per_step_j = 300.0;
  EXPECT_EQ(Json::parse(to_json(result))["cost"]["energy_per_step_j"], 320.0);
  EXPECT_FALSE(Json::parse(to_json(result))["cost"].contains("kwh_per_million_output_tokens"));
  // 320 J in 4 s are 80 W. For 2 tokens a second they are 40 J each: 4e7 J, at 3.6e6 J a kWh.
  result.makespan = from_seconds(4.0);
  result.serving.emplace().steady_output_tokens_per_s = 2.0;
  EXPECT_DOUBLE_EQ(Json::parse(to_json(result))["cost"]["kwh_per_million_output_tokens"].get<double>(), 4e7 / 3.6e6);
}

}  // namespace
}  // namespace photonrail::test
