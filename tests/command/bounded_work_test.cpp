// Work that a few bytes of a file ask for: each of these once took minutes to months, and is bounded by the seconds of the
// processor that the command may use.
#include "command/command.hpp"

#include <sys/resource.h>

#include <string>
#include <utility>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BoundedWork : public Command {
 protected:
  /// As run(); the command is ended by a signal (status -1 or above 128) after so many seconds of the processor.
  [[nodiscard]] Outcome run_within(int seconds, const std::string& arguments) const {
    const std::string line = "cd '" + folder_.string() + "' && ulimit -t " + std::to_string(seconds) +
                             " && '" PHOTONRAIL_COMMAND "' " + arguments + " >.out 2>.err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }
};

json failing(const json& reliability) {
  json scenario = tiny("job");
  scenario["workload"] = {{"collective", {{"op", "all_reduce"}, {"bytes", 1000}}}};
  scenario["reliability"] = reliability;
  return scenario;
}

// A checkpoint that costs nothing is best after every step: a month of steps of some microseconds has 1e11 of them.
TEST_F(BoundedWork, GoodputGoesOverStepsAndCheckpointsBetweenFailures) {
  write("short.json", failing({{"days", 30},
                               {"seeds", 1},
                               {"failures", {{{"of", "server"}, {"mtbf_h", 5000}, {"repair_h", 24}}}},
                               {"checkpoint", {{"interval", "daly"}}},
                               {"recovery", {{{"action", "wait"}}}}}));
  const Outcome told = run_within(10, "goodput short.json");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("1 seed"));
}

TEST_F(BoundedWork, GoodputCountsStepsInSixtyThreeBits) {
  write("many.json", failing({{"days", 36500},
                              {"seeds", 1},
                              {"step_s", 1e-12},
                              {"failures", {{{"of", "server"}, {"mtbf_h", 500000}}}},
                              {"recovery", {{{"action", "wait"}}}}}));
  const Outcome told = run_within(10, "goodput many.json");
  EXPECT_EQ(told.status, 2);
  EXPECT_THAT(told.err, HasSubstr("a history has more than 4e18 steps"));
}

// Servers that are up for a tenth of the time: 100,000 failures and repairs while no job can run, and then the reason.
TEST_F(BoundedWork, AllocateEndsWhereFailedServersNeverLeaveASlice) {
  write("pod.json",
        {{"schema", "photonrail.allocation/1"},
         {"pod", {{"torus", {12, 4, 4}}, {"fibres", 1}, {"reach", 2}}},
         {"policies", {"photonic"}},
         {"orders", {"srsf"}},
         {"jobs",
          {{"drawn",
            {{"count", 100},
             {"slices", {{{"shape", {11}}, {"share", 1}}}},
             {"mean_interarrival_s", 10},
             {"mean_duration_s", 600}}}}},
         {"preempt", true},
         {"failures", {{"mean_between_h", 0.01}, {"mean_repair_h", 0.1}, {"checkpoint_s", 600}, {"restart_s", 30}}}});
  const Outcome told = run_within(30, "allocate pod.json");
  EXPECT_EQ(told.status, 3);
  EXPECT_THAT(told.err, HasSubstr("job 0 (11) waits for a slice that failed servers never leave whole"));
}

// Flows that come and go, all among 128 GPUs at once, make the heap's top larger and smaller: were it given back each time,
// the system would take longer than the run.
TEST_F(BoundedWork, TheHeapIsKept) {
  json torus = tiny("torus");
  torus["cluster"]["servers"] = 2;
  torus["cluster"]["gpus_per_server"] = 64;
  torus["cluster"]["scale_up"] = {{"gb_per_s", 450}, {"torus", {{"sides", {4, 4, 4}}}}};
  torus["workload"] = {{"moe_layer",
                        {{"experts", 512},
                         {"top_k", 2},
                         {"tokens", 1},
                         {"hidden", 64},
                         {"ffn", 1},
                         {"layers", 1},
                         {"ranks", 128},
                         {"execution", "bulk"},
                         {"router", {{"kind", "uniform"}}}}}};
  write("torus.json", torus);
  const auto used = [] {
    rusage of{};
    getrusage(RUSAGE_CHILDREN, &of);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return std::pair(seconds(of.ru_utime), seconds(of.ru_stime));
  };
  const auto [user_before, system_before] = used();
  EXPECT_EQ(run("run torus.json --quiet").status, 0);
  const auto [user, system] = used();
  EXPECT_LE(system - system_before, 0.1 + 0.3 * (user - user_before));
}

// SIGTERM ends a verb, with what it keeps in files, also within a piece of work that looks at no flag.
TEST_F(BoundedWork, ASignalEndsEveryVerb) {
  json months = failing({{"days", 36500},
                         {"step_s", 1},
                         {"failures", {{{"of", "server"}, {"mtbf_h", 0.1}}}},
                         {"recovery", {{{"action", "wait"}}}}});
  write("months.json", months);
  json busy = tiny("busy");
  busy["cluster"]["servers"] = 64;
  busy["workload"]["collective"]["ranks"] = 64;
  busy["run"] = {{"iterations", 1000000}, {"fidelity", "exact"}, {"folding", false}};
  busy["stragglers"] = {{{"ranks", "random"}, {"delay_us", 1}}};
  write("busy.json", busy);
  write("points.json", {{"schema", "photonrail.sweep/1"},
                        {"base", "busy.json"},
                        {"axes", {{{"name", "bytes"}, {"pointer", "/workload/collective/bytes"}, {"values", {1, 2}}}}}});
  for (const std::string verb :
       {"goodput months.json", "goodput months.json --out kept", "run busy.json", "sweep points.json"}) {
    const Outcome told = run_within(60, verb + " >.out 2>.err & sleep 1; kill -TERM $!; wait $!; exit $?; :");
    EXPECT_EQ(told.status, 143) << verb << ": " << told.err;
  }
  // Of measured rows those are kept that were complete.
  write("rows.json", {{"schema", "photonrail.rows/1"},
                      {"rows",
                       {{{"name", "quick"}, {"measured_step_s", 1}, {"scenario", tiny("quick")}},
                        {{"name", "endless"}, {"measured_step_s", 1}, {"scenario", busy}}}}});
  const Outcome told = run_within(
      60, "calibrate --rows rows.json --markdown rows.md >.out 2>.err & sleep 1; kill -TERM $!; wait $!; exit $?; :");
  EXPECT_EQ(told.status, 143) << told.err;
  EXPECT_THAT(told.err, HasSubstr("the rows that are complete are in rows.md"));
  EXPECT_THAT(read(folder_ / "rows.md"), AllOf(HasSubstr("| quick |"), Not(HasSubstr("| endless |"))));
}

}  // namespace
}  // namespace photonrail::test
