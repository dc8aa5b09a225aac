// Mistakes on the command line.
#include "command/mistakes.hpp"

#include "command/command.hpp"

namespace photonrail::test {

const std::vector<Mistake>& mistakes_on_the_command_line() {
  static const std::vector<Mistake> list{
      {"a command with a typo", "rnu good.json", "has no command \"rnu\" (did you mean run?)"},
      {"a command in capitals", "Run good.json", "did you mean run"},
      {"a command of another program", "simulate good.json", "known: run, serve, sweep"},
      {"no command", "", "A subcommand is required"},
      {"a command of a command with a typo", "trace exprt good.json",
       "photonrail trace has no command \"exprt\" (did you mean export?)"},
      {"an option with a typo", "run good.json --quite", "photonrail run has no option --quite (did you mean --quiet?)"},
      {"an option in capitals", "run good.json --Out x", "did you mean --out"},
      {"an option with underscores", "run good.json --ccl_bench --out x", "did you mean --ccl-bench?"},
      {"an option of another command", "run good.json --jobs 4", "photonrail run has no option --jobs"},
      {"a file that is not there", "run good.jsn", "good.jsn"},
      {"a folder for a file", "run folder", "folder"},
      {"an empty file", "run empty.json", "the file is empty"},
      {"a file that is no JSON", "run text.json", "text.json"},
      {"a trailing comma", "run comma.json", "comma.json:1"},
      {"no file", "run", "SCENARIO.json is required"},
      {"a sweep for run", "run sweep.json", "a sweep is for `photonrail sweep`"},
      {"a scenario for sweep", "sweep good.json", "a scenario is for `photonrail run`"},
      {"a result for run", "run result.json", "a result is for `photonrail report` and `compare`"},
      {"a model for run", "run model.json", "named by a scenario, at /workload/training/model"},
      {"a scenario for report", "report good.json", "good.json"},
      {"a scenario for compare", "compare good.json good.json", "is not photonrail.result/1"},
      {"a folder without results", "report folder", "folder"},
      {"a trace without a folder", "run good.json --trace", "--out"},
      {"ranks that are not there", "run good.json --out out --trace --trace-ranks 0-99", "ranks are 0 to "},
      {"an override without a value", "run good.json --set /cluster/servers", "write /json/pointer=value"},
      {"an override with dots", "run good.json --set cluster.servers=8", "for example /cluster/servers=4"},
      {"an override of a key that is none", "run good.json --set /cluster/server=8", "did you mean servers"},
      {"an override below a number", "run good.json --set /cluster/servers/n=8", "--set cannot go below /cluster/servers"},
      {"an override with broken JSON", "run good.json --set '/cluster/nic={\"ports\": 1'", "broken JSON"},
      {"an override with a unit", "run good.json --set /cluster/nic/latency_us=5us", "must be a number"},
      {"a list of a kind that is none", "list controler", "controllers"},
      {"a point that is not there", "sweep sweep.json --point 7", "the points are 0 to 1"},
      {"a shard that is none", "sweep sweep.json --shard 3/2", "for example 2/8"},
      {"a launcher that is none", "sweep sweep.json --launcher pbs", "slurm"},
      {"a format that is none", "report folder --format jpeg", "png"},
      {"a schema that is none", "schema scenarios", "scenario"},
      {"a shell that is none", "completion tcsh", "bash"},
      {"a plug-in that is not there", "--plugin libmine.so list controllers", "there is no such file"},
      {"a plug-in that is no library", "--plugin good.json list controllers", "c++ -std=c++20 -shared -fPIC"},
      {"prices of a catalogue that is none", "cost good.json --catalogue h300_400g", "h200_400g"},
      {"GPUs and a scenario", "cost good.json --gpus 512", "--gpus"},
      {"a step without a time", "calibrate good.json", "--step-s is required"},
      {"an init over a file that is there", "init good.json --servers 2", "is there already"},
      {"an init with a model that is none", "init --model llama4", "there is no model"},
  };
  return list;
}

namespace {

class CommandMistakes : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    write("good.json", tiny("good"));
    write("sweep.json", {{"schema", "photonrail.sweep/1"},
                         {"base", "good.json"},
                         {"axes", {{{"pointer", "/cluster/nic/latency_ns"}, {"values", {1, 10}}}}}});
    write("result.json", {{"schema", "photonrail.result/1"}});
    write("model.json", {{"schema", "photonrail.model/1"}});
    std::ofstream(folder_ / "empty.json") << "\n";
    std::ofstream(folder_ / "text.json") << "servers: 4\n";
    std::ofstream(folder_ / "comma.json") << R"({"schema": "photonrail.scenario/1",})";
    fs::create_directory(folder_ / "folder");
  }
};

TEST_F(CommandMistakes, EachSaysWhatWouldDo) {
  for (const Mistake& mistake : mistakes_on_the_command_line()) {
    const Outcome outcome = run(mistake.change);
    EXPECT_EQ(outcome.status, mistake.status) << mistake.what << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(mistake.says)) << mistake.what;
    EXPECT_EQ(outcome.out, "") << mistake.what;
  }
}

TEST_F(CommandMistakes, ThereAreMoreThanOneWouldThinkOf) {
  EXPECT_GE(mistakes_on_the_command_line().size() + mistakes_in_scenarios().size() + mistakes_in_training_jobs().size() +
                mistakes_in_sweeps().size(),
            79u);
}

TEST_F(CommandMistakes, WordsOfAListAreTakenInAnyCase) {
  EXPECT_EQ(run("list Controllers").status, 0);
  EXPECT_EQ(run("schema MODEL").status, 0);
}

// The unit of an override may be another one than that of the file.
TEST_F(CommandMistakes, AnOverrideMayHaveAnotherUnit) {
  json slow = tiny("slow");
  slow["cluster"]["nic"]["latency_ns"] = 0;
  write("slow.json", slow);
  ASSERT_EQ(run("run slow.json --quiet --out ns --set /cluster/nic/latency_ns=7000").status, 0);
  ASSERT_EQ(run("run slow.json --quiet --out us --set /cluster/nic/latency_us=7").status, 0);
  EXPECT_EQ(result("us/result.json")["makespan_s"], result("ns/result.json")["makespan_s"]);
  write("in_us.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "slow.json"},
                       {"axes", {{{"pointer", "/cluster/nic/latency_us"}, {"values", {0, 7}}}}}});
  ASSERT_EQ(run("sweep in_us.json --out swept --quiet").status, 0);
}

}  // namespace
}  // namespace photonrail::test
