// `collective info|export|synthesize`, and their files in scenarios.
#include "command/command.hpp"

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
