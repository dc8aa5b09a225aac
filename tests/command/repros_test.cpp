// Scenarios and files beside the traces, in a folder "repros", that once went wrong in the command: each ends as the table
// of that folder says, within a bound on the time of the processor.
#include "command/command.hpp"
#include "support/sanitizers.hpp"
#include "support/shared_data.hpp"

#include <sys/resource.h>

#include <tuple>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

double system_seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_stime.tv_usec);
}

class ReproCommand : public Command {
 protected:
  void SetUp() override {
    PHOTONRAIL_REQUIRE_SHARED_DATA(data);
    repros_ = data.parent_path() / "repros";
    if (!fs::is_directory(repros_)) GTEST_SKIP() << "SKIPPED, NOT CHECKED: no folder " << repros_;
    Command::SetUp();
  }

  /// `rest`: the verb's other arguments. A run of more than `seconds` of the processor is ended, and has status -1.
  [[nodiscard]] Outcome end(const std::string& verb, const std::string& file, int seconds,
                            const std::string& rest = "") const {
    const int limit = PHOTONRAIL_SANITIZED == 1 ? 20 * seconds : seconds;
    const std::string line = "cd '" + folder_.string() + "' && ulimit -t " + std::to_string(limit) +
                             " && '" PHOTONRAIL_COMMAND "' " + verb + " '" + (repros_ / file).string() + "' " + rest +
                             " >.out 2>.err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }

  fs::path repros_;
};

// A free checkpoint is best behind every step of 20 ns; another file has three days of such steps.
TEST_F(ReproCommand, GoodputDoesNotGoStepByStep) {
  for (const char* file : {"goodput-short-step-no-end.json", "goodput-free-checkpoints-slow.json"}) {
    const Outcome told = end("goodput", file, 2);
    EXPECT_EQ(told.status, 0) << file << told.err;
    EXPECT_THAT(told.out, HasSubstr("1 configuration")) << file;
  }
}

// 156,444 failures: announced before, and refused by who says that it may not take as long.
TEST_F(ReproCommand, AllocationsAreAnnounced) {
  const Outcome refused = end("allocate", "allocate-free-restarts-slow.json", 5, "--work-limit 10s");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("failures and repairs: 156444"));
  const Outcome stuck = end("allocate", "allocate-preempt-failures-slow.json", 30);
  EXPECT_THAT(stuck.out + stuck.err, HasSubstr("waits for a slice that failed servers never leave whole"));
  EXPECT_EQ(stuck.status, 3);
}

TEST_F(ReproCommand, TheHeapIsKept) {
  const double before = system_seconds_of_children();
  EXPECT_EQ(end("run", "torus-500-ranks-system-time.json", 10).status, 0);
  EXPECT_LT(system_seconds_of_children() - before, 1.0);
}

TEST_F(ReproCommand, MixnetRunsWithRenamedServers) { EXPECT_EQ(end("run", "mixnet-renamed-servers.json", 2).status, 0); }

// The second state of the job is not mixed with the points of the first.
TEST_F(ReproCommand, ASweepDoesNotMixStatesOfItsJob) {
  const std::string line = "cd '" + folder_.string() + "' && sh '" + (repros_ / "mixed-sweep.sh").string() +
                           "' '" PHOTONRAIL_COMMAND "' >.out 2>.err";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_THAT(unbroken(read(folder_ / ".err")), HasSubstr("made with another state of job.json"));
}

TEST_F(ReproCommand, LabelsAreNoMarkup) {
  fs::create_directories(folder_ / "out");
  EXPECT_EQ(end("sweep", "xss-sweep.json", 5, "--out out --quiet").status, 0);
  EXPECT_EQ(run("report out --out page.html").status, 0);
  EXPECT_THAT(read(folder_ / "page.html"), Not(HasSubstr("<img src=x")));
  EXPECT_THAT(read(folder_ / "out/results.csv"), Not(HasSubstr("\n=")));
  EXPECT_EQ(end("run", "xss-scenario.json", 5, "--out one --trace").status, 0);
  EXPECT_EQ(run("report one --out one.html").status, 0);
  EXPECT_THAT(read(folder_ / "one.html"), Not(HasSubstr("<img src=x")));
}

// A value of a profile that is no word of a scheduler.
TEST_F(ReproCommand, SlurmGetsNoLineOfAProfile) {
  write("base.json", tiny("job"));
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"name", "rates"},
                       {"base", "base.json"},
                       {"axes", {{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {10, 20}}}}}});
  const Outcome told = run("sweep sweep.json --out out --launcher slurm --profile '" +
                           (repros_ / "slurm-profile-lines.json").string() + "'");
  EXPECT_EQ(told.status, 2);
  EXPECT_THAT(told.err, HasSubstr("/partition"));
  EXPECT_FALSE(fs::exists(folder_ / "out/job.sh"));
}

// Opus promises not to be slower with faster ports where a NIC has one port, and with two no longer does.
TEST_F(ReproCommand, OpusIsNotSlowerWithFasterPortsWhereItSaysSo) {
  const auto seconds = [&](int ports, int rate) {
    const std::string set = " --set /cluster/nic/ports=" + std::to_string(ports) +
                            " --set /cluster/nic/port_gb_per_s=" + std::to_string(rate) + " --out out";
    const Outcome told = end("run", "opus-twice-the-port-rate-slower.json", 2, set);
    EXPECT_EQ(told.status, 0) << told.err;
    return result("out/result.json").at("makespan_s").get<double>();
  };
  EXPECT_LE(seconds(1, 100), seconds(1, 50));
  EXPECT_GT(seconds(2, 100), seconds(2, 50)) << "the claim may be made for two ports too";
  EXPECT_THAT(unbroken(run("list controllers").out),
              HasSubstr("is not slower with faster ports, a shorter delay, where a NIC has one port"));
}

// Two measured steps that are missed, by as much as the page of accuracy says: 37 % and 11 to 23 %.
TEST_F(ReproCommand, MeasuredRowsAreMissedByWhatThePageSays) {
  const std::vector<std::tuple<const char*, const char*>> rows{{"llama405b-nvfp4-gb200.json", "+36.9 %"},
                                                               {"qwen30b-b300-8.json", "-20.3 %"}};
  for (const auto& [file, error] : rows) {
    const Outcome told = end("calibrate --rows", file, 60);
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr(error)) << file;
  }
}

}  // namespace
}  // namespace photonrail::test
