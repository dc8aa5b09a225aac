// `photonrail sweep` as a process: killed, stopped, twice at a time, without room.
#include "command/command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// results.jsonl without what may differ between two runs.
std::vector<json> records(const fs::path& folder) {
  std::vector<json> list;
  for (const std::string& line : lines_of(read(folder / "results.jsonl"))) {
    list.push_back(json::parse(line));
    list.back().erase("provenance");
    list.back().erase("seal");  // it covers the provenance
  }
  return list;
}

class Sweeps : public Command {
 protected:
  /// 48 points of some milliseconds: 32 GPUs exchange messages one by one.
  void write_sweep() const {
    json base = tiny("base");
    base["cluster"]["servers"] = 32;
    base["workload"] = {
        {"collective", {{"op", "all_to_all"}, {"algorithm", "pairwise"}, {"bytes", 1000000}, {"repeat", 24}}}};
    base["run"] = {{"fidelity", "exact"}, {"folding", false}};
    write("base.json", base);
    write("sweep.json",
          {{"schema", "photonrail.sweep/1"},
           {"base", "base.json"},
           {"axes",
            {{{"pointer", "/cluster/nic/port_gb_per_s"}, {"range", {{"from", 10}, {"to", 80}, {"points", 8}}}},
             {{"pointer", "/cluster/nic/latency_ns"}, {"values", {0, 1000}}}}},
           {"seeds", {1, 2, 3}}});
  }

  /// The command as a child of its own, which gives way to the test: what the test does to it comes in time on a busy
  /// machine.
  [[nodiscard]] pid_t start(const std::string& out, const std::string& err = "/dev/null") const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int file =
        ::open((err.starts_with('/') ? fs::path(err) : folder_ / err).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    static_cast<void>(::nice(19));
    if (::chdir(folder_.c_str()) == 0)
      ::execl(PHOTONRAIL_COMMAND, "photonrail", "sweep", "sweep.json", "--out", out.c_str(), nullptr);
    ::_exit(127);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Waits until the child at work in `out` has recorded something; false when it has ended without.
  [[nodiscard]] bool has_begun(const std::string& out, pid_t child) const {
    for (siginfo_t ended{}; ended.si_pid == 0;) {
      std::error_code ignored;
      if (fs::file_size(folder_ / out / "results.db-wal", ignored) > 100'000 && !ignored) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
    }
    return false;
  }
  /// Kills a run into `out` when it has recorded something, then 20, each at any moment of its first so many seconds; how
  /// many of these were killed.
  [[nodiscard]] int kill_twenty(const std::string& out, double seconds) const {
    const pid_t first = start(out);
    EXPECT_TRUE(has_begun(out, first));
    ::kill(first, SIGKILL);
    wait_for(first);
    std::mt19937 random(1);
    int killed = 0;
    for (int i = 0; i < 20; ++i) {
      const pid_t child = start(out);
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds * static_cast<double>(random() % 1000) / 1000.0));
      ::kill(child, SIGKILL);
      killed += wait_for(child) == -SIGKILL ? 1 : 0;
    }
    return killed;
  }
  void expect_same(const std::string& out, const std::string& whole) const {
    EXPECT_EQ(read(folder_ / out / "results.csv"), read(folder_ / whole / "results.csv"));
    EXPECT_EQ(records(folder_ / out), records(folder_ / whole));
    EXPECT_EQ(records(folder_ / out).size(), 48);
  }
};

TEST_F(Sweeps, KilledAtAnyMomentItEndsInTheSameTable) {
  write_sweep();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run("sweep sweep.json --out whole").status, 0);
  const double whole_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // In the first tenth of a run, so that most find work that is not done. Where the machine has become faster since the
  // time was taken, so that one came to its end, they come sooner.
  double within_s = 0.1 * whole_s;
  int killed = kill_twenty("out", within_s);
  for (; fs::exists(folder_ / "out/results.csv"); killed = kill_twenty("out", within_s /= 2))
    fs::remove_all(folder_ / "out");
  EXPECT_GE(killed, 10);
  const Outcome end = run("sweep sweep.json --out out --resume");
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("points are there already"));
  expect_same("out", "whole");
}

TEST_F(Sweeps, StopsOnCtrlCAndSaysHowToGoOn) {
  write_sweep();
  // On a busy machine the sweep may come to its end between the look at its records and the signal: then once more.
  int status_of_run = 0;
  for (int i = 0; status_of_run == 0 && i < 20; ++i) {
    fs::remove_all(folder_ / "out");
    const pid_t child = start("out", "said");
    ASSERT_TRUE(has_begun("out", child));
    ::kill(child, SIGINT);
    status_of_run = wait_for(child);
  }
  EXPECT_EQ(status_of_run, 128 + SIGINT);
  EXPECT_THAT(read(folder_ / "said"),
              AllOf(StartsWith("photonrail: error: stopped with "), HasSubstr("the same command goes on")));
  const std::size_t kept = records(folder_ / "out").size();
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 48);
  const Outcome status = run("sweep status out");
  EXPECT_THAT(status.out, HasSubstr("done            " + std::to_string(kept) + "\n"));
  const Outcome rest = run("sweep sweep.json --out out");
  EXPECT_EQ(rest.status, 0);
  EXPECT_THAT(rest.err, HasSubstr(std::to_string(kept) + " points are there already"));
  ASSERT_EQ(run("sweep sweep.json --out whole").status, 0);
  expect_same("out", "whole");
}

TEST_F(Sweeps, ASecondWriterIsSentAway) {
  write_sweep();
  const pid_t child = start("out");
  ASSERT_TRUE(has_begun("out", child));
  const Outcome second = run("sweep sweep.json --out out");
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("another photonrail writes here"), HasSubstr("process " + std::to_string(child))));
  EXPECT_THAT(run("sweep status out").out, HasSubstr("process " + std::to_string(child)));
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(run("sweep status out").out, HasSubstr("running here  no"));
}

/// A shell in a mount namespace of its own. `size`: of a tmpfs at `out`.
#define PHOTONRAIL_REQUIRE_MOUNTS()                                                                      \
  if (std::system("unshare --map-root-user --mount true 2>/dev/null") != 0) {                            \
    GTEST_SKIP() << "SKIPPED, NOT CHECKED: this system does not let us mount (unshare --map-root-user)"; \
  }

TEST_F(Sweeps, AFullDiskEndsItAndWhatWasDoneIsKept) {
  PHOTONRAIL_REQUIRE_MOUNTS();
  write_sweep();
  std::ofstream(folder_ / "script") << "mkdir out kept; mount -t tmpfs -o size=200k none out || exit 99\n"
                                       "'" PHOTONRAIL_COMMAND
                                       "' sweep sweep.json --out out >said 2>&1; echo $? >status\n"
                                       "cp out/* kept; rm -f kept/lock\n";
  ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && unshare --map-root-user --mount sh script").c_str()), 0);
  EXPECT_EQ(read(folder_ / "status"), "2\n");
  EXPECT_THAT(read(folder_ / "said"), AllOf(HasSubstr("the disk is full"), HasSubstr("what was recorded is kept")));
  const Outcome rest = run("sweep sweep.json --out kept");
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("points are there already"));
  ASSERT_EQ(run("sweep sweep.json --out whole").status, 0);
  expect_same("kept", "whole");
}

TEST_F(Sweeps, AReadOnlyFolderIsRefusedAndCanStillBeRead) {
  PHOTONRAIL_REQUIRE_MOUNTS();
  write_sweep();
  ASSERT_EQ(run("sweep sweep.json --out out").status, 0);
  const std::string before = read(folder_ / "out/results.csv");
  std::ofstream(folder_ / "script") << "mount --bind out out && mount -o remount,bind,ro out || exit 99\n"
                                       "'" PHOTONRAIL_COMMAND
                                       "' sweep sweep.json --out out >said 2>&1; echo $? >status\n"
                                       "'" PHOTONRAIL_COMMAND
                                       "' sweep sweep.json --out out/new >said_new 2>&1\n"
                                       "'" PHOTONRAIL_COMMAND "' sweep status out >read 2>&1\n";
  ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && unshare --map-root-user --mount sh script").c_str()), 0);
  EXPECT_EQ(read(folder_ / "status"), "2\n");
  EXPECT_THAT(read(folder_ / "said"), AllOf(HasSubstr("out"), HasSubstr("Read-only file system")));
  EXPECT_THAT(read(folder_ / "said_new"), HasSubstr("cannot make the folder"));
  EXPECT_THAT(read(folder_ / "read"), HasSubstr("done          48\n"));
  EXPECT_EQ(read(folder_ / "out/results.csv"), before);
}

TEST_F(Sweeps, PrintsThePointsWithoutRunning) {
  write_sweep();
  const Outcome dry = run("sweep sweep.json --dry-run");
  EXPECT_EQ(dry.status, 0) << dry.err;
  const auto lines = lines_of(dry.out);
  ASSERT_EQ(lines.size(), 50);  // a header, 8 x 2 x 3 points, their number
  EXPECT_EQ(lines[0], "point  port_gb_per_s  latency_ns  seed  memory  time");
  EXPECT_EQ(lines[5], "4      10             1000        2     -       < 1 s");
  EXPECT_THAT(lines[49], StartsWith("48 points, about "));
  EXPECT_FALSE(fs::exists(folder_ / "sweep.results"));
}

// Its page would show the sweep, and nobody the run.
TEST_F(Sweeps, ARunDoesNotGoIntoItsFolder) {
  write("base.json", tiny("base"));
  fs::create_directories(folder_ / "s/shards");
  const Outcome done = run("run base.json --out s");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("s: holds the results of a sweep"));
  EXPECT_FALSE(fs::exists(folder_ / "s/result.json"));
}

TEST_F(Sweeps, SaysWithItsExitStatusThatPointsFailed) {
  json base = tiny("base");
  base["workload"] = {{"graph", "ok.json"}};
  write("base.json", base);
  const json send = {{"rank", 0}, {"send_to", 1}, {"bytes", 100000000}};
  write("ok.json", {{"schema", "photonrail.graph/1"}, {"ranks", 2}, {"tasks", {{{"rank", "all"}, {"compute_us", 5}}}}});
  write("stuck.json",
        {{"schema", "photonrail.graph/1"}, {"ranks", 2}, {"tasks", {send, {{"rank", 1}, {"compute_us", 5}}}}});
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "base.json"},
                       {"axes", {{{"pointer", "/workload/graph"}, {"values", {"stuck.json", "ok.json"}}}}}});
  const Outcome first = run("sweep sweep.json");
  EXPECT_EQ(first.status, 3);
  EXPECT_THAT(first.err, AllOf(HasSubstr("point 0 (stuck.json) failed: the simulated job cannot finish"),
                               HasSubstr("1 of 2 points failed")));
  EXPECT_EQ(records(folder_ / "sweep.results")[1]["status"], "done");
  EXPECT_EQ(run("sweep sweep.json").status, 3);
}

TEST_F(Sweeps, RunsOnePointOnRequest) {
  write_sweep();
  const Outcome one = run("sweep sweep.json --point 4 --out one --trace");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(result("one/result.json")["seed"], 2);
  EXPECT_FALSE(result("one/trace.json")["traceEvents"].empty());
  EXPECT_EQ(run("sweep sweep.json --point 48").status, 2);
}

TEST_F(Sweeps, SubmitsAnArrayJobWithWhatTheProfileAndTheOptionsSay) {
  write_sweep();
  // In the place of sbatch and squeue; tests/studies/sweep/slurm_test.sh has the real ones.
  fs::create_directories(folder_ / "bin");
  std::ofstream(folder_ / "bin/sbatch") << "#!/bin/sh\necho 4711\n";
  std::ofstream(folder_ / "bin/squeue") << "#!/bin/sh\nprintf 'PENDING\\nRUNNING\\nPENDING\\n'\n";
  for (const char* program : {"sbatch", "squeue"}) fs::permissions(folder_ / "bin" / program, fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((folder_ / "bin").string() + ":" + path).c_str(), 1);
  write("profile.json", {{"schema", "photonrail.slurm/1"},
                         {"partition", "slow"},
                         {"time", "1:00:00"},
                         {"cpus_per_task", 3},
                         {"options", {"--account=physics"}}});
  const Outcome sent =
      run("sweep sweep.json --out out --set /cluster/nic/message_overhead_ns=10 --launcher slurm "
          "--profile profile.json --partition fast --points-per-task 10");
  EXPECT_EQ(sent.status, 0) << sent.err;
  EXPECT_THAT(sent.out, HasSubstr("submitted job 4711, 5 tasks"));  // 48 points, 10 a task
  const std::string script = read(folder_ / "out/slurm/job.sh");
  for (const char* line :
       {"#SBATCH --array=1-5\n", "#SBATCH --partition=fast\n", "#SBATCH --time=1:00:00\n", "#SBATCH --cpus-per-task=3\n",
        "#SBATCH --account=physics\n", " '--set' '/cluster/nic/message_overhead_ns=10' '--out' '"}) {
    EXPECT_THAT(script, HasSubstr(line));
  }
  EXPECT_THAT(run("sweep status out").out, HasSubstr("job 4711: 2 PENDING, 1 RUNNING"));
  std::ofstream(folder_ / "bin/sbatch") << "#!/bin/sh\necho no such partition >&2; exit 1\n";
  const Outcome refused = run("sweep sweep.json --out out2 --launcher slurm");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("sbatch refused the job: no such partition"));
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Sweeps, RefusesValuesThatWouldEndTheirLineInTheScriptOfSlurm) {
  write_sweep();
  const auto with = [&](const char* key, const json& value) {
    write("profile.json", {{"schema", "photonrail.slurm/1"}, {key, value}});
    return run("sweep sweep.json --out out --launcher slurm --profile profile.json");
  };
  for (const auto& [key, value, pointer] :
       {std::tuple<const char*, json, const char*>{"partition", "all\necho this line runs", "/partition"},
        {"partition", "two words", "/partition"},
        {"time", "10\necho this line runs", "/time"},
        {"time", "soon", "/time"},
        {"options", {"--account=x\recho"}, "/options/0"},
        {"options", {"-p all"}, "/options/0"}}) {
    const Outcome done = with(key, value);
    EXPECT_EQ(done.status, 2) << value;
    EXPECT_THAT(done.err, HasSubstr(std::string("profile.json: ") + pointer)) << value;
    EXPECT_FALSE(fs::exists(folder_ / "out/slurm/job.sh")) << value;
  }
  EXPECT_THAT(run("sweep sweep.json --out out --launcher slurm --time 'a b'").err, HasSubstr("--time: is not a limit"));
  EXPECT_THAT(run("sweep sweep.json --out out --launcher slurm --partition 'a b'").err, HasSubstr("--partition: is not"));
  EXPECT_FALSE(fs::exists(folder_ / "out/slurm/job.sh"));
}

TEST_F(Sweeps, SaysWhatIsWrongWithItsOptions) {
  write_sweep();
  for (const char* wrong : {"sweep", "sweep nothing.json", "sweep sweep.json --shard 5/4", "sweep sweep.json --jobs 0",
                            "sweep sweep.json --memory much", "sweep status .", "sweep merge .",
                            "sweep sweep.json --partition x", "sweep base.json"}) {
    const Outcome done = run(wrong);
    EXPECT_EQ(done.status, 2) << wrong;
    EXPECT_EQ(done.out, "") << wrong;
    EXPECT_THAT(done.err, StartsWith("photonrail: error: ")) << wrong;
  }
  EXPECT_EQ(run("sweep sweep.json --memory 1GB --jobs 2 --quiet --out q").out, "q/results.db\n");
}

// A point that takes longer than --point-limit fails, and says what would do; the others are done.
TEST_F(Sweeps, APointThatTakesTooLongFailsAlone) {
  const json base = (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/quickstart.json").string();
  write("limited.json",
        {{"schema", "photonrail.sweep/1"},
         {"base", base},
         {"axes",
          {{{"pointer", "/run/folding"}, {"values", {false}}}, {{"pointer", "/run/iterations"}, {"values", {1, 2000}}}}}});
  const std::string call = "sweep limited.json --quiet --out limited";
  const Outcome limited = run(call + " --point-limit 0.5");
  EXPECT_EQ(limited.status, 3);
  EXPECT_THAT(limited.err, HasSubstr("1 of 2 points failed"));
  const std::vector<std::string> rows = lines_of(read(folder_ / "limited/results.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[1], HasSubstr(",done,"));
  EXPECT_THAT(
      rows[2],
      HasSubstr(",failed,\"takes more than 0.5 s of processor time (a greater --point-limit, with --retry-failed)\""));
  EXPECT_THAT(run("sweep status limited").out, AllOf(HasSubstr("done          1"), HasSubstr("failed        1")));
  EXPECT_EQ(run(call).status, 3) << "failed points are not run again unasked";
}

}  // namespace
}  // namespace photonrail::test
