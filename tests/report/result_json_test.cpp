#include "photonrail/report.hpp"
#include "photonrail/version.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

RunResult two_ranks() {
  RunResult result;
  result.name = "two";
  result.seed = 18446744073709551615U;
  result.makespan = milliseconds(10);
  result.iterations = {milliseconds(6), milliseconds(4)};
  result.ranks = {{milliseconds(4), milliseconds(3), milliseconds(2), milliseconds(1)},
                  {milliseconds(5), milliseconds(2), milliseconds(2), milliseconds(1)}};
  auto& dp = result.traffic[static_cast<std::size_t>(Dimension::kDp)];
  dp = {Bytes{3'000'000'000'000}, 7, milliseconds(3), milliseconds(2)};
  result.reconfigurations.count = 3;
  result.reconfigurations.per_rail = {2, 1};
  result.reconfigurations.dark_port = milliseconds(12);
  result.reconfigurations.critical_path = 2;
  result.reconfigurations.total = milliseconds(8);
  result.reconfigurations.exposed = milliseconds(2);
  result.windows[{Dimension::kDp, Dimension::kPp}] = {{Duration{0}, 1}, {milliseconds(1), 2}};
  result.folding = {2, 2, "no two ranks are alike"};
  result.warnings = {"first", "second"};
  result.engine = {100, 20, 0.5, 12.25};
  return result;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

TEST(ResultJson, KeysStandInAFixedOrder) {
  const Json json = Json::parse(to_json(two_ranks()));
  const std::vector<std::string> expected{"schema",
                                          "name",
                                          "photonrail_version",
                                          "seed",
                                          "makespan_s",
                                          "iteration_s",
                                          "steady_iteration_s",
                                          "simulated",
                                          "infeasible",
                                          "per_rank_mean_s",
                                          "per_rank_spread_s",
                                          "communication",
                                          "reconfigurations",
                                          "quantiles_s",
                                          "windows_s",
                                          "folding",
                                          "warnings",
                                          "notes",
                                          "engine",
                                          "rank_classes"};
  EXPECT_EQ(keys(json), expected);
  EXPECT_EQ(keys(json["per_rank_mean_s"]),
            (std::vector<std::string>{"compute", "exposed_communication", "reconfiguration_wait", "peer_wait"}));
  EXPECT_EQ(keys(json["communication"]["dp"]),
            (std::vector<std::string>{"bytes", "operations", "busy_s", "exposed_s", "reconfiguration_wait_s", "commands"}));
  EXPECT_EQ(json["schema"], "photonrail.result/1");
  EXPECT_EQ(json["photonrail_version"], std::string(version()));
}

TEST(ResultJson, AnAccuracyOfTheNetworkIsSaidWhereOneWasAskedFor) {
  RunResult result = two_ranks();
  EXPECT_FALSE(Json::parse(to_json(result)).contains("network"));
  result.engine.network_accuracy = 0.01;
  result.engine.epochs = 12;
  result.engine.flows_in_epochs = 345;
  EXPECT_EQ(Json::parse(to_json(result))["network"], Json({{"accuracy", 0.01}, {"epochs", 12}, {"flows_in_epochs", 345}}));
}

TEST(ResultJson, ASpreadOverSeedsIsSaidWhereThereIsOne) {
  RunResult result = two_ranks();
  EXPECT_FALSE(Json::parse(to_json(result)).contains("spread"));
  result.spread = {5, 1, milliseconds(8), milliseconds(9), milliseconds(12)};
  EXPECT_EQ(Json::parse(to_json(result))["spread"],
            Json({{"seeds", 5}, {"unfinished", 1}, {"min_s", 0.008}, {"median_s", 0.009}, {"max_s", 0.012}}));
}

TEST(ResultJson, TheSteadyIterationLeavesTheFirstOut) {
  RunResult result = two_ranks();
  result.iterations = {milliseconds(9), milliseconds(5), milliseconds(4)};
  EXPECT_DOUBLE_EQ(Json::parse(to_json(result))["steady_iteration_s"], 0.0045);
  result.iterations = {milliseconds(9)};
  EXPECT_TRUE(Json::parse(to_json(result))["steady_iteration_s"].is_null());
}

TEST(ResultJson, CarriesTheNumbersOfTheRun) {
  const Json json = Json::parse(to_json(two_ranks()));
  EXPECT_EQ(json["seed"], 18446744073709551615U);
  EXPECT_DOUBLE_EQ(json["makespan_s"], 0.010);
  EXPECT_EQ(json["iteration_s"].size(), 2u);
  EXPECT_DOUBLE_EQ(json["per_rank_mean_s"]["compute"], 0.0045);  // (4 + 5) / 2 ms
  EXPECT_EQ(json["communication"]["dp"]["bytes"], 3'000'000'000'000);
  EXPECT_EQ(json["reconfigurations"]["per_rail"], Json({2, 1}));
  EXPECT_DOUBLE_EQ(json["reconfigurations"]["hidden_share"], 0.75);  // 1 - 2 ms / 8 ms
  EXPECT_EQ(json["windows_s"]["dp->pp"], Json({0.0, 0.001, 0.001}));
  EXPECT_EQ(json["folding"]["classes"], 2);
  EXPECT_EQ(json["folding"]["off"], "no two ranks are alike");
  EXPECT_EQ(json["warnings"], Json({"first", "second"}));
  EXPECT_EQ(json["rank_classes"].size(), 2u);
  EXPECT_EQ(json["rank_classes"][1]["ranks"], "1");
  EXPECT_DOUBLE_EQ(json["rank_classes"][1]["exposed_communication"], 0.002);
}

// Ranks 0, 1, 2 and 5 have one time, rank 3 has another, and rank 4 a third.
TEST(ResultJson, RanksWithTheSameTimesAreOneRow) {
  RunResult result;
  const RankTime busy{Duration{7'000'000'000}, Duration{1'000'000'000}, {}, Duration{2'000'000'000}};
  const RankTime idle{{}, {}, {}, Duration{10'000'000'000}};
  const RankTime waits{{}, {}, Duration{10'000'000'000}, {}};
  result.ranks = {busy, busy, busy, idle, waits, busy};
  const Json rows = Json::parse(to_json(result))["rank_classes"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], Json({{"ranks", "0-2,5"},
                           {"count", 4},
                           {"compute", 0.007},
                           {"exposed_communication", 0.001},
                           {"reconfiguration_wait", 0.0},
                           {"peer_wait", 0.002}}));
  EXPECT_EQ(rows[1]["ranks"], "3");
  EXPECT_EQ(rows[2]["ranks"], "4");
  EXPECT_EQ(rows[2]["reconfiguration_wait"], 0.01);
  EXPECT_TRUE(Json::parse(to_json(RunResult{}))["rank_classes"].empty());
}

// Of 10 ms rank 0 stood still for 4 without anything knowing it.
TEST(ResultJson, TimeUntilFailuresAreDetectedIsAPartWhereThereIsSome) {
  RunResult result;
  result.makespan = Duration{10'000'000'000};
  result.ranks = {{Duration{6'000'000'000}, {}, {}, {}, Duration{4'000'000'000}}, {{}, {}, {}, result.makespan}};
  const Json json = Json::parse(to_json(result));
  EXPECT_EQ(json["per_rank_mean_s"]["detection"], 0.002);
  EXPECT_EQ(json["per_rank_spread_s"]["detection"]["most"], 0.004);
  for (const Json& row : json["rank_classes"]) {
    double sum = 0.0;
    for (const char* part : {"compute", "exposed_communication", "reconfiguration_wait", "peer_wait", "detection"}) {
      sum += row[part].get<double>();
    }
    EXPECT_DOUBLE_EQ(sum, 0.010);
  }
  const std::vector<RunResult> runs{result};
  EXPECT_NE(to_table(runs).find("failure not detected"), std::string::npos);
  result.ranks.erase(result.ranks.begin());
  EXPECT_FALSE(Json::parse(to_json(result))["per_rank_mean_s"].contains("detection"));
}

TEST(ResultJson, SaysHowFarTheRanksLieApart) {
  const Json json = Json::parse(to_json(two_ranks()));
  EXPECT_EQ(json["per_rank_spread_s"]["compute"], Json({{"least", 0.004}, {"median", 0.004}, {"most", 0.005}}));  // 4, 5 ms
  RunResult three;
  three.ranks = {{Duration{7}, {}, {}, {}}, {Duration{1}, {}, {}, {}}, {Duration{3}, {}, {}, {}}};
  EXPECT_EQ(Json::parse(to_json(three))["per_rank_spread_s"]["compute"],
            Json({{"least", 1e-12}, {"median", 3e-12}, {"most", 7e-12}}));
}

TEST(ResultJson, ADimensionWithoutOperationsIsLeftOut) {
  EXPECT_EQ(keys(Json::parse(to_json(two_ranks()))["communication"]), std::vector<std::string>{"dp"});
  const Json nothing = Json::parse(to_json(RunResult{}));
  EXPECT_TRUE(nothing["communication"].is_object());
  EXPECT_TRUE(nothing["communication"].empty());
  EXPECT_TRUE(nothing["windows_s"].is_object());
}

TEST(ResultJson, SecondsRoundTripToThePicosecond) {
  // A double has 53 bits, and two roundings on the way cost one or two of them: 2^50 ps (19 minutes) comes back.
  for (const std::int64_t ps : {1LL, 3LL, 936'250LL, 1'234'567'890'123LL, 1'125'899'906'842'623LL}) {
    RunResult result;
    result.makespan = Duration{ps};
    const double seconds = Json::parse(to_json(result))["makespan_s"];
    EXPECT_EQ(seconds, to_seconds(result.makespan));
    EXPECT_EQ(from_seconds(seconds).count(), ps);
  }
}

TEST(ResultJson, AWarningWithStrayBytesStaysValid) {
  RunResult result;
  result.warnings = {"group \xff\xfe"};
  EXPECT_TRUE(Json::accept(to_json(result)));
}

TEST(RunResult, MeanRoundsDownAndDoesNotOverflow) {
  RunResult result;
  result.ranks.assign(3, RankTime{Duration{9'000'000'000'000'000'000}, {}, {}, {}});
  EXPECT_EQ(result.mean_rank_time().compute.count(), 9'000'000'000'000'000'000);
  result.ranks = {{Duration{1}, {}, {}, {}}, {Duration{2}, {}, {}, {}}};
  EXPECT_EQ(result.mean_rank_time().compute.count(), 1);  // 3 / 2
  EXPECT_EQ(RunResult{}.mean_rank_time().total().count(), 0);
}

TEST(RunResult, WithoutReconfigurationsThereIsNoHiddenShare) {
  EXPECT_FALSE(ReconfigurationSummary{}.hidden_share().has_value());
  const Json json = Json::parse(to_json(RunResult{}));
  EXPECT_TRUE(json["reconfigurations"]["hidden_share"].is_null());
}

}  // namespace
}  // namespace photonrail::test
