// Runs and sweeps say what they know: what was simulated, warnings, memory, time, ranks of a timeline.
#include "command/command.hpp"

#include <set>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Llama-3-8B in 4 layers over 4 servers of 2 GPUs, under Opus.
json opus() {
  return {{"schema", "photonrail.scenario/1"},
          {"name", "opus, provisioned"},
          {"cluster",
           {{"servers", 4},
            {"gpus_per_server", 2},
            {"gpu", {{"preset", "h100"}, {"compute_efficiency", 0.5}}},
            {"nic", {{"ports", 1}, {"port_gb_per_s", 50}}},
            {"rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 5}}}}}}},
          {"controller", {{"name", "opus"}, {"mode", "provisioned"}}},
          {"workload",
           {{"training",
             {{"model", {{"preset", "llama3_8b"}, {"layers", 4}}},
              {"sequence", 1024},
              {"global_batch", 8},
              {"parallelism", {{"tp", 2}, {"dp", 2}, {"pp", 2}}}}}}}};
}

class Knows : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    write("quick.json", opus());
  }
};

TEST_F(Knows, ARunUnderOverridesIsNotCalledWhatTheFileSays) {
  const Outcome done = run("run quick.json --set /controller/mode=on_demand --set /run/iterations=2 --out out");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("quick, mode=on_demand"), HasSubstr("mode on_demand"), Not(HasSubstr("provisioned"))));
  const json simulated = result("out/result.json")["simulated"];
  EXPECT_EQ(simulated["controller"]["policy"], "opus, mode on_demand, order scheduled");
  EXPECT_EQ(simulated["cluster"]["rail"]["reconfiguration_s"], 0.005);
  EXPECT_EQ(simulated["cluster"]["servers"], 4);
  EXPECT_EQ(simulated["overrides"], json({"/controller/mode=on_demand", "/run/iterations=2"}));
  // What leaves the name right keeps it, and a name that is given is given.
  EXPECT_THAT(run("run quick.json --set /run/iterations=2").out, HasSubstr("opus, provisioned"));
  EXPECT_THAT(run("run quick.json --set /controller/mode=on_demand --set /name=mine").out, HasSubstr("mine"));
}

TEST_F(Knows, AResultSaysWhatIsPeculiarToItsCluster) {
  json file = opus();
  file.erase("controller");
  file["cluster"]["rail"] = {{"kind", "electrical"}, {"faults", {{{"kind", "slow"}, {"rate", 0.5}, {"server", 1}}}}};
  file["cluster"]["nic"]["gpus"] = 2;
  file["cluster"]["unlike_gpus"] = {{{"servers", {0, 1}}, {"speed", 0.5}}, {{"servers", {2}}, {"gpus", {1}}, {"speed", 2}}};
  file["cluster"]["scale_up"] = {{"torus", {{"sides", {2}}}}, {"faults", {{{"gpu", 0}, {"rate", 0.5}}}}};
  write("peculiar.json", file);
  ASSERT_EQ(run("run peculiar.json --out peculiar --quiet").status, 0);
  ASSERT_EQ(run("run quick.json --out plain --quiet").status, 0);
  const json cluster = result("peculiar/result.json")["simulated"]["cluster"];
  EXPECT_EQ(cluster["rail"]["faults"], 1);
  EXPECT_EQ(cluster["gpus_per_nic"], 2);
  EXPECT_EQ(cluster["unlike_gpus"], 5);
  EXPECT_EQ(cluster["scale_up_shape"], "torus 2");
  EXPECT_EQ(cluster["scale_up_faults"], 1);
  const json plain = result("plain/result.json")["simulated"]["cluster"];
  for (const char* key : {"gpus_per_nic", "unlike_gpus", "scale_up_shape", "scale_up_protocols", "scale_up_faults"}) {
    EXPECT_FALSE(plain.contains(key)) << key;
  }
}

TEST_F(Knows, ARunAndAPointOfASweepHaveOneHash) {
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "quick.json"},
                       {"axes", {{{"pointer", "/controller/mode"}, {"values", {"provisioned", "on_demand"}}}}}});
  ASSERT_EQ(run("sweep sweep.json --out s").status, 0);
  ASSERT_EQ(run("run quick.json --set /controller/mode=on_demand --out r").status, 0);
  ASSERT_EQ(run("sweep sweep.json --point 1 --out p").status, 0);
  const std::string hash = result("r/result.json")["simulated"]["scenario_hash"];
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_THAT(read(folder_ / "s/results.csv"), HasSubstr("," + hash + ","));
  EXPECT_EQ(result("p/result.json")["simulated"]["scenario_hash"], hash);
  EXPECT_EQ(result("p/result.json")["simulated"]["overrides"], json({"/controller/mode=\"on_demand\""}));
}

TEST_F(Knows, EveryEntryPointShowsTheSameWarning) {
  const std::string set = " --set /cluster/nic/port_gb_per_s=400";
  const std::string what = "the rate of a NIC port is 400 GB/s, which no such device has";
  EXPECT_THAT(run("run quick.json" + set).err, HasSubstr(what));
  EXPECT_THAT(run("validate quick.json" + set).err, HasSubstr(what));
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "quick.json"},
                       {"axes", {{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {50, 400}}}}}});
  EXPECT_THAT(run("sweep sweep.json --dry-run").err, AllOf(HasSubstr("1 point (400 GB/s): "), HasSubstr(what)));
  EXPECT_THAT(run("sweep sweep.json --out s").err, AllOf(HasSubstr("1 point (400 GB/s): "), HasSubstr(what)));
  EXPECT_THAT(read(folder_ / "s/results.csv"), HasSubstr(what));
}

/// Months of the job, whose file has a failure of its own and an option that is never possible.
json months() {
  json file = opus();
  file["server_faults"] = json::array({{{"server", 3}, {"at_ms", 1}, {"lasts_ms", 1}}});
  file["placement"] = {{"order", {"tp", "pp", "dp"}}};
  file["reliability"] = {{"days", 1},
                         {"seeds", 2},
                         {"failures", {{{"of", "server"}, {"mtbf_h", 10}, {"repair_h", 1}}}},
                         {"recovery", {{{"action", "drop_replica"}}, {{"action", "wait"}}}}};
  return file;
}

TEST_F(Knows, MonthsWarnOfWhatTheStepIsWarnedOfAndOfFailuresThatEveryStepHas) {
  write("months.json", months());
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "months.json"},
                       {"axes", {{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {400}}}}}});
  const std::string set = " --set /cluster/nic/port_gb_per_s=400";
  const auto all_of_it = AllOf(HasSubstr("the rate of a NIC port is 400 GB/s"), HasSubstr("in every step of these months"),
                               HasSubstr("drop_replica is never possible"));
  EXPECT_THAT(run("goodput months.json" + set).err, all_of_it);
  EXPECT_THAT(run("goodput sweep.json").err, all_of_it);
  EXPECT_THAT(run("sweep sweep.json --dry-run").err, all_of_it);
  ASSERT_EQ(run("sweep sweep.json --out s --quiet").status, 0);
  EXPECT_THAT(read(folder_ / "s/results.csv"), all_of_it);
}

TEST_F(Knows, AReplicaIsDroppedWithTheFailuresOfItsServers) {
  json file = months();
  file["reliability"]["job"] = {{"replicas", 2}};
  write("months.json", file);
  const Outcome done = run("goodput months.json --out g");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(read(folder_ / "g/goodput.json"), HasSubstr("replicas 1/2"));
  file["placement"]["order"] = {"tp", "dp", "pp"};
  write("months.json", file);
  const Outcome refused = run("goodput months.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("months.json: /reliability/recovery: replicas cannot be dropped"));
}

// As a sweep does: 128 and the number of the signal, and no internal error.
TEST_F(Knows, MonthsStopOnCtrlCAndSayHowToGoOn) {
  json file = months();
  file["reliability"]["days"] = 3000;
  file["reliability"]["seeds"] = 100'000;
  write("months.json", file);
  const auto stopped = [&](const std::string& arguments) {
    const std::string line = "cd '" + folder_.string() + "' && timeout --foreground --preserve-status --signal=INT 3 '" +
                             PHOTONRAIL_COMMAND "' goodput months.json " + arguments + " >.out 2>.err";
    const int status = std::system(line.c_str());
    return Outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  };
  const Outcome kept = stopped("--out g");
  EXPECT_EQ(kept.status, 130);
  EXPECT_THAT(kept.err, HasSubstr("stopped; what is complete is kept, the same command goes on"));
  EXPECT_TRUE(fs::exists(folder_ / "g/seeds.jsonl"));
  const Outcome lost = stopped("");
  EXPECT_EQ(lost.status, 130);
  EXPECT_THAT(lost.err, HasSubstr("stopped; --out DIR keeps the histories that are complete"));
}

TEST_F(Knows, ADryRunSaysWhatDoesNotFit) {
  write("sweep.json", {{"schema", "photonrail.sweep/1"},
                       {"base", "quick.json"},
                       {"axes", {{{"pointer", "/cluster/gpu/memory_gb"}, {"values", {80, 2, 3}}}}}});
  const Outcome dry = run("sweep sweep.json --dry-run");
  ASSERT_EQ(dry.status, 0) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("GB TOO MUCH"), HasSubstr("3 points, about ")));
  EXPECT_THAT(dry.err, AllOf(HasSubstr("2 points (the first: 2 GB): the plan does not fit the GPU"),
                             HasSubstr("2 points not run, as the job does not fit its GPUs")));
}

TEST_F(Knows, ATimelineOfSomeRanks) {
  ASSERT_EQ(run("run quick.json --out out --trace --trace-ranks 0-1,7").status, 0);
  std::set<std::string> ranks;
  std::set<std::string> phases;
  const json trace = result("out/trace.json");
  for (const json& event : trace["traceEvents"]) {
    phases.insert(event["ph"].get<std::string>());
    if (event["name"] == "process_name") ranks.insert(event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(ranks, (std::set<std::string>{"rank 0", "rank 1", "rank 7", "rail 0 OCS", "rail 1 OCS", "job"}));
  EXPECT_EQ(phases, (std::set<std::string>{"X", "M", "C", "s", "f"}));
  EXPECT_THAT(run("run quick.json --out out --trace --trace-ranks 7-9").err, HasSubstr("ranks are 0 to 7"));
  EXPECT_EQ(run("run quick.json --out out --trace --trace-ranks x").status, 2);
}

}  // namespace
}  // namespace photonrail::test
