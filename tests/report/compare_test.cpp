#include "report/compare.hpp"
#include "photonrail/report.hpp"
#include "support/errors.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace photonrail::test {
namespace {

using report::compare_paths;
using report::compare_results;
using report::Comparison;
using report::Difference;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

RunResult run() {
  RunResult result;
  result.name = "run";
  result.makespan = milliseconds(100);
  result.iterations = {milliseconds(60), milliseconds(40)};
  result.ranks = {{milliseconds(40), milliseconds(30), milliseconds(20), milliseconds(10)},
                  {milliseconds(50), milliseconds(20), milliseconds(20), milliseconds(10)}};
  result.traffic[static_cast<std::size_t>(Dimension::kDp)] = {Bytes{1000}, 7, milliseconds(30), milliseconds(20)};
  result.engine = {100, 20, 0.5, 12.25};
  return result;
}

Comparison with(const RunResult& other) { return compare_results(to_json(run()), to_json(other)); }

std::vector<std::string> places(const Comparison& comparison) {
  std::vector<std::string> list;
  for (const Difference& d : comparison.differences) list.push_back(d.place);
  return list;
}

TEST(Compare, EqualRunsDifferInNothing) {
  RunResult other = run();
  other.engine.wall_s = 99;  // of the machine
  other.engine.peak_rss_mb = 1;
  const Comparison same = with(other);
  EXPECT_TRUE(same.differences.empty());
  EXPECT_GT(same.values, 30u);
  EXPECT_FALSE(same.beyond(0.0));
}

TEST(Compare, SaysByHowMuch) {
  RunResult other = run();
  other.makespan = milliseconds(102);         // + 2 %
  other.ranks[1].compute = milliseconds(45);  // - 10 %; the mean 45 -> 42.5, - 5.6 %
  other.traffic[static_cast<std::size_t>(Dimension::kDp)].bytes = {1500};
  const Comparison found = with(other);
  EXPECT_EQ(places(found),
            (std::vector<std::string>{"makespan_s", "per_rank_mean_s/compute", "per_rank_spread_s/compute/most",
                                      "communication/dp/bytes", "ranks/*/compute"}));
  EXPECT_NEAR(found.differences[0].relative, 0.02, 1e-12);
  EXPECT_NEAR(found.differences[1].relative, -2.5 / 45, 1e-12);
  EXPECT_NEAR(found.differences[2].relative, -0.1, 1e-12);
  EXPECT_NEAR(found.differences[3].relative, 0.5, 1e-12);
  EXPECT_NEAR(found.differences[4].relative, -0.1, 1e-12);
  EXPECT_EQ(found.differences[4].values, 1u);
  EXPECT_EQ(found.differences[4].of, 2u);
  EXPECT_EQ(found.differences[3].before, "1000");
  EXPECT_EQ(found.differences[3].after, "1500");
  EXPECT_TRUE(found.beyond(0.49));
  EXPECT_FALSE(found.beyond(0.51));
  const std::string table = to_table(found, 0.05);
  EXPECT_THAT(table, HasSubstr("  makespan_s"));
  EXPECT_THAT(table, HasSubstr("! ranks/*/compute"));
  EXPECT_THAT(table, HasSubstr("-10 % (1 of 2)"));
  EXPECT_THAT(table, HasSubstr("5 places differ, 4 beyond 5 %"));
}

TEST(Compare, TheWorstOfAnArrayStandsForIt) {
  RunResult other = run();
  other.iterations = {milliseconds(63), milliseconds(36)};  // + 5 %, - 10 %; the steady one - 10 % too
  const Comparison found = with(other);
  EXPECT_EQ(places(found), (std::vector<std::string>{"iteration_s/*", "steady_iteration_s"}));
  EXPECT_NEAR(found.differences[0].relative, -0.1, 1e-12);
  EXPECT_EQ(found.differences[0].values, 2u);
  other.iterations.push_back(milliseconds(1));
  EXPECT_EQ(places(with(other))[0], "iteration_s (how many)");
}

TEST(Compare, WhoRanIsToldAndNotJudged) {
  RunResult other = run();
  other.name = "another";
  other.warnings = {"hm"};
  other.engine.events = 5;
  const Comparison found = with(other);
  EXPECT_EQ(places(found), (std::vector<std::string>{"name", "warnings (how many)", "engine/events"}));
  EXPECT_FALSE(found.beyond(0.0));
  EXPECT_THAT(to_table(found, 0.0), HasSubstr("not judged"));
}

// How flows were taken together is how the run was simulated; what came of it is judged. So of each of several jobs.
TEST(Compare, HowARunWasSimulatedIsToldAndNotJudged) {
  RunResult other = run();
  other.engine.network_accuracy = 0.01;
  other.engine.epochs = 3;
  const Comparison rougher = with(other);
  EXPECT_EQ(places(rougher), std::vector<std::string>{"network"});
  EXPECT_FALSE(rougher.beyond(0.0));
  RunResult jobs = run();
  jobs.jobs = {run()};
  RunResult wider = jobs;
  wider.jobs[0].cluster.servers = jobs.jobs[0].cluster.servers + 1;
  const auto compared = [&] { return compare_results(to_json(jobs), to_json(wider)); };
  EXPECT_EQ(places(compared()), std::vector<std::string>{"jobs/*/simulated/cluster/servers"});
  EXPECT_FALSE(compared().beyond(0.0));
  wider.jobs[0].makespan = milliseconds(200);
  EXPECT_TRUE(compared().beyond(0.5)) << "what follows is judged again";
}

TEST(Compare, WhatOneAloneHasIsBeyondAnyTolerance) {
  RunResult other = run();
  other.traffic[static_cast<std::size_t>(Dimension::kPp)] = {Bytes{1}, 1, {}, {}};
  const Comparison found = with(other);
  EXPECT_EQ(places(found), std::vector<std::string>{"communication/pp"});
  EXPECT_EQ(found.differences[0].before, "absent");
  EXPECT_TRUE(found.beyond(1e9));
  RunResult none = run();  // 0 before, something after
  none.reconfigurations.count = 3;
  EXPECT_TRUE(with(none).beyond(1e9));
}

TEST(Compare, WhatIsNoResultIsRefused) {
  const auto where = [](const std::string& text) {
    return error_of([&] { static_cast<void>(compare_results(to_json(run()), text, "a", "b")); }).where();
  };
  for (const char* text : {"", "[]", "3", R"({"schema": "photonrail.scenario/1"})", R"({"schema": 7})"}) {
    EXPECT_EQ(where(text), "b") << text;
  }
  EXPECT_EQ(where("{"), "b:1:2");
}

class ComparedFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path put(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_compare_" + std::to_string(::getpid()));
};

TEST_F(ComparedFiles, FoldersAreMatchedByPath) {
  RunResult other = run();
  other.makespan = milliseconds(110);
  put("a/x/result.json", to_json(run()));
  put("b/x/result.json", to_json(other));
  EXPECT_EQ(places(compare_paths(folder_ / "a", folder_ / "b")), std::vector<std::string>{"makespan_s"});
  put("a/y/result.json", to_json(run()));
  put("b/z/result.json", to_json(run()));
  put("b/z/trace.json", "not looked at");
  EXPECT_EQ(places(compare_paths(folder_ / "a", folder_ / "b")),
            (std::vector<std::string>{"x/result.json: makespan_s", "y/result.json", "z/result.json"}));
  EXPECT_THAT(error_of([&] { static_cast<void>(compare_paths(folder_ / "a", folder_ / "a/x/result.json")); }).problem(),
              HasSubstr("is not a folder"));
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(error_of([&] { static_cast<void>(compare_paths(folder_ / "a", folder_ / "empty")); }).where(),
            (folder_ / "empty").string());
  EXPECT_EQ(error_of([&] { static_cast<void>(compare_paths(folder_ / "no", folder_ / "a/x/result.json")); }).where(),
            (folder_ / "no").string());
}

TEST_F(ComparedFiles, TablesOfSweepsAreComparedColumnByColumn) {
  const auto a = put("a.csv", "point,name,makespan_s,wall_s\n0,\"a, b\",1.0,5\n1,c,2.0,5\n");
  const auto b = put("b.csv", "point,name,wall_s,makespan_s\n0,\"a, b\",9,1.0\n1,c,9,2.5\n");
  const Comparison found = compare_paths(a, b);
  EXPECT_EQ(places(found), std::vector<std::string>{"makespan_s"});
  EXPECT_NEAR(found.differences[0].relative, 0.25, 1e-12);
  EXPECT_EQ(found.differences[0].of, 2u);
  const auto longer = put("c.csv", "point,name,makespan_s,extra\n0,\"a, b\",1.0,\n1,c,2.0,\n2,d,3,1\n");
  EXPECT_EQ(places(compare_paths(a, longer)), (std::vector<std::string>{"lines", "extra"}));
  const auto newer = put("d.csv", "point,name,choices,engine.events,makespan_s\n0,\"a, b\",ring,7,1.0\n1,c,,7,2.0\n");
  const Comparison columns = compare_paths(a, newer);
  EXPECT_EQ(places(columns), (std::vector<std::string>{"choices", "engine.events"}));
  EXPECT_FALSE(columns.beyond(0.0)) << "columns of what is not judged";
  EXPECT_THAT(error_of([&] { static_cast<void>(compare_paths(a, put("r.json", to_json(run())))); }).problem(),
              HasSubstr("kind"));
}

}  // namespace
}  // namespace photonrail::test
