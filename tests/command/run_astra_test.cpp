// ASTRA-sim's inputs through the command: cycles as its log has them, and a scenario to go on with.
#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class AstraCommand : public Command {
 protected:
  // The all-reduce of 1 MB among 4 as Chakra traces; links of 1 byte a ns, memory of 1 byte a ns.
  void SetUp() override {
    Command::SetUp();
    write("job.json", tiny("job"));
    ASSERT_EQ(run("trace export job.json --prefix w").status, 0);
    write("system.json", {{"scheduling-policy", "LIFO"},
                          {"endpoint-delay", 5},
                          {"active-chunks-per-dimension", 1},
                          {"preferred-dataset-splits", 1},
                          {"all-reduce-implementation", {"ring"}},
                          {"collective-optimization", "localBWAware"},
                          {"local-mem-bw", 1}});
    std::ofstream(folder_ / "network.yml")
        << "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 0.931322574615478515625 ]\nlatency: [ 10 ]\n";
  }

  const std::string files_ = " --network network.yml --workload w --comm-group w.json";
};

TEST_F(AstraCommand, PrintsTheCyclesOfEveryRankAndWritesThem) {
  const Outcome outcome = run("run --astra system.json" + files_ + " --out out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  // 5, then 3 steps with 250,000 + 10 + 5 and 3 x 250,000 to reduce, then 3 without: 3,750,095.
  EXPECT_THAT(outcome.out, HasSubstr("sys[3] finished, 3750095 cycles, exposed communication 3750095 cycles."));
  EXPECT_THAT(read(folder_ / "out" / "log.log"), HasSubstr("[workload] [info] sys[0] finished, 3750095 cycles"));
  const json written = result("out/result.json");
  EXPECT_EQ(written["backend"], "congestion_unaware");
  EXPECT_EQ(written["finish_cycles"], json({3750095, 3750095, 3750095, 3750095}));
  EXPECT_EQ(run("run --astra system.json" + files_ + " --backend aware").status, 0);
}

TEST_F(AstraCommand, ImportsAScenarioThatOneEditMakesOptical) {
  const Outcome outcome = run("import astra --system system.json" + files_ + " -o scenario.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(run("run scenario.json --quiet --out electrical").status, 0);
  const Outcome optical =
      run("run scenario.json --quiet --out optical --set '/cluster/rail={\"kind\": \"optical\", \"switch\": "
          "{\"reconfiguration_ms\": 1}}'"
          " --set '/controller={\"name\": \"opus\"}'");
  ASSERT_EQ(optical.status, 0) << optical.err;
  EXPECT_GT(result("optical/result.json")["makespan_s"], result("electrical/result.json")["makespan_s"]);
}

TEST_F(AstraCommand, SaysWhatIsMissing) {
  EXPECT_EQ(run("run --astra system.json").status, 2);
  EXPECT_EQ(run("run").status, 2);
  EXPECT_EQ(run("run job.json --astra system.json" + files_).status, 2);
  EXPECT_THAT(run("run --astra none.json" + files_).err, HasSubstr("none.json"));
}

}  // namespace
}  // namespace photonrail::test
