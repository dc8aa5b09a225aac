// From the text of a sweep to its points.
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "studies/sweep/sweep_support.hpp"
#include "support/errors.hpp"
#include "support/processor_time.hpp"

#include <gmock/gmock.h>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class SweepReader : public InFolder {
 protected:
  [[nodiscard]] std::vector<std::string> names(const std::string& keys) const {
    std::vector<std::string> list;
    for (const SweepPoint& point : sweep_of(keys).points) list.push_back(point.name);
    return list;
  }
  void expect_refused(const std::string& keys, const std::string& where, const std::string& what) const {
    try {
      static_cast<void>(sweep_of(keys));
      ADD_FAILURE() << "accepted: " << keys;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("sweep.json: " + where), HasSubstr(what))) << keys;
    }
  }
};

TEST_F(SweepReader, AxesMultiplyAndTheLastVariesFastest) {
  const auto sweep = sweep_of(R"("axes": [{"pointer": "/cluster/servers", "values": [2, 4]},
                                          {"pointer": "/workload/collective/bytes", "values": [1000, 2000], "name": "size"}])");
  EXPECT_THAT(sweep.parameters, ElementsAre("servers", "size"));
  ASSERT_EQ(sweep.points.size(), 4);  // 2 x 2
  EXPECT_EQ(sweep.points[1].name, "servers 2, size 2000");
  EXPECT_EQ(sweep.points[2].name, "servers 4, size 1000");
  EXPECT_THAT(sweep.points[2].parameters, ElementsAre(::testing::Pair("servers", "4"), ::testing::Pair("size", "1000")));
  EXPECT_EQ(scenario_of(sweep, sweep.points[2]).cluster.servers, 4);
  EXPECT_EQ(scenario_of(sweep, sweep.points[1]).graph.ranks(), 2);
}

// A sweep over policies: the tables have a column "name" of their own.
TEST_F(SweepReader, ParametersAreNotCalledAsColumnsOfTheTables) {
  EXPECT_THAT(names(R"("axes": [{"pointer": "/controller/name", "values": ["opus", "lru"]}])"), ElementsAre("opus", "lru"));
  EXPECT_THAT(names(R"("axes": [{"zip": {"/jobs/0/name": ["a", "b"], "/a/status": [1, 2]}}])"), ElementsAre("a", "b"));
  for (const char* name : {"name", "seed", "warnings", "version"}) {
    expect_refused(R"("axes": [{"name": ")" + std::string(name) + R"(", "pointer": "/a/x", "values": [1]}])", "",
                   "as a column of every table is");
  }
}

TEST_F(SweepReader, WithoutAxesThereIsOnePoint) { EXPECT_THAT(names(R"("why": "")"), ElementsAre("base")); }

TEST_F(SweepReader, RangesHaveBothEnds) {
  // 1, 1 + 3 = 4, 7, 10.
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 10, "step": 3}}])"),
              ElementsAre("x 1", "x 4", "x 7", "x 10"));
  // 12 is beyond 11.
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "range": {"from": 4, "to": 11, "step": 4}}])"),
              ElementsAre("x 4", "x 8"));
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 0, "points": 3}}])"),
              ElementsAre("x 1", "x 0.5", "x 0"));
  // 0.1 three times is 0.30000000000000004 in binary: twelve digits are kept.
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "range": {"from": 0, "to": 0.3, "step": 0.1}}])"),
              ElementsAre("x 0", "x 0.1", "x 0.2", "x 0.3"));
}

TEST_F(SweepReader, LogarithmicRangesHaveEqualRatios) {
  // 200 / 12.5 = 16 = 2^4.
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "log_range": {"from": 12.5, "to": 200, "points": 5}}])"),
              ElementsAre("x 12.5", "x 25", "x 50", "x 100", "x 200"));
  // The square root of 1000 is 31.6...
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "log_range": {"from": 1, "to": 1000, "points": 3, "whole": true}}])"),
              ElementsAre("x 1", "x 32", "x 1000"));
}

TEST_F(SweepReader, ZippedListsAdvanceTogether) {
  const auto sweep = sweep_of(R"("axes": [{"zip": {"/workload/collective/ranks": [2, 4],
                                           "/cluster/servers": {"range": {"from": 8, "to": 16, "points": 2}}}}])");
  EXPECT_THAT(sweep.parameters, ElementsAre("ranks", "servers"));  // in the order of the file, not of the alphabet
  ASSERT_EQ(sweep.points.size(), 2);
  EXPECT_EQ(sweep.points[1].name, "ranks 4");  // servers follow from ranks
  EXPECT_THAT(sweep.points[1].parameters, ElementsAre(::testing::Pair("ranks", "4"), ::testing::Pair("servers", "16")));
  expect_refused(R"("axes": [{"zip": {"/a/x": [1, 2], "/a/y": [1]}}])", "/axes/0/zip/~1a~1y", "has 1 value");
}

TEST_F(SweepReader, VariantsKeepTheOrderOfTheFileAndPatchSeveralPlaces) {
  const auto sweep = sweep_of(R"("axes": [{"name": "kind", "variants": {
      "zwei": {"/cluster/servers": 2}, "acht": {"/cluster/servers": 8, "/workload/collective/bytes": 5}}}])");
  ASSERT_EQ(sweep.points.size(), 2);
  EXPECT_EQ(sweep.points[0].name, "zwei");
  EXPECT_EQ(sweep.points[1].patch.size(), 2);
  EXPECT_EQ(scenario_of(sweep, sweep.points[1]).cluster.servers, 8);
  expect_refused(R"("axes": [{"variants": {"a": {}}}])", "/axes/0/name", "missing");
}

// 4 GPUs in servers of two. With tp 1 there are 6 ways to write 4 as cp x pp x dp, with tp 2 there are 3 to write 2. A
// global batch of one sequence leaves dp 1: 3 and 2.
TEST_F(SweepReader, AnAxisHasEachFactorisationThatIsAValidJob) {
  json base = small_scenario(2);
  base["cluster"]["gpus_per_server"] = 2;
  json& training = base["workload"];
  training = {{"training",
               {{"model", "llama3_8b"}, {"sequence", 2048}, {"global_batch", 8}, {"parallelism", {{"tp", 1}, {"dp", 4}}}}}};
  const auto points = [&] {
    const json text{{"schema", "photonrail.sweep/1"}, {"base", base}, {"axes", json::array({{{"parallelism", "all"}}})}};
    return read_sweep(write("all.json", text.dump()));
  };
  const Sweep all = points();
  EXPECT_THAT(all.parameters, ElementsAre("tp", "cp", "pp", "dp"));
  ASSERT_EQ(all.points.size(), 9u);
  EXPECT_EQ(all.points[0].name, "tp 1, cp 1, pp 1, dp 4");
  for (const SweepPoint& point : all.points) EXPECT_EQ(scenario_of(all, point).graph.ranks(), 4u) << point.name;
  // A placement that names only what the base's job has gets the names that factorisations add.
  base["placement"] = {{"order", {"tp", "dp", "pp"}}};
  const Sweep placed = points();
  ASSERT_EQ(placed.points.size(), 9u);
  for (const SweepPoint& point : placed.points) EXPECT_EQ(scenario_of(placed, point).graph.ranks(), 4u) << point.name;
  EXPECT_THAT(placed.points[0].patch.back().value, R"(["tp","cp","dp","pp"])");
  training["training"]["global_batch"] = 1;
  EXPECT_EQ(points().points.size(), 5u);
  expect_refused(R"("axes": [{"parallelism": "all"}])", "/axes/0/parallelism", "the base has none");
  expect_refused(R"("axes": [{"parallelism": "all", "values": [1]}])", "/axes/0", "unknown key");
}

TEST_F(SweepReader, AnAxisWithAConditionIsAbsentElsewhere) {
  // a: no y. b, c: y is 1 or 2. So 1 + 2 + 2.
  EXPECT_THAT(names(R"("axes": [{"name": "v", "variants": {"a": {}, "b": {}, "c": {}}},
                                {"pointer": "/a/y", "values": [1, 2], "when": {"v": ["b", "c"]}}])"),
              ElementsAre("a", "b, y 1", "b, y 2", "c, y 1", "c, y 2"));
}

TEST_F(SweepReader, ConditionsNameWhatThereIs) {
  const std::string axis = R"({"pointer": "/a/y", "values": [1], "when": )";
  expect_refused(R"("axes": [)" + axis + R"({"v": 1}}])", "/axes/0/when/v", "no such parameter");
  expect_refused(R"("axes": [{"pointer": "/a/speed", "values": [1]}, )" + axis + R"({"sped": 1}}])", "/axes/1/when/sped",
                 "did you mean speed");
  expect_refused(R"("axes": [{"pointer": "/a/speed", "values": [1]}, )" + axis + R"({"speed": 2}}])", "/axes/1/when/speed",
                 "speed is never 2");
}

TEST_F(SweepReader, ConditionsCompareValuesAndNotTheirSpelling) {
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "values": [1, 2.5, "1", [1], {"b": 1, "c": 2}, null]}],
                       "exclude": [{"x": [1.0, 25e-1]}, {"x": [[1.0], {"c": 2, "b": 1}]}])"),
              ElementsAre("1", "x null"));  // "1" is a string
}

TEST_F(SweepReader, AMessageListsSomeOfManyValues) {
  // 1000 values; 20 of them are listed.
  expect_refused(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 1000, "step": 1}},
                             {"pointer": "/a/y", "values": [1], "when": {"x": 0}}])",
                 "/axes/1/when/x",
                 "x is never 0 (its values: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
                 "19, 20, ...)");
}

// What takes the square of their number takes 10^10 comparisons here, minutes.
TEST_F(SweepReader, LongListsTakeAsLongAsTheyAre) {
  std::string numbers;
  for (int i = 0; i < 100'000; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(i);
  const double before = processor_seconds();
  const auto sweep = sweep_of(R"("axes": [{"pointer": "/a/x", "values": [)" + numbers + R"(]},
      {"pointer": "/a/y", "values": [1], "when": {"x": [)" +
                              numbers + R"(]}}], "exclude": [{"x": [)" + numbers.substr(2) + "]}]");
  EXPECT_EQ(sweep.points.size(), 1);  // x = 0
  EXPECT_EQ(sweep_of("\"seeds\": [" + numbers + "]").points.size(), 100'000);
  EXPECT_LT(processor_seconds() - before, 60.0);
}

TEST_F(SweepReader, TooManyPointsAreCountedBeforeTheyAreMade) {
  // 1,000 x 1,000 points, of which 1,000 are left out, and 2 seeds; a derived value that does not exist.
  const std::string axes = R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 1000, "step": 1}},
      {"pointer": "/a/y", "range": {"from": 1, "to": 1000, "step": 1}}], "exclude": [{"x": 1}], "seeds": [1, 2])";
  const double before = processor_seconds();
  expect_refused(axes + R"(, "derived": [{"pointer": "/a/z", "product": ["/a/none"]}])", "", "more than 1000000 points");
  EXPECT_LT(processor_seconds() - before, 60.0);
}

TEST_F(SweepReader, WhatIsExcludedIsNoPoint) {
  EXPECT_THAT(names(R"("axes": [{"pointer": "/a/x", "values": [1, 2]}, {"pointer": "/a/y", "values": [1, 2, 3]}],
                       "exclude": [{"x": 1, "y": [2, 3]}, {"x": 2, "y": 1}])"),
              ElementsAre("x 1, y 1", "x 2, y 2", "x 2, y 3"));
  expect_refused(R"("exclude": [{}])", "/exclude/0", "every point");
}

TEST_F(SweepReader, DerivedValuesFollow) {
  // ranks = servers x gpus_per_server: 2 x 1 and 6 x 1; half of them: 1 and 3.
  const auto sweep = sweep_of(R"("axes": [{"pointer": "/cluster/servers", "values": [2, 6]}],
      "derived": [{"pointer": "/workload/collective/ranks", "product": ["/cluster/servers", "/cluster/gpus_per_server"]},
                  {"pointer": "/a/half", "product": ["/workload/collective/ranks"], "divided_by": [2]}])");
  EXPECT_EQ(sweep.points[1].name, "servers 6");  // which the others follow from
  EXPECT_THAT(sweep.points[1].parameters,
              ElementsAre(::testing::Pair("servers", "6"), ::testing::Pair("ranks", "6"), ::testing::Pair("half", "3")));
  EXPECT_THAT(sweep.parameters, ElementsAre("servers", "ranks", "half"));
}

TEST_F(SweepReader, DerivedValuesThatAreNotWholeAreAProblemOfTheirPoint) {
  const std::string axis = R"("axes": [{"pointer": "/cluster/servers", "values": [4, 5]}], )";
  const std::string half = R"("derived": [{"pointer": "/a/half", "product": ["/cluster/servers", 0.5])";
  const auto sweep = sweep_of(axis + half + "}]");
  EXPECT_THAT(sweep.points[0].problem, IsEmpty());
  EXPECT_THAT(sweep.points[1].problem, HasSubstr("/a/half: would be 2.5, which is not whole"));
  EXPECT_EQ(sweep_of(axis + half + R"(, "round": "up"}])").points[1].parameters.back().second, "3");
  EXPECT_EQ(sweep_of(axis + half + R"(, "round": "none"}])").points[1].parameters.back().second, "2.5");
  const auto absent = sweep_of(R"("derived": [{"pointer": "/a/b", "product": ["/cluster/nothing"]}])");
  EXPECT_THAT(absent.points[0].problem, HasSubstr("/cluster/nothing is not there"));
}

TEST_F(SweepReader, ADerivedValueNeedsPointersThatAreSome) {
  expect_refused(R"("derived": [{"pointer": "/a/b", "product": ["/a~2b", 1]}])", "/derived/0/product/0", "~ needs 0 or 1");
  expect_refused(R"("derived": [{"pointer": "/a~", "product": [1]}])", "/derived/0/pointer", "~ needs 0 or 1");
  const auto far = sweep_of(R"("derived": [{"pointer": "/a/b", "product": ["/jobs/99999999999999999999"]},
      {"pointer": "/a/c", "product": ["/cluster/-"]}])");
  EXPECT_THAT(far.points[0].problem, HasSubstr("/jobs/99999999999999999999 is not there"));
}

TEST_F(SweepReader, EachSeedIsRunAndEachRepetitionHasOneOfItsOwn) {
  const auto sweep = sweep_of(R"("seeds": [5, 6], "repetitions": 2)");
  ASSERT_EQ(sweep.points.size(), 4);
  std::vector<std::uint64_t> seeds;
  for (const auto& point : sweep.points) seeds.push_back(scenario_of(sweep, point).run.seed);
  EXPECT_EQ(seeds[0], 5);
  EXPECT_EQ(seeds[2], 6);
  EXPECT_EQ(seeds[1], RandomStream(5, "repetition 1").next() >> 11);
  EXPECT_NE(seeds[1], seeds[3]);
  EXPECT_EQ(sweep.points[3].repetition, 1);
  EXPECT_EQ(scenario_of(sweep_of(R"("why": "")"), SweepPoint{}).run.seed, 1);
}

TEST_F(SweepReader, SaysWhatIsWrongAndWhere) {
  expect_refused(R"("axis": [])", "/axis", "did you mean axes");
  expect_refused(R"("axes": [{"pointer": "/a/x"}])", "/axes/0", "exactly one of");
  expect_refused(R"("axes": [{"pointer": "/a/x", "values": []}])", "/axes/0/values", "is empty");
  expect_refused(R"("axes": [{"pointer": "/a/x", "values": [1, 2, 1]}])", "/axes/0/values/2", "1 comes twice");
  expect_refused(R"("axes": [{"values": [1]}])", "/axes/0/pointer", "missing");
  expect_refused(R"("axes": [{"pointer": "a/x", "values": [1]}])", "/axes/0/pointer", "not a JSON pointer");
  expect_refused(R"("axes": [{"pointer": "/run/seed", "values": [1]}])", "/axes/0/pointer", "\"seeds\"");
  expect_refused(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 2}}])", "/axes/0/range",
                 "\"step\", \"points\"");
  expect_refused(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 2, "step": -1}}])", "/axes/0/range/step",
                 "lead");
  expect_refused(R"("axes": [{"pointer": "/a/x", "values": [1]}, {"pointer": "/b/x", "values": [1]}])", "",
                 "two parameters \"x\"");
  expect_refused(R"("axes": [{"pointer": "/a/x", "range": {"from": 1, "to": 2000, "step": 1}},
                             {"pointer": "/a/y", "range": {"from": 1, "to": 2000, "step": 1}}])",
                 "", "more than 1000000 points");
  expect_refused(R"("seeds": [1, 1])", "/seeds/1", "twice");
}

TEST_F(SweepReader, TheHashIsOfAllThatDecidesTheResults) {
  const std::string axis = R"("axes": [{"pointer": "/cluster/servers", "values": [2, 4]}])";
  const std::string hash = sweep_of(axis).hash;
  EXPECT_EQ(sweep_of(axis + R"(, "why": "other words")").hash, hash);
  EXPECT_NE(sweep_of(R"("axes": [{"pointer": "/cluster/servers", "values": [4, 2]}])").hash, hash);
  const Override faster{"/cluster/nic/port_gb_per_s", "100"};
  EXPECT_NE(read_sweep(folder_ / "sweep.json", {&faster, 1}).hash, hash);
}

TEST_F(SweepReader, EveryPointThatIsNoScenarioIsNamedInOneMessage) {
  // Servers 0 cannot be; with 2 servers there is no rank for 3.
  const auto sweep = sweep_of(R"("axes": [{"pointer": "/cluster/servers", "values": [0, 2, 4]},
                                          {"pointer": "/workload/collective/ranks", "values": [2, 3]}], "seeds": [1, 2])");
  try {
    check_sweep(sweep);
    FAIL();
  } catch (const ConfigError& error) {
    // Points: servers 0 is 0-3, servers 2 with ranks 3 is 6 and 7.
    EXPECT_THAT(error.what(), AllOf(HasSubstr("6 of 12 points cannot run; none was started"), HasSubstr("points 0-3 ("),
                                    HasSubstr("/cluster/servers"), HasSubstr("points 6-7 (the first: servers 2, ranks 3)"),
                                    HasSubstr("3 ranks do not fit")));
  }
}

TEST_F(SweepReader, OfManyProblemsTheFirstAreNamed) {
  // 0 servers is one problem for 30 points that do not follow each other; -1 to -25 are 25 others.
  std::string values = "0";
  for (int i = 1; i <= 25; ++i) values += "," + std::to_string(-i);
  const auto sweep =
      sweep_of(R"("axes": [{"pointer": "/workload/collective/bytes", "range": {"from": 1, "to": 30, "step": 1}},
      {"pointer": "/cluster/servers", "values": [)" +
               values + "]}]");
  const std::string text = error_of([&] { check_sweep(sweep); }).what();
  EXPECT_THAT(text, HasSubstr("780 of 780 points cannot run"));
  EXPECT_THAT(text, HasSubstr("points 0, 26, 52"));
  EXPECT_THAT(text, HasSubstr("494, ... (the first: "));  // the 20th of them is 19 x 26
  EXPECT_THAT(text, HasSubstr("\n  and 6 other problems"));
  EXPECT_LT(text.size(), 10'000);
}

TEST(Shard, IsOneOfSome) {
  EXPECT_EQ(Shard::parse("2/8").index, 2);
  EXPECT_EQ(Shard::parse("2/8").count, 8);
  for (const char* text : {"", "0/4", "5/4", "1", "1/0", "1/4x", "-1/4", "a/b"}) {
    EXPECT_THROW(static_cast<void>(Shard::parse(text)), ConfigError) << text;
  }
}

const std::string kRate = R"({"pointer": "/cluster/nic/port_gb_per_s", "values": [25, 50]})";

TEST_F(SweepReader, TwoParametersOfOnePlaceAreRefused) {
  const auto axes = [](const std::string& second) { return R"("axes": [)" + kRate + ", " + second + "]"; };
  const std::string what = "a row would say what did not run";
  expect_refused(axes(R"({"pointer": "/cluster/nic/port_gb_per_s", "name": "rate", "values": [100]})"), "/axes/1", what);
  // Around the place, and in the value of the axis above.
  expect_refused(axes(R"({"pointer": "/cluster/nic", "values": [{"ports": 1}]})"), "/axes/1", what);
  expect_refused(R"("axes": [{"pointer": "/cluster/nic", "values": [{"port_gb_per_s": 25}]}, )" + kRate + "]", "/axes/1",
                 what);
  expect_refused(axes(R"({"name": "nic", "variants": {"a": {}, "b": {"/cluster/nic/port_gb_per_s": 10}}})"), "/axes/1",
                 what);
  expect_refused(R"("axes": [{"zip": {"/cluster/nic": [{"ports": 2}], "/cluster/nic/ports": [1]}}])", "/axes/0", what);
  expect_refused(
      R"("axes": [)" + kRate + R"(], "derived": [{"pointer": "/cluster/nic/port_gb_per_s", "name": "d", "product": [2]}])",
      "/derived/0", what);
  expect_refused(R"("derived": [{"pointer": "/cluster/servers", "product": [4]},
                                {"pointer": "/cluster/servers", "name": "again", "product": [8]}])",
                 "/derived/1", what);
}

TEST_F(SweepReader, ParametersThatShareNoPlaceInAnyPointAreFine) {
  // Axes that exclude each other, and a key that the value above leaves out.
  EXPECT_EQ(names(R"("axes": [{"pointer": "/cluster/servers", "values": [2, 4]},
      {"pointer": "/cluster/nic/port_gb_per_s", "name": "of 2", "values": [25], "when": {"servers": 2}},
      {"pointer": "/cluster/nic/port_gb_per_s", "name": "of 4", "values": [50], "when": {"servers": 4}}])")
                .size(),
            2);
  EXPECT_EQ(
      names(R"("axes": [{"name": "nic", "variants": {"one": {"/cluster/nic": {"ports": 1}}}}, )" + kRate + "]").size(), 2);
  EXPECT_EQ(names(R"("axes": [{"pointer": "/cluster/nic/ports", "values": [1]}, )" + kRate + "]").size(), 2);
}

}  // namespace
}  // namespace photonrail::test
