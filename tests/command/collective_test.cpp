// `collective info|export|synthesize`, and their files in scenarios.
#include "command/command.hpp"
#include "support/sanitizers.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

json square() {
  json links = json::array();
  for (int node = 0; node < 4; ++node)
    links.push_back({{"from", node}, {"to", (node + 1) % 4}, {"gb_per_s", 50}, {"both_ways", true}});
  return {{"schema", "photonrail.topology/1"}, {"nodes", 4}, {"send_ports", 1}, {"receive_ports", 1}, {"links", links}};
}

TEST_F(Command, CollectiveExportRunsInAScenario) {
  const Outcome made = run("collective export --op all_reduce --algorithm ring --ranks 4 -o ring.xml");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("sends           24\n"));
  EXPECT_THAT(made.out, HasSubstr("wrote ring.xml\n"));
  const Outcome info = run("collective info ring.xml");
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, StartsWith("ring.xml: a correct all_reduce\n"));
  EXPECT_THAT(info.out, HasSubstr("sends in a row  6\n"));

  json scenario = tiny("file");
  scenario["workload"]["collective"]["algorithm"] = {{"msccl", "ring.xml"}};
  write("a.json", scenario);
  const Outcome done = run("run a.json --out a");
  ASSERT_EQ(done.status, 0) << done.err;
  // A ring of 4: 2 * 3 steps of 250 kB at 50 GB/s = 6 * 5 us.
  EXPECT_NEAR(result("a/result.json")["makespan_s"], 30e-6, 1e-9);
}

// A plan of several rounds may join a pair in more than one; a file has no rounds.
TEST_F(Command, CollectiveExportAndInfoCountPairsAlike) {
  const Outcome made = run("collective export --op all_reduce --algorithm halving_doubling --ranks 8 -o doubling.xml");
  ASSERT_EQ(made.status, 0) << made.err;
  // Each member meets those that differ in one of three bits: 8 x 3, on the way down and on the way up.
  EXPECT_THAT(made.out, HasSubstr("pairs           24\n"));
  EXPECT_THAT(run("collective info doubling.xml").out, HasSubstr("pairs           24\n"));
}

TEST_F(Command, CollectiveExportToStandardOutput) {
  const Outcome made = run("collective export --op broadcast --algorithm ring --ranks 3 --chunks 2");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith("<algo name=\"ring_broadcast\""));
  EXPECT_THAT(made.out, HasSubstr("nchunksperloop=\"2\""));
}

// The all-gather of a direct all-reduce waits for all of its reduce-scatter: 1024 x 1023 sends wait for 1023 each, and an
// XML step waits for one other.
TEST_F(Command, CollectiveExportIsRefusedWhereItTakesMoreThanTheMachineHas) {
  const Outcome refused = run("collective export --op all_reduce --algorithm direct --ranks 1024 -o direct.xml");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("collective export: would take more memory than this machine's "));
  EXPECT_THAT(refused.err, HasSubstr("(waits of sends: 1.07e+09, memory: up to 858 GB)"));
  EXPECT_THAT(refused.err, HasSubstr("--work-limit none"));
  EXPECT_FALSE(fs::exists(folder_ / "direct.xml"));
}

// The file is begun when the plan is proven: what is stopped before leaves nothing.
TEST_F(Command, CollectiveExportThatIsStoppedLeavesNothing) {
  const Outcome stopped =
      run("collective export --op all_to_all --algorithm pairwise --ranks 2000 -o big.xml >.out 2>.err & "
          "sleep 1; kill -TERM $!; wait $!; exit $?; :");
  EXPECT_EQ(stopped.status, 143) << stopped.err;
  for (const auto& file : fs::directory_iterator(folder_)) EXPECT_NE(file.path().filename().string().substr(0, 3), "big");
}

// What each of 65,280 messages follows is not kept of all at once: that grows with the cube of the ranks, and takes 420 MB
// here.
TEST_F(Command, CollectiveExportProvesAPlanInLittleMemory) {
  if (PHOTONRAIL_SANITIZED) GTEST_SKIP() << "reserves terabytes of addresses";
  const std::string line = "cd '" + folder_.string() +
                           "' && ulimit -v 250000 && '" PHOTONRAIL_COMMAND
                           "' collective export --op all_to_all --algorithm pairwise --ranks 256 -o plan.xml >.out 2>.err";
  EXPECT_EQ(std::system(line.c_str()), 0) << read(folder_ / ".err");
  EXPECT_GT(fs::file_size(folder_ / "plan.xml"), 30'000'000u);
}

TEST_F(Command, CollectiveSynthesize) {
  write("square.json", square());
  const Outcome made = run("collective synthesize square.json --op all_gather --bytes 1000000 -o plan.xml");
  ASSERT_EQ(made.status, 0) << made.err;
  // One port: three shards of 1 MB at 50 GB/s one after another, 60 us.
  EXPECT_THAT(made.out, HasSubstr("time by the links alone  60.00 us\n"));
  EXPECT_EQ(run("collective info plan.xml").status, 0);
  EXPECT_EQ(run("collective synthesize square.json --op all_gather --bytes 1000000").out, read(folder_ / "plan.xml"));

  write("sketch.json", {{"schema", "photonrail.sketch/1"},
                        {"links", {{"only", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}}},
                        {"symmetries", {{{"offset", 1}, {"group", 4}}}}});
  const Outcome ring = run("collective synthesize square.json --op all_gather --sketch sketch.json -o ring.xml");
  ASSERT_EQ(ring.status, 0) << ring.err;
  EXPECT_THAT(ring.out, HasSubstr("pairs           4\n"));
}

TEST_F(Command, CollectiveErrors) {
  write("square.json", square());
  write("broken.json", {{"schema", "photonrail.topology/1"}, {"nodes", 2}, {"links", json::array()}});
  std::ofstream(folder_ / "broken.xml") << "<algo coll=\"allreduce\" ngpus=\"2\"/>";
  const auto told = [&](const std::string& arguments) {
    const Outcome done = run("collective " + arguments);
    EXPECT_EQ(done.status, 2) << arguments;
    EXPECT_EQ(done.out, "") << arguments;
    return done.err;
  };
  EXPECT_THAT(told("info absent.xml"), HasSubstr("absent.xml"));
  EXPECT_THAT(told("info broken.xml"), HasSubstr("broken.xml: line 1: <algo> has no nchunksperloop"));
  EXPECT_THAT(told("export --op all_reduce --algorithm rings --ranks 4"), HasSubstr("did you mean ring"));
  EXPECT_THAT(told("export --op allreduce --algorithm ring --ranks 4"), HasSubstr("did you mean all_reduce"));
  EXPECT_THAT(told("export --op all_reduce --algorithm pairwise --ranks 4"),
              HasSubstr("pairwise cannot do all_reduce among 4"));
  EXPECT_THAT(told("export --op gather --algorithm direct --ranks 4"), HasSubstr("MSCCL has no gather"));
  EXPECT_THAT(told("synthesize broken.json --op all_gather"), HasSubstr("broken.json: /links: some nodes cannot reach"));
  EXPECT_THAT(told("synthesize square.json --op broadcast"), HasSubstr("cannot synthesize broadcast"));
}

}  // namespace
}  // namespace photonrail::test
