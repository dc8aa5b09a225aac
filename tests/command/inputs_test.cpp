// Options and inputs that mean the same in every command: -o, standard input, and what has no meaning beside another.
#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Inputs : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    write("a.json", tiny("first"));
  }
  void expect_refused(const std::string& line, const std::string& part) const {
    const Outcome done = run(line);
    EXPECT_EQ(done.status, 2) << line;
    EXPECT_EQ(done.out, "") << line;
    EXPECT_THAT(done.err, HasSubstr(part)) << line;
  }
};

TEST_F(Inputs, EveryCommandThatWritesTakesTheSameLetter) {
  for (const char* command : {"run", "serve", "sweep", "goodput", "allocate", "report", "calibrate", "fuzz", "pip-switch",
                              "card import", "card export", "import astra", "import infragraph", "export infragraph",
                              "trace info", "collective export", "collective synthesize", "operators import"}) {
    EXPECT_THAT(run(std::string(command) + " --help").out, HasSubstr("-o,--out ")) << command;
  }
  ASSERT_EQ(run("run a.json -o results --quiet").status, 0);
  EXPECT_EQ(result("results/result.json")["name"], "first");
  expect_refused("run a.json -o ''", "is empty: name a folder");
  expect_refused("card export a.json -o ''", "is empty: name a file");
}

TEST_F(Inputs, AScenarioComesFromStandardInput) {
  // Half the rate, twice the 30 us.
  ASSERT_EQ(run("run - --set /cluster/nic/port_gb_per_s=25 --out results --quiet <a.json").status, 0);
  EXPECT_NEAR(result("results/result.json")["makespan_s"], 60e-6, 1e-9);
  const Outcome piped = run("--version >/dev/null; cat a.json | '" PHOTONRAIL_COMMAND "' run -");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("first"));
  for (const char* command : {"validate -", "cost -", "trace info -", "trace export - --prefix ./t",
                              "card export - -o c.yaml", "export infragraph - -o i.json"}) {
    EXPECT_EQ(run(std::string(command) + " <a.json").status, 0) << command;
  }
  EXPECT_EQ(run("card import - -o again.json <c.yaml").status, 2) << "a single collective is no card's job";
  EXPECT_EQ(run("import infragraph - -o again.json <i.json").status, 0);
  EXPECT_EQ(run("run again.json --quiet").status, 0);
}

TEST_F(Inputs, PathsInStandardInputBeginAtTheWorkingDirectory) {
  fs::create_directories(folder_ / "below");
  json scenario = tiny("graph");
  scenario["workload"] = {{"graph", "job.json"}};
  write("below/a.json", scenario);
  write("job.json", {{"schema", "photonrail.graph/1"}, {"ranks", 1}, {"tasks", {{{"rank", 0}, {"compute_us", 7}}}}});
  EXPECT_EQ(run("run below/a.json --quiet").status, 2) << "from a file, paths begin at its folder";
  ASSERT_EQ(run("run - --out results --quiet <below/a.json").status, 0);
  EXPECT_NEAR(result("results/result.json")["makespan_s"], 7e-6, 1e-12);
}

TEST_F(Inputs, WhatIsWrongInStandardInputSaysSo) {
  expect_refused("run - </dev/null", "<stdin>: the file is empty");
  expect_refused("run - <&-", "<stdin>: cannot be read");
  expect_refused("run - a.json - <a.json", "<stdin>: is given twice");
  json wrong = tiny("wrong");
  wrong["cluster"]["rail"]["kind"] = 7;
  write("wrong.json", wrong);
  expect_refused("run - <wrong.json", "<stdin>: /cluster/rail/kind: must be a string");
  std::ofstream(folder_ / "broken.json") << "{ \"schema\": \n";
  expect_refused("run - <broken.json", "<stdin>:2:1: the text ends too early");
}

TEST_F(Inputs, SweepsAndRowsComeFromStandardInput) {
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "a.json"},
                       {"axes", {{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {25, 50}}}}}});
  expect_refused("sweep - <sweep.json", "--out is required with a sweep from standard input");
  const Outcome done = run("sweep - --out points <sweep.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("2 points in points/results.db"));
  EXPECT_EQ(run("sweep - --dry-run <sweep.json").status, 0);
  write("rows.json", {{"schema", "photonrail.rows/1"},
                      {"rows", {{{"name", "good"}, {"measured_step_s", 30e-6}, {"scenario", tiny("good")}}}}});
  const Outcome rows = run("calibrate --rows - <rows.json");
  EXPECT_EQ(rows.status, 0) << rows.err;
  EXPECT_THAT(rows.out, HasSubstr("all: 1 row, median error 0.0 %"));
}

TEST_F(Inputs, MonthsOfASweepComeFromStandardInput) {
  json months = tiny("months");
  months["reliability"] = {{"step_s", 1},
                           {"job", {{"servers", 4}, {"replicas", 1}, {"min_replicas", 1}}},
                           {"days", 1},
                           {"seeds", 1},
                           {"failures", {{{"of", "gpu"}, {"mtbf_h", 1000}, {"repair_h", 1}}}},
                           {"recovery", {{{"action", "wait"}, {"stages", json::array()}}}}};
  write("months.json", months);
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "months.json"},
                       {"axes", {{{"pointer", "/reliability/days"}, {"values", {1, 2}}}}}});
  const Outcome done = run("goodput - <sweep.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("each of 2: 1 seed (0 of them from the folder), "), Not(HasSubstr("1 seeds"))));
}

TEST_F(Inputs, OptionsThatAnotherOneMakesMeaninglessAreRefused) {
  write("rows.json", {{"schema", "photonrail.rows/1"}, {"rows", json::array()}});
  expect_refused("calibrate --rows rows.json -o fitted.json", "excludes");
  expect_refused("calibrate --rows rows.json --set /a=1", "excludes");
  expect_refused("calibrate --rows rows.json --source text", "excludes");
  expect_refused("cost --gpus 512 --set /cluster/servers=4", "requires");
  const std::string astra = "run --astra s.json --network n.yml --workload w ";
  expect_refused(astra + "--set /a=1", "excludes");
  expect_refused(astra + "--explain", "excludes");
  expect_refused(astra + "--out x --trace", "excludes");
}

// Times of operators are a choice of training jobs alone.
TEST_F(Inputs, ExplainAdvisesOnlyWhereTheAdviceCanBeTaken) {
  const std::string advice = "timed by the GPU's roofline";
  EXPECT_THAT(run("run a.json --explain").out, AllOf(HasSubstr("step time"), Not(HasSubstr(advice))));
  json training = tiny("training");
  training["cluster"]["gpu"] = "h100";
  training["workload"] = {{"training",
                           {{"model", {{"preset", "llama3_8b"}, {"layers", 2}}},
                            {"sequence", 1024},
                            {"global_batch", 4},
                            {"parallelism", {{"dp", 4}}}}}};
  write("t.json", training);
  EXPECT_THAT(run("run t.json --explain").out, HasSubstr(advice));
  json jobs = training;
  jobs.erase("workload");
  jobs["jobs"] = {{{"servers", {0, 1}}, {"workload", tiny("x")["workload"]}},
                  {{"servers", {2, 3}}, {"name", "timed"}, {"workload", training["workload"]}}};
  jobs["jobs"][0]["workload"]["collective"]["ranks"] = 2;
  jobs["jobs"][1]["workload"]["training"]["parallelism"]["dp"] = 2;
  write("jobs.json", jobs);
  const Outcome both = run("run jobs.json --explain");
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("timed: computations are " + advice));
  EXPECT_EQ(both.out.find(advice), both.out.rfind(advice)) << "one of the two jobs trains";
}

}  // namespace
}  // namespace photonrail::test
