// Controllers and collectives of a user in a shared library: what the command makes of `--plugin`.
#include "photonrail/plugin.hpp"

#include "command/command.hpp"
#include "photonrail/version.hpp"
#include "support/source_dir.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string library(const std::string& name) { return std::string(PHOTONRAIL_PLUGINS "/plugin_") + name + ".so"; }
std::string with(const std::string& name) { return "--plugin '" + library(name) + "' "; }

class Plugin : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    for (const char* file : {"my_policy.json", "my_sweep.json"}) {
      fs::copy_file(fs::path(PHOTONRAIL_SOURCE_DIR) / "docs/examples" / file, folder_ / file);
    }
  }
};

TEST_F(Plugin, HeadersAndLibraryAreOfOneVersion) { EXPECT_EQ(PHOTONRAIL_HEADER_VERSION, version()); }

TEST_F(Plugin, IsListedRunAndValidated) {
  EXPECT_THAT(run("list controllers").out, Not(HasSubstr("oldest_first")));
  EXPECT_THAT(run(with("oldest_first") + "list controllers").out, HasSubstr("oldest_first   one demand after another"));
  EXPECT_THAT(run(with("oldest_first") + "validate my_policy.json").out, HasSubstr("controller oldest_first"));
  // Three all-reduces of 400 MB over 4 GPUs, 2 x 3 steps of 100 MB at 50 GB/s each: 36 ms. The ring is lit once: 10 ms.
  const Outcome done = run("run my_policy.json " + with("oldest_first") + "--out out");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_DOUBLE_EQ(result("out/result.json")["makespan_s"].get<double>(), 0.046);
  const auto plugins = result("out/result.json")["plugins"];
  ASSERT_EQ(plugins.size(), 1U);
  EXPECT_EQ(plugins[0]["file"], "plugin_oldest_first.so");
  EXPECT_EQ(plugins[0]["hash"].get<std::string>().size(), 16U);
  EXPECT_THAT(run("run my_policy.json").err, HasSubstr("there is no controller 'oldest_first'"));
}

TEST_F(Plugin, SeveralAreLoadedTogether) {
  const std::string both = with("oldest_first") + with("own_ring");
  EXPECT_THAT(run(both + "list controllers").out, ::testing::AllOf(HasSubstr("oldest_first"), HasSubstr("lights_once")));
  EXPECT_THAT(run(both + "list collectives").out, HasSubstr("a ring of the caller"));
  const Outcome done = run(both + "run my_policy.json --out out --set /workload/collective/algorithm=own_ring");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_DOUBLE_EQ(result("out/result.json")["makespan_s"].get<double>(), 0.046);
}

TEST_F(Plugin, IsSweptComparedAndReported) {
  const Outcome swept = run(with("oldest_first") + "sweep my_sweep.json --out swept");
  EXPECT_EQ(swept.status, 0) << swept.err;
  // 36 ms of bytes and one delay of 100 ms.
  EXPECT_THAT(read(folder_ / "swept/results.csv"), ::testing::ContainsRegex("100,oldest_first[^\n]*,0\\.136[,\n]"));
  EXPECT_EQ(run(with("oldest_first") + "compare swept swept").status, 0);
  EXPECT_EQ(run("report swept --format csv --out figures").status, 0);
  const Outcome again = run(with("oldest_first") + "sweep my_sweep.json --out swept");
  EXPECT_THAT(again.err, HasSubstr("12 points are there already"));
}

// The same names from a library that was built anew: no point of the folder is taken for a result of it.
TEST_F(Plugin, ASweepKnowsTheStateOfItsPlugins) {
  fs::copy_file(library("oldest_first"), folder_ / "mine.so");
  const std::string sweep = "--plugin ./mine.so sweep my_sweep.json --out swept";
  ASSERT_EQ(run(sweep).status, 0);
  fs::permissions(folder_ / "mine.so", fs::perms::owner_all);
  std::ofstream(folder_ / "mine.so", std::ios::app | std::ios::binary) << "built anew";  // after what the loader reads
  const Outcome done = run(sweep);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, Not(HasSubstr("are there already")));
  EXPECT_THAT(done.err, Not(HasSubstr("are the same")));
  EXPECT_EQ(run("--plugin ./mine.so sweep my_sweep.json --out swept").status, 0);
}

// A stand-in for Slurm's sbatch, which says the number of the job; then the task as a node would run it, in another folder.
TEST_F(Plugin, TasksOfSlurmLoadItToo) {
  fs::copy_file(library("oldest_first"), folder_ / "mine.so");
  std::ofstream(folder_ / "sbatch") << "#!/bin/sh\necho 42\n";
  fs::permissions(folder_ / "sbatch", fs::perms::owner_all);
  const char* const path = std::getenv("PATH");
  ::setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
  const std::string before = path;
  const Outcome sent = run("--plugin ./mine.so sweep my_sweep.json --out swept --launcher slurm --points-per-task 12");
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_EQ(sent.status, 0) << sent.err;
  const std::string script = read(folder_ / "swept/slurm/job.sh");
  EXPECT_THAT(script, HasSubstr(" '--plugin' '" + (folder_ / "mine.so").string() + "' '--work-limit' 'none' 'sweep' '"));
  const std::string line = "cd / && SLURM_ARRAY_TASK_ID=1 bash '" + (folder_ / "swept/slurm/job.sh").string() + "' >'" +
                           (folder_ / "log").string() + "' 2>&1";
  ASSERT_EQ(std::system(line.c_str()), 0) << read(folder_ / "log");
  EXPECT_EQ(run("sweep merge swept").status, 0);
  EXPECT_THAT(read(folder_ / "swept/results.csv"), ::testing::ContainsRegex("100,oldest_first[^\n]*,0\\.136[,\n]"));
}

TEST_F(Plugin, WhatTheFuzzerFindsTheCommandRepeats) {
  EXPECT_EQ(run(with("oldest_first") + "fuzz oldest_first --cases 20").out,
            "20 small jobs under oldest_first: no promise is broken\n");
  const Outcome found = run(with("one_way") + "fuzz one_way --cases 200 --out case.json");
  EXPECT_EQ(found.status, 1);
  const std::string repeat = "--plugin " + library("one_way") + " run case.json";
  EXPECT_THAT(found.err, HasSubstr("the policy one_way breaks \"every job finishes\""));
  EXPECT_THAT(found.err, HasSubstr("repeat it with: photonrail " + repeat + "\n"));
  const Outcome again = run(repeat);
  EXPECT_EQ(again.status, 3);
  EXPECT_THAT(again.err, HasSubstr("waits for a circuit from rank"));
}

TEST_F(Plugin, SchedulersAreFuzzedByServedRequests) {
  EXPECT_EQ(run(with("my_agent") + "fuzz one_at_a_time --cases 20").out,
            "20 small jobs under one_at_a_time: no promise is broken\n");
  const Outcome found = run(with("wrong_agents") + "fuzz wrong --cases 20 --out wrong.json");
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.err, HasSubstr("the scheduler wrong breaks a promise: "));
  EXPECT_NE(run("--plugin " + library("wrong_agents") + " run wrong.json").status, 0);
}

TEST_F(Plugin, WhatCannotBeLoadedIsAnErrorThatSaysWhy) {
  const auto fails = [&](const std::string& plugin, const std::string& why) {
    const Outcome outcome = run("--plugin '" + plugin + "' list controllers");
    EXPECT_EQ(outcome.status, 2) << plugin;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr("--plugin " + plugin), HasSubstr(why)));
  };
  fails("nowhere.so", "there is no such file");
  fails(".", "is a directory");
  fails("my_policy.json", "cannot be loaded: ");
  fails(library("no_entry"), "has no entry point photonrail_plugin (write PHOTONRAIL_PLUGIN(known)");
  fails(library("other_version"),
        "was built for another version: photonrail 0.0.9; this is photonrail " + std::string(version()));
  fails(library("throws"), "failed to register its names: no licence today");
  fails(library("throws_no_exception"), "something that is no std::exception was thrown");
  fails(library("name_twice"), "there is already a controller \"opus\"");
  EXPECT_THAT(run(with("oldest_first") + with("oldest_first") + "list controllers").err,
              HasSubstr("there is already a controller \"oldest_first\""));
}

TEST_F(Plugin, WhatAControllerDoesWrongNamesItAndItsPlugin) {
  const auto fails = [&](const std::string& plugin, const std::string& options, const std::string& name,
                         const std::string& why) {
    const Outcome outcome = run(with(plugin) + options + " run my_policy.json --set /controller/name=" + name);
    EXPECT_EQ(outcome.status, 2) << plugin;
    EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr("--plugin " + library(plugin)),
                                              HasSubstr("controller \"" + name + "\""), HasSubstr(why)));
  };
  fails("no_make", "", "mine", "has no function that makes it");
  fails("null_controller", "", "mine", "make returned no controller");
  fails("throws_deciding", "", "mine", "decide() threw something that is no std::exception");
  fails("endless", "--decision-limit 0.2", "endless", "one decision takes more than 0.2 s of the processor");
  fails("endless", "--decision-limit 0.1", "asleep", "one decision takes more than 1 s by the clock on the wall");
}

TEST_F(Plugin, AnAgentAndASchedulerAreKnownByName) {
  fs::copy_file(fs::path(PHOTONRAIL_SOURCE_DIR) / "docs/examples/my_agent.json", folder_ / "my_agent.json");
  EXPECT_THAT(run(with("my_agent") + "list agents").out, HasSubstr("adaptive_batch"));
  EXPECT_THAT(run(with("my_agent") + "list schedulers").out, HasSubstr("one_at_a_time"));
  EXPECT_EQ(run(with("my_agent") + "validate my_agent.json").status, 0);
  // As docs/examples/adaptive_batch.cpp: 100 samples of 1 ms, and 8 all-reduces of 100 MB among four, 3 ms each.
  const Outcome done = run(with("my_agent") + "run my_agent.json --out out");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_DOUBLE_EQ(result("out/result.json")["makespan_s"].get<double>(), 0.124);
  EXPECT_THAT(run("run my_agent.json").err, HasSubstr("/workload/agent/name: unknown agent \"adaptive_batch\""));
  fs::copy_file(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/serving/quickstart.json", folder_ / "served.json");
  const std::string served =
      "run served.json --set /workload/serving/requests/count=100 --set /workload/serving/engine/scheduler=";
  EXPECT_EQ(run(with("my_agent") + served + "one_at_a_time").status, 0);
  EXPECT_THAT(run(served + "one_at_a_time").err, HasSubstr("/workload/serving/engine/scheduler: unknown scheduler"));
}

TEST_F(Plugin, WhatAnAgentDoesWrongNamesItAndItsPlugin) {
  fs::copy_file(fs::path(PHOTONRAIL_SOURCE_DIR) / "docs/examples/my_agent.json", folder_ / "wrong.json");
  const auto fails = [&](const std::string& name, int status, const std::string& why, const std::string& options = "") {
    const Outcome outcome = run(with("wrong_agents") + options + " run wrong.json --set /workload/agent='{\"name\": \"" +
                                name + "\", \"most_events\": 1000}'");
    EXPECT_EQ(outcome.status, status) << name;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << name;
  };
  const std::string of = "wrong_agents.so: agent ";
  fails("null", 2, of + "\"null\": AgentFactory::make returned no agent");
  fails("unmade", 2, of + "\"unmade\": AgentFactory::make failed: no licence today");
  fails("throws", 2, of + "\"throws\": on() failed: no such thing");
  fails("throws_a_number", 2, of + "\"throws_a_number\": on() threw something that is no std::exception");
  fails("endless", 2, of + "\"endless\": one decision takes more than 0.2 s of the processor; on() must end",
        "--decision-limit 0.2");
  fails("strange_rank", 2,
        "wrong.json: /workload: launches something on rank 4, which its job does not have (it has 4 ranks)");
  fails("never_ends", 3, "the agent never_ends was told of 1000 events");
  fails("idle", 3, "waits for Godot");
}

TEST_F(Plugin, WhatASchedulerDoesWrongNamesItAndItsPlugin) {
  fs::copy_file(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/serving/quickstart.json", folder_ / "served.json");
  const auto fails = [&](const std::string& name, const std::string& why) {
    const Outcome outcome = run(with("wrong_agents") + "--decision-limit 0.2 run served.json " +
                                "--set /workload/serving/engine/scheduler=" + name);
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr("wrong_agents.so: scheduler \"" + name + "\": " + why));
  };
  fails("none", "SchedulerFactory::make returned no scheduler");
  fails("wrong", "decide() threw something that is no std::exception");
  fails("endless", "one decision takes more than 0.2 s of the processor; decide() must end");
}

TEST_F(Plugin, ALibraryThatIsCutOffIsNotLoaded) {
  fs::copy_file(library("oldest_first"), folder_ / "cut.so");
  fs::permissions(folder_ / "cut.so", fs::perms::owner_all);
  for (std::uintmax_t size = fs::file_size(folder_ / "cut.so"); size > 100; size = size * 2 / 3) {
    fs::resize_file(folder_ / "cut.so", size);
    const Outcome outcome = run("--plugin ./cut.so list controllers");
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 2) << size << ": " << outcome.status;
    if (outcome.status == 2) {
      EXPECT_THAT(outcome.err, HasSubstr("--plugin ./cut.so: ")) << size;
    }
  }
}

}  // namespace
}  // namespace photonrail::test
