// `allocate`.
#include "command/command.hpp"
#include "support/source_dir.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::string slices(const std::string& name) {
  return "'" + std::string(PHOTONRAIL_SOURCE_DIR) + "/configs/slices/" + name + "'";
}

TEST_F(Command, AllocateSaysWhichDecisionsAreAsExpected) {
  const Outcome told = run("allocate " + slices("decisions.json"));
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("3 decisions, 3 of 3 as expected"));
  const Outcome other = run("allocate " + slices("decisions.json") + " --set /decisions/0/policy=reconfig");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.out, HasSubstr("box reconfig: placed, but a refusal is expected"));
  EXPECT_THAT(other.err, HasSubstr("decisions are not as expected"));
}

// A policy that the allocator of a data set does not know refuses everything; a refusal may be expected for any reason.
TEST_F(Command, DecisionsOfDataSetsNameUnknownPolicies) {
  const auto one = [](const char* policy, const json& dims, const json& shape, const char* idle) {
    return json{
        {"dims", dims}, {"policy", policy}, {"job_shape", shape}, {"idle", idle}, {"expect", {{"decision", "reject"}}}};
  };
  json study{{"schema", "photonrail.allocation/1"},
             {"decisions", {one("unknown", {4, 4}, {1, 1}, "ffff"), one("firstfit", {4, 4}, {4, 4}, "0fff")}}};
  write("cases.json", study);
  const Outcome told = run("allocate cases.json");
  EXPECT_EQ(told.status, 0) << told.out << told.err;
  EXPECT_THAT(told.out, HasSubstr("2 decisions, 2 of 2 as expected"));
  // A null is no reason.
  study["decisions"][0]["expect"]["reason"] = nullptr;
  study["decisions"][1]["expect"] = {{"decision", "reject"}, {"reason", "resource"}};
  study["decisions"][2] = one("firstfit", {4, 4}, {1, 1}, "ffff");
  study["decisions"][2]["expect"] = {{"decision", "admit"}, {"reason", nullptr}};
  write("cases.json", study);
  EXPECT_THAT(run("allocate cases.json").out, HasSubstr("3 decisions, 3 of 3 as expected"));
  study["decisions"][1]["expect"]["reason"] = 7;
  write("cases.json", study);
  EXPECT_THAT(run("allocate cases.json").err, HasSubstr("cases.json: /decisions/1/expect/reason: must be a string"));
  study["decisions"][0]["job_shape"] = {2, 2, 2};
  write("cases.json", study);
  EXPECT_THAT(run("allocate cases.json").err, HasSubstr("/decisions/0/job_shape: 2x2x2 has more dimensions"));
  study["decisions"][0] = one("reconfig", {6, 6}, {2, 2}, "fffffffff");
  write("cases.json", study);
  EXPECT_THAT(run("allocate cases.json").err, HasSubstr("/decisions/0/policy: pod.block: 4 does not divide"));
}

TEST_F(Command, AllocateWritesMapsOfThePod) {
  const Outcome told =
      run("allocate " + slices("tpu-v4-queue.json") +
          " --set /jobs/drawn/count=60 --set '/policies=[\"ocs_cubes\"]' --set '/orders=[\"backfill\"]' --out out");
  ASSERT_EQ(told.status, 0) << told.err;
  const json result = json::parse(read(folder_ / "out/result.json"));
  EXPECT_EQ(result["schema"], "photonrail.allocation_result/1");
  EXPECT_EQ(result["streams"][0]["runs"], 60);
  const std::string map = read(folder_ / "out/map-ocs_cubes-backfill.svg");
  EXPECT_THAT(map, HasSubstr("<title>job 59"));
  EXPECT_THAT(map, HasSubstr("48 circuits"));         // a cube of its own: three dimensions of 16 that are closed
  EXPECT_THAT(map, HasSubstr("class=\"circuits\""));  // over time
  EXPECT_THAT(map, HasSubstr("class=\"joined\""));    // cubes of a slice
  if (fs::exists(folder_ / "out/index.html")) {       // the build has a page
    EXPECT_THAT(read(folder_ / "out/index.html"), HasSubstr("\"id\":\"map-ocs_cubes-backfill\""));
  }
  const std::string jobs = read(folder_ / "out/jobs-ocs_cubes-backfill.csv");
  EXPECT_EQ(std::count(jobs.begin(), jobs.end(), '\n'), 61);
  // The jobs of the result are a file of jobs too.
  write("again.json", {{"schema", "photonrail.allocation/1"},
                       {"pod", {{"torus", {4, 4}}, {"server", {1, 1}}}},
                       {"policies", {"bestfit"}},
                       {"orders", {"fifo"}},
                       {"jobs", {{"csv", "jobs.csv"}}}});
  std::ofstream(folder_ / "jobs.csv") << "shape,arrival_s,duration_s,accelerators\n2x4,0,10,\n,1,5,16\n1x1,2,3,\n";
  const Outcome again = run("allocate again.json --json");
  ASSERT_EQ(again.status, 0) << again.err;
  // 8 of 16 for 10 s, all for 5, one for 3: 80 + 80 + 3 of 16 x 18.
  EXPECT_DOUBLE_EQ(json::parse(again.out)["streams"][0]["utilisation"], 163.0 / (16 * 18));
}

TEST_F(Command, EveryConfigurationOfSlicesRuns) {
  for (const auto& entry : fs::directory_iterator(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/slices")) {
    const Outcome told = run("allocate '" + entry.path().string() + "' --json");
    ASSERT_EQ(told.status, 0) << entry.path() << told.err;
    EXPECT_NE(json::parse(read(entry.path()))["why"], "") << entry.path();
    EXPECT_EQ(json::parse(told.out)["schema"], "photonrail.allocation_result/1");
  }
}

TEST_F(Command, AllocateSaysWhatIsWrong) {
  const json good{{"schema", "photonrail.allocation/1"},
                  {"pod", {{"torus", {4, 4, 4}}}},
                  {"policies", {"firstfit"}},
                  {"orders", {"fifo"}},
                  {"jobs", {{"list", {{{"arrival_s", 0}, {"duration_s", 1}, {"shape", {2, 2, 1}}}}}}}};
  const std::vector<std::pair<std::string, std::string>> cases{
      {"/schema=x", "/schema: unknown schema"},
      {"/pods=1", "/pods"},
      {"/pod/torus=[4,0,4]", "/pod/torus/1"},
      {"/pod/torus=[1048576,2]", "/pod/torus: has more than 1048576 accelerators"},
      {"/policies=[\"first_fit\"]", "/policies/0: unknown allocator \"first_fit\" (did you mean"},
      {"/policies=[\"reconfig\"]&/pod/block=3", "/policies/0: pod.block: 3 does not divide the torus 4x4x4"},
      {"/policies=[\"photonic\"]&/pod/server=[3,1,1]", "does not fill a block of 4"},
      {"/orders=[\"lifo\"]", "/orders/0: unknown value \"lifo\""},
      {"/jobs/list/0/shape=[2,2,1,1]", "/jobs/list/0/shape: has 4 sides"},
      {"/jobs/list/0/accelerators=4", "wants a shape or a number"},
      {"/jobs/list/0/duration_s=0", "/jobs/list/0/duration_s"},
      {"/preempt=true", "good.json: /preempt: is for the order"},
      {"/orders=[]&/jobs={\"list\":[{\"arrival_s\":0,\"duration_s\":1,\"accelerators\":4}]}",
       "good.json: /jobs: a request has no shape"},
      {"/jobs={\"drawn\":{\"count\":0,\"slices\":\"tpu_v4\"}}", "/jobs/drawn/count"},
      {"/jobs={\"drawn\":{\"count\":10,\"slices\":[]}}", "slices"},
      {"/jobs={\"csv\":\"none.csv\"}", "none.csv"},
      {"/failures={\"mean_between_h\":1}", "/failures"},
      {"/jobs/list/0/shape=[2,2,2]&/pod/torus=[4,4]", "/jobs/list/0/shape: 2x2x2 has more dimensions than the torus 4x4"},
      {"/failures={\"mean_between_h\":1,\"mean_repair_h\":1,\"spares\":{}}", "/failures/spares: needs one kind"},
      {"/failures={\"mean_between_h\":1,\"mean_repair_h\":1,\"spares\":{\"racks\":1}}", "/failures/spares: leave nothing"},
  };
  write("good.json", good);
  EXPECT_EQ(run("allocate good.json").status, 0);
  for (const auto& [set, what] : cases) {
    std::string options;
    for (std::size_t at = 0; at <= set.size();) {
      const std::size_t end = std::min(set.find('&', at), set.size());
      options += " --set '" + set.substr(at, end - at) + "'";
      at = end + 1;
    }
    const Outcome told = run("allocate good.json" + options);
    EXPECT_EQ(told.status, 2) << set << told.err;
    EXPECT_THAT(told.err, HasSubstr(what)) << set;
    EXPECT_EQ(told.out, "") << set;
  }
  std::ofstream(folder_ / "bad.csv") << "shape,arrival_s,duration_s\n2x2x1,zero,1\n";
  EXPECT_THAT(run("allocate good.json --set '/jobs={\"csv\":\"bad.csv\"}'").err,
              HasSubstr("bad.csv:2: \"zero\" is no number"));
}

// A job of 1,000 h that saves every 100 h on servers that fail every minute.
TEST_F(Command, AllocateOfAJobThatNeverEndsIsExit3) {
  write("stuck.json", {{"schema", "photonrail.allocation/1"},
                       {"pod", {{"torus", {4, 4}}, {"server", {1, 1}}}},
                       {"policies", {"firstfit"}},
                       {"orders", {"fifo"}},
                       {"failures", {{"mean_between_s", 60}, {"mean_repair_s", 1}, {"checkpoint_h", 100}}},
                       {"jobs", {{"list", {{{"arrival_s", 0}, {"duration_s", 3600000}, {"shape", {2, 2}}}}}}}});
  const Outcome told = run("allocate stuck.json");
  EXPECT_EQ(told.status, 3) << told.err;
  EXPECT_THAT(told.err, HasSubstr("job 0 (2x2) was stopped"));
}

}  // namespace
}  // namespace photonrail::test
