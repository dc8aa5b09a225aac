#include "command/command.hpp"

#include "photonrail/cluster/device.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/config.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/version.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The same on an OCS whose only circuits join GPU 0 and GPU 1: the ring never closes.
json stuck(const std::string& name) {
  json scenario = tiny(name);
  scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"ports", 8}, {"reconfiguration_ms", 1}}}};
  scenario["controller"] = {{"name", "static"}, {"circuits", {{{"from", 0}, {"to", 1}}, {{"from", 1}, {"to", 0}}}}};
  return scenario;
}

TEST_F(Command, RunPrintsTheTable) {
  write("a.json", tiny("first"));
  write("b.json", tiny("second"));
  const Outcome done = run("run a.json b.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("first"));
  EXPECT_THAT(done.out, HasSubstr("second"));
  EXPECT_THAT(done.out, HasSubstr("step time"));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1b")));  // no terminal, no colours
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4);  // nothing written
}

// Rank 0 begins up to 1 ms late, by a draw: the result says how far other seeds lie, in the file and in one line.
TEST_F(Command, ARunThatDrawsSaysHowFarOtherSeedsLie) {
  json late = tiny("late");
  late["stragglers"] = {{{"ranks", {0}}, {"delay_us", {{"distribution", "uniform"}, {"least", 0}, {"greatest", 1000}}}}};
  write("a.json", late);
  const Outcome done = run("run a.json --out results");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("late: makespan over 5 seeds: "));
  const json spread = result("results/result.json")["spread"];
  EXPECT_EQ(spread["seeds"], 5);
  EXPECT_LT(spread["min_s"], spread["max_s"]);
  EXPECT_THAT(run("run a.json --set /run/spread_seeds=3").out, HasSubstr("makespan over 3 seeds"));
  EXPECT_THAT(run("run a.json --set /run/spread_seeds=1").out, Not(HasSubstr("seeds")));
  EXPECT_EQ(run("run a.json --set /run/spread_seeds=10001").status, 2);
  write("b.json", tiny("punctual"));
  EXPECT_THAT(run("run b.json").out, Not(HasSubstr("seeds")));
}

TEST_F(Command, OutHoldsTheResultAndTheTrace) {
  write("a.json", tiny("first"));
  const Outcome done = run("run a.json --out results/a --trace");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("wrote results/a/result.json\nwrote results/a/trace.json\n"));
  EXPECT_EQ(result("results/a/result.json")["schema"], "photonrail.result/1");
  // A ring of 4: 2 * 3 steps of 250 kB at 50 GB/s = 6 * 5 us.
  EXPECT_NEAR(result("results/a/result.json")["makespan_s"], 30e-6, 1e-9);
  EXPECT_FALSE(result("results/a/trace.json")["traceEvents"].empty());
}

TEST_F(Command, OutHoldsTheMetricsOfCclBench) {
  write("a.json", tiny("first"));
  const Outcome done = run("run a.json --out results --ccl-bench --quiet");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "results/result.json\nresults/ccl_bench.json\n");
  // 1 MB among 4 ranks in 30 us: bus bandwidth 2 x 3/4 x 1 MB / 30 us, the rate of the ports.
  EXPECT_NEAR(result("results/ccl_bench.json")["bandwidth_utilization_allreduce"], 50.0, 1e-3);
  EXPECT_EQ(run("run a.json --ccl-bench").status, 2);  // where to?
}

/// A small training job on an OCS: three dimensions, operations at once, circuits that are re-pointed.
json pipeline_training(const std::string& schedule) {
  json scenario = stuck("training");
  scenario["cluster"]["rail"]["switch"]["ports"] = 16;
  scenario["cluster"]["gpus_per_server"] = 2;
  scenario["controller"] = {{"name", "opus"}};
  scenario["workload"] = {{"training",
                           {{"model", "llama3_8b"},
                            {"sequence", 4096},
                            {"global_batch", 4},
                            {"schedule", schedule},
                            {"parallelism", {{"tp", 2}, {"pp", 2}, {"dp", 2}, {"fsdp", true}}}}}};
  return scenario;
}

TEST_F(Command, TheSpansOfATraceNeverOverlapOnAThread) {
  write("a.json", pipeline_training("1f1b"));
  const Outcome done = run("run a.json --out results --trace --quiet");
  ASSERT_EQ(done.status, 0) << done.err;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
  std::map<std::string, int> categories;
  const json trace = result("results/trace.json");
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "X") continue;
    threads[{e["pid"], e["tid"]}].emplace_back(e["ts"], e["dur"]);
    ++categories[e["cat"]];
  }
  for (const char* category : {"compute", "communication", "peers", "circuits", "lit", "switching"}) {
    EXPECT_GT(categories[category], 0) << category;
  }
  for (auto& [thread, spans] : threads) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
      // Half a picosecond, in microseconds: the sum of two doubles is not exact.
      EXPECT_LT(spans[i - 1].first + spans[i - 1].second, spans[i].first + 5e-7) << "process " << thread.first;
    }
  }
}

TEST_F(Command, SeveralScenariosGetFoldersOfTheirOwn) {
  write("a.json", tiny("same name"));
  write("b.json", tiny("same name"));
  write("c.json", tiny("../up"));
  const Outcome done = run("run a.json b.json c.json --out results --quiet");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "results/same_name/result.json\nresults/same_name-2/result.json\nresults/_.._up/result.json\n");
  EXPECT_EQ(result("results/same_name-2/result.json")["name"], "same name");
}

// File systems end at 255 letters.
TEST_F(Command, LongNamesMakeShortFolders) {
  write("a.json", tiny(std::string(3000, 'x') + "a"));
  write("b.json", tiny(std::string(3000, 'x') + "b"));
  const Outcome done = run("run a.json b.json --out results --quiet");
  ASSERT_EQ(done.status, 0) << done.err;
  const std::string folder = "results/" + std::string(120, 'x');
  EXPECT_EQ(done.out, folder + "/result.json\n" + folder + "-2/result.json\n");
}

TEST_F(Command, QuietWithoutOutSaysNothing) {
  write("a.json", tiny("first"));
  const Outcome done = run("run --quiet a.json");
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.out + done.err, "");
}

TEST_F(Command, SetChangesTheScenarioAndLeavesTheFilesAlone) {
  write("a.json", tiny("first"));
  // Half the rate, twice the 30 us.
  const Outcome done = run("run --set /cluster/nic/port_gb_per_s=25 --set /name=slow a.json --out results");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NEAR(result("results/result.json")["makespan_s"], 60e-6, 1e-9);
  EXPECT_EQ(result("results/result.json")["name"], "slow");
  EXPECT_EQ(run("run a.json --set nonsense").status, 2);
}

TEST_F(Command, BadInputIsExitTwoAndOneClearMessage) {
  json broken = tiny("broken");
  broken["cluster"]["serverz"] = 4;
  write("broken.json", broken);
  const Outcome done = run("run broken.json");
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("photonrail: error: broken.json"));
  EXPECT_THAT(done.err, HasSubstr("/cluster"));
  EXPECT_THAT(done.err, HasSubstr("serverz"));
  const Outcome absent = run("run absent.json");
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err, HasSubstr("absent.json"));
}

TEST_F(Command, ABadScenarioIsFoundBeforeAnythingRuns) {
  write("a.json", tiny("first"));
  const Outcome done = run("run a.json absent.json --out results");
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(Command, AJobThatCannotFinishIsExitThree) {
  write("stuck.json", stuck("stuck"));
  const Outcome done = run("run stuck.json");
  EXPECT_EQ(done.status, 3) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("photonrail: error: stuck.json: the simulated job cannot finish"));
  EXPECT_THAT(done.err, HasSubstr("rank"));
}

TEST_F(Command, AFailedRunKeepsTheResultOfTheLast) {
  write("a.json", tiny("first"));
  ASSERT_EQ(run("run a.json --out results --trace").status, 0);
  const std::string result_before = read(folder_ / "results/result.json");
  const std::string trace_before = read(folder_ / "results/trace.json");
  write("a.json", stuck("first"));
  EXPECT_EQ(run("run a.json --out results --trace").status, 3);
  EXPECT_EQ(read(folder_ / "results/result.json"), result_before);
  EXPECT_EQ(read(folder_ / "results/trace.json"), trace_before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "results"), fs::directory_iterator()), 2);
}

TEST_F(Command, AnOutThatCannotBeIsExitTwo) {
  write("a.json", tiny("first"));
  const Outcome done = run("run a.json --out a.json");
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("a.json"));
}

TEST_F(Command, BadUsageIsExitTwo) {
  write("a.json", tiny("first"));
  for (const char* arguments :
       {"", "fly", "run", "run a.json --fly", "list", "list birds", "run a.json --trace", "trace", "trace info",
        "trace info a.json --prefix x", "trace export a.json", "validate a.json a.json --graphviz g", "list gpus --explain",
        "list collectives --ranks 4", "list collectives --explain --op all_reduces",
        "list collectives --explain --ranks 8 --ranks-per-server 3", "list collectives --explain --ranks 1",
        "list collectives --explain --op gather --ranks 4 --root 4"}) {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.status, 2) << arguments;
    EXPECT_EQ(done.out, "") << arguments;
    EXPECT_THAT(done.err, StartsWith("photonrail: error: ")) << arguments;
  }
}

TEST_F(Command, HelpAndVersionAreNoErrors) {
  EXPECT_THAT(run("--version").out, HasSubstr(std::string(version())));
  for (const char* arguments : {"--help", "run --help", "trace info --help", "--version"}) {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.status, 0) << arguments;
    EXPECT_EQ(done.err, "") << arguments;
    EXPECT_NE(done.out, "") << arguments;
  }
}

// Words of more than a line's room, as the choices of --backend, are none.
TEST_F(Command, HelpFitsEightyColumns) {
  for (const char* command :
       {"", "run", "serve", "sweep", "report", "validate", "explain", "plan", "goodput", "allocate", "calibrate", "cost",
        "import", "operators", "init", "schema", "list", "trace info", "collective export"}) {
    std::istringstream lines(run(std::string(command) + " --help").out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << command << ": " << line;
  }
}

TEST_F(Command, ValidateSumsUp) {
  write("a.json", tiny("first"));
  write("b.json", tiny("second"));
  const Outcome done = run("validate a.json b.json");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(unbroken(done.out),
              StartsWith("first: 4 ranks, 4 tasks; 4 servers of 1 GPU, 4 NIC ports, 1 electrical rail switch, "));
  EXPECT_THAT(done.out, HasSubstr("\nsecond: "));
  EXPECT_EQ(run("validate a.json --graphviz plant.dot").status, 0);
  EXPECT_THAT(read(folder_ / "plant.dot"), HasSubstr("graph"));
  EXPECT_EQ(run("validate a.json absent.json").out, "");
}

TEST_F(Command, ListNamesEveryEntry) {
  const auto expect_line = [](const std::string& text, std::string_view key) {
    EXPECT_THAT("\n" + text, HasSubstr("\n" + std::string(key) + " "));
  };
  const std::string controllers = run("list controllers").out;
  const ControllerRegistry known_controllers = ControllerRegistry::builtin();
  for (const auto& controller : known_controllers.all()) expect_line(controllers, controller.name);
  const std::string collectives = run("list collectives").out;
  const CollectiveRegistry known_collectives = CollectiveRegistry::builtin();
  for (const auto& algorithm : known_collectives.all()) expect_line(collectives, algorithm->name());
  const std::string models = run("list models").out;
  for (const auto& preset : model_presets()) expect_line(models, preset.key);
  const std::string gpus = run("list gpus").out;
  for (const auto& preset : gpu_presets()) expect_line(gpus, preset.key);
  const std::string switches = run("list switches").out;
  for (const auto& preset : optical_switch_presets()) expect_line(switches, preset.key);
  const std::string schedules = run("list schedules").out;
  for (const auto& schedule : pipeline_schedules()) expect_line(schedules, schedule.name);
  const std::string catalogues = run("list catalogues").out;
  for (const auto& catalogue : price_catalogues()) expect_line(catalogues, catalogue.name);
}

// 8 ranks, 1 us a message, 50 GB/s: with 1 ms for a set of circuits, and one port, one set is best: a ring, 14 steps of
// 1 us + 1000 bytes / 50 GB/s = 1.02 us, and 1 ms.
TEST_F(Command, ListExplainsWhatAutoTakes) {
  const std::string call = "list collectives --explain --op all_reduce --bytes 8000 --ranks 8 --latency-ns 1000";
  const Outcome optical = run(call + " --reconfiguration-ms 1");
  EXPECT_EQ(optical.status, 0) << optical.err;
  EXPECT_THAT(optical.out, StartsWith("auto takes  ring "));
  EXPECT_THAT(unbroken(optical.out), HasSubstr("1.014 ms (1 set of circuits, 14.28 us without switching)"));
  EXPECT_THAT(unbroken(optical.out), HasSubstr("wants circuits to 7 members at once, and a NIC has 1 port"));
  // Without circuits direct has two steps in place of 14: 2 (1 us + 7 x 20 ns).
  EXPECT_THAT(run(call).out, ::testing::MatchesRegex("auto takes  direct +2.28 us\n.*"));
}

// 4 ranks on 50 GB/s without latency: a ring and many others need 2 x 3/4 of 1 MB, 30 us; the first of the table is taken.
TEST_F(Command, AutoSaysWhatItTook) {
  write("a.json", tiny("first"));
  const Outcome done = run("run a.json --out r --set /workload/collective/algorithm=auto");
  EXPECT_EQ(done.status, 0) << done.err;
  const std::string told = unbroken(done.out);  // lines that were broken
  EXPECT_THAT(told, HasSubstr("a, algorithm=auto: all_reduce among 4 ranks, 1000000 bytes: auto took ring: 30 us; next "));
  EXPECT_EQ(result("r/result.json").at("choices").size(), 1u);
  EXPECT_EQ(result("r/result.json").at("makespan_s"), 30e-6);
  EXPECT_EQ(run("run a.json --out r").status, 0);
  EXPECT_FALSE(result("r/result.json").contains("choices"));
}

TEST_F(Command, EveryListedScheduleIsOneThatAScenarioCanName) {
  for (const auto& schedule : pipeline_schedules()) {
    json scenario = pipeline_training(std::string(schedule.name));
    json& job = scenario["workload"]["training"];
    job["global_batch"] = 8;  // four micro-batches: DualPipe wants twice the stages
    if (schedule.name == "interleaved") job["parallelism"]["virtual_stages"] = 2;
    if (schedule.name == "dualpipe") job["parallelism"]["fsdp"] = false;
    write("a.json", scenario);
    const Outcome done = run("trace info a.json --schedule");
    EXPECT_EQ(done.status, 0) << schedule.name << ": " << done.err;
    EXPECT_THAT(done.out, StartsWith(std::string(schedule.name) + ": 2 stages"));
  }
}

TEST_F(Command, ValidateShowsTheMemoryOfAGpuByStage) {
  json scenario = pipeline_training("1f1b");
  scenario["cluster"]["gpu"] = {{"preset", "h100"}, {"memory_gb", 1}};
  write("a.json", scenario);
  const Outcome done = run("validate a.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("GB a GPU   parameters  gradients  optimizer  activations  total\n  stage 0"));
  EXPECT_THAT(done.err, HasSubstr("the plan does not fit the GPU"));
}

TEST_F(Command, AScheduleIsDrawnAsAChart) {
  write("a.json", pipeline_training("1f1b"));
  const Outcome done = run("trace info a.json --schedule -o chart.svg");
  ASSERT_EQ(done.status, 0) << done.err;
  // Two micro-batches: the bubble is (p - 1) (f + b) = 1 + 2 units of a step of 9.
  EXPECT_EQ(done.out,
            "1f1b: 2 stages, 2 micro-batches\n"
            "stage 0  F0 F1 .  .  B0--- .  B1---\n"
            "stage 1  .  F0 B0--- F1 B1--- .  .\n"
            "F forward, B backward\n\n"
            "stage  in flight  idle  between its passes  idle share\n"
            "0      2          3     3                   33.3 %\n"
            "1      1          3     0                   33.3 %\n"
            "wrote chart.svg\n");
  EXPECT_THAT(read(folder_ / "chart.svg"), HasSubstr("<title>backward 1</title>"));
}

TEST_F(Command, AScheduleThatCannotExistIsRefusedAtItsPlace) {
  write("a.json", pipeline_training("dualpipe"));
  const Outcome done = run("trace info a.json --schedule");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("a.json: /workload/training/global_batch: the schedule \"dualpipe\" over 2 stages"));
  write("b.json", tiny("first"));
  const Outcome other = run("trace info b.json --schedule");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("this is about training jobs only"));
  EXPECT_EQ(run("trace info a.json -o chart.svg").status, 2);  // a chart of what?
}

TEST_F(Command, AnExportedTraceIsReadBackAsItWas) {
  write("a.json", tiny("first"));
  const Outcome exported = run("trace export a.json --prefix copy");
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_THAT(exported.out, StartsWith("wrote 5 files"));  // 4 ranks and the groups
  const Outcome original = run("trace info a.json");
  ASSERT_EQ(original.status, 0) << original.err;
  EXPECT_THAT(original.out, ::testing::ContainsRegex("collective +[a-z]+ +4 +4000000 \\(4\\.000 MB\\)"));
  const Outcome copy = run("trace info --prefix copy --groups copy.json");
  EXPECT_EQ(run("trace info --prefix copy").out, copy.out);  // the groups are looked for where they were written
  ASSERT_EQ(copy.status, 0) << copy.err;
  EXPECT_THAT(copy.out, ::testing::ContainsRegex("collective +[a-z]+ +4 +4000000 \\(4\\.000 MB\\)"));
}

}  // namespace
}  // namespace photonrail::test
