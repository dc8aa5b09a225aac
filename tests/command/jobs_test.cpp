// Several jobs on one cluster.
#include "command/command.hpp"

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

}  // namespace
}  // namespace photonrail::test
