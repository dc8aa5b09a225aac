// Several jobs on one cluster.
#include "command/command.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Two all-reduces over leaves of two servers, one of each job, with uplinks of half the rate: radix 3, 3 x 2 / 3 = 2
/// ports.
json meeting() {
  json scenario = tiny("meeting");
  scenario["cluster"]["servers"] = 4;
  scenario["cluster"]["rail"] = {{"kind", "electrical"}, {"radix", 3}, {"oversubscription", 2}};
  json ring = scenario["workload"];
  ring["collective"]["ranks"] = 2;
  scenario.erase("workload");
  scenario["jobs"] = {{{"name", "even"}, {"servers", {0, 2}}, {"workload", ring}},
                      {{"name", "odd"}, {"servers", {1, 3}}, {"workload", ring}}};
  return scenario;
}

TEST_F(Command, RunsJobsSideBySideAndSaysWhatTheyCostEachOther) {
  write("a.json", meeting());
  const Outcome done = run("run a.json --out a --trace");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("slowdown"));
  EXPECT_THAT(done.out, HasSubstr("odd"));
  const json result = this->result("a/result.json");
  ASSERT_EQ(result["jobs"].size(), 2);
  // Both rings cross the uplinks, 50 GB/s for two ports of 50: 25 GB/s each.
  for (const json& job : result["jobs"]) {
    EXPECT_NEAR(job["slowdown"], 2.0, 1e-9);
    EXPECT_EQ(job["makespan_s"], result["makespan_s"]);
  }
  EXPECT_THAT(read(folder_ / "a/trace.json"), HasSubstr("odd/all"));
}

TEST_F(Command, SaysThatSomeCommandsAreAboutOneJob) {
  write("a.json", meeting());
  EXPECT_EQ(run("validate a.json").status, 0);
  for (const char* arguments : {"trace info a.json", "trace export a.json --prefix x", "card export a.json -o x.yaml"}) {
    const Outcome told = run(arguments);
    EXPECT_EQ(told.status, 2) << arguments;
    EXPECT_THAT(told.err, HasSubstr("/jobs")) << arguments;
  }
}

// With an oversubscription of 1 a leaf has 3 x 1 / 2 = 1 port down and one up, so that the rings share nothing; with 2 they
// share uplinks of half the rate.
TEST_F(Command, ASweepAndAPageHaveTheNumbersOfEachJob) {
  write("meeting.json", meeting());
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "meeting.json"},
                       {"axes", {{{"pointer", "/cluster/rail/oversubscription"}, {"values", {1, 2}}}}}});
  ASSERT_EQ(run("sweep sweep.json --out s --quiet").status, 0);
  std::istringstream lines(read(folder_ / "s/results.jsonl"));
  std::vector<json> points;
  for (std::string line; std::getline(lines, line);) points.push_back(json::parse(line)["metrics"]);
  ASSERT_EQ(points.size(), 2);
  for (const char* name : {"jobs.even", "jobs.odd"}) {
    const std::string job = name;
    EXPECT_NEAR(points[0][job + ".slowdown"], 1.0, 1e-9);
    EXPECT_NEAR(points[1][job + ".slowdown"], 2.0, 1e-9);
    EXPECT_EQ(points[1][job + ".makespan_s"], points[1]["makespan_s"]);
    EXPECT_EQ(points[1][job + ".alone_s"], points[0][job + ".makespan_s"]);
    EXPECT_EQ(points[1][job + ".per_rank_mean_s.exposed_communication"], points[1]["makespan_s"]);
  }
  ASSERT_EQ(run("run meeting.json --out runs/a --quiet").status, 0);
  ASSERT_EQ(run("run meeting.json --out runs/b --quiet --set /name=again").status,
            0);  // two, so that there is a comparison
  const Outcome page = run("report runs --format csv --figure comparison --metric jobs.odd.slowdown --baseline none");
  if (page.err.find("no page for reports") != std::string::npos) GTEST_SKIP() << "NOT CHECKED: the page: " << page.err;
  ASSERT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(read(folder_ / "runs/figures/comparison.csv"), HasSubstr("meeting,,2,"));
}

}  // namespace
}  // namespace photonrail::test
