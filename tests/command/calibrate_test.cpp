#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// 1e12 FLOPs, 10 ms at 100 TFLOP/s, then an all-reduce of 1 GB between two GPUs at 50 GB/s, 20 ms.
class Calibrate : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    json scenario = tiny("fitted");
    scenario["cluster"]["servers"] = 2;
    scenario["cluster"]["gpu"] = {{"peak_tflops", 100}, {"memory_gb_per_s", 4800}};
    scenario["workload"] = {{"graph", "job.json"}};
    write("s.json", scenario);
    write("job.json", {{"schema", "photonrail.graph/1"},
                       {"ranks", 2},
                       {"communicators", {{"all", {{"ranks", "all"}}}}},
                       {"tasks",
                        {{{"rank", "all"}, {"id", "a"}, {"flops", 1e12}},
                         {{"rank", "all"},
                          {"collective", "all_reduce"},
                          {"communicator", "all"},
                          {"bytes", 1000000000},
                          {"after", {"a"}}}}}});
  }
};

TEST_F(Calibrate, WritesAScenarioWhoseStepIsTheMeasuredOne) {
  // 45 ms - 20 ms = 25 ms of compute: efficiency 0.4.
  const Outcome done = run("calibrate s.json --step-s 0.045 --source 'a run' -o fitted.json");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("compute efficiency 0.4"));
  EXPECT_THAT(done.out, HasSubstr("wrote fitted.json"));
  EXPECT_EQ(result("fitted.json")["cluster"]["gpu"]["calibration"]["source"], "a run");
  ASSERT_EQ(run("run fitted.json --out out --quiet").status, 0);
  EXPECT_NEAR(result("out/result.json")["makespan_s"], 0.045, 0.045e-4);
}

TEST_F(Calibrate, WithoutOutItOnlySays) {
  const Outcome done = run("calibrate s.json --step-s 0.045");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("compute efficiency 0.4"));
  EXPECT_THAT(done.out, Not(HasSubstr("wrote")));
}

TEST_F(Calibrate, WhatCannotBeFittedIsExitTwo) {
  const Outcome early = run("calibrate s.json --step-s 0.019 -o fitted.json");  // the all-reduce alone takes 20 ms
  EXPECT_EQ(early.status, 2);
  EXPECT_THAT(early.err, HasSubstr("0.019 s is shorter than the simulated step at compute efficiency 1, 0.03 s"));
  EXPECT_FALSE(fs::exists(folder_ / "fitted.json"));
  EXPECT_EQ(run("calibrate s.json --step-s 0.045 -o elsewhere/fitted.json").status, 2);
  EXPECT_EQ(run("calibrate s.json --step-s -1").status, 2);
  EXPECT_EQ(run("calibrate s.json --step-s nan").status, 2);
  EXPECT_EQ(run("calibrate s.json").status, 2);
}

// A row with a mistake says so; the others have their errors, and the exit status says that one is missing.
TEST_F(Calibrate, ARowThatDoesNotRunIsExitThree) {
  json wrong = tiny("wrong");
  wrong["cluster"]["rail"] = {{"kind", 7}};
  const json good = {{"name", "good"}, {"measured_step_s", 0.02}, {"scenario", tiny("good")}};
  write("rows.json", {{"schema", "photonrail.rows/1"},
                      {"rows", {good, {{"name", "bad"}, {"measured_step_s", 0.02}, {"scenario", wrong}}}}});
  const Outcome done = run("calibrate --rows rows.json");
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.out, HasSubstr("not run: bad: /cluster/rail/kind: must be a string, not 7"));
  EXPECT_THAT(done.out, HasSubstr("all: 1 row, "));
  EXPECT_THAT(done.err, HasSubstr("rows.json: 1 of 2 rows were not run"));
  write("rows.json", {{"schema", "photonrail.rows/1"}, {"rows", json::array({good})}});
  EXPECT_EQ(run("calibrate --rows rows.json").status, 0);
}

// The last row is wrong, and the first cannot finish when it is run: the mistake is told before that.
TEST_F(Calibrate, AllRowsAreCheckedBeforeTheFirstRuns) {
  json wrong = tiny("wrong");
  wrong["cluster"]["rail"] = {{"kind", "a|b"}};
  const json good = {{"name", "good"}, {"measured_step_s", 30e-6}, {"scenario", tiny("good")}, {"note", "as told"}};
  json bad = {{"name", "bad"}, {"measured_step_s", 0.02}, {"scenario", wrong}};
  write("rows.json", {{"schema", "photonrail.rows/1"}, {"rows", {good, bad}}});
  const Outcome done = run("calibrate --rows rows.json --markdown table.md");
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.err, ::testing::MatchesRegex("photonrail: [^\n]*rows.json: bad: /cluster/rail/kind: (.|\n)*"));
  const std::string table = read(folder_ / "table.md");
  EXPECT_THAT(table, HasSubstr("| good | 0.00 s | 0.00 s | +0.0 % | as told |\n"));
  EXPECT_THAT(table, HasSubstr("| bad | 0.02 s | – | not run | bad: /cluster/rail/kind: "));
  EXPECT_THAT(table, HasSubstr("a\\|b"));
  bad["fit"] = true;
  write("rows.json", {{"schema", "photonrail.rows/1"}, {"rows", {good, bad}}});
  const Outcome fitted = run("calibrate --rows rows.json --fit");
  EXPECT_EQ(fitted.status, 2);
  EXPECT_THAT(fitted.err, HasSubstr("rows.json: bad: cannot be fitted: bad: /cluster/rail/kind: "));
}

// A result that is not good enough is no bad input: as a difference that `compare` finds.
TEST_F(Calibrate, AMedianAboveTheLimitIsExitOne) {
  write("rows.json", {{"schema", "photonrail.rows/1"},
                      {"rows", {{{"name", "half"}, {"measured_step_s", 15e-6}, {"scenario", tiny("good")}}}}});
  EXPECT_EQ(run("calibrate --rows rows.json --max-median 99").status, 1);
  EXPECT_EQ(run("calibrate --rows rows.json --max-median 101").status, 0);
}

}  // namespace
}  // namespace photonrail::test
