// `run` says when another setting of the controller makes the run shorter, and `rehearse` takes that setting.
#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Rank 2 reduces with rank 1, which computes for 30 ms before that, and sends twice to rank 0: see OpusSettings.
json early_request() {
  json job = tiny("early request");
  job["cluster"]["servers"] = 3;
  job["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 20}}}};
  job["executor"] = {{"comm_lanes", "one"}};
  job["controller"] = {{"name", "opus"}, {"mode", "provisioned"}};
  const auto reduce = [](int rank) {
    return json{
        {"rank", rank}, {"id", "reduce"}, {"collective", "all_reduce"}, {"communicator", "pair"}, {"bytes", 1000000}};
  };
  json tasks = json::array({{{"rank", 1}, {"id", "compute"}, {"compute_us", 30000}}, reduce(1), reduce(2)});
  tasks[1]["after"] = {"compute"};
  for (const int tag : {1, 2}) {
    const std::string id = "message " + std::to_string(tag);
    tasks.push_back({{"rank", 2}, {"id", id}, {"send_to", 0}, {"bytes", 1000000}, {"tag", tag}});
    tasks.push_back({{"rank", 0}, {"id", id}, {"receive_from", 2}, {"bytes", 1000000}, {"tag", tag}});
  }
  job["workload"] = {{"graph",
                      {{"schema", "photonrail.graph/1"},
                       {"ranks", 3},
                       {"communicators", {{"pair", {{"ranks", {1, 2}}}}}},
                       {"tasks", tasks}}}};
  return job;
}

TEST_F(Command, RunNamesAFasterSettingOfTheController) {
  write("job.json", early_request());
  const Outcome slow = run("run job.json --out slow");
  ASSERT_EQ(slow.status, 0) << slow.err;
  const std::string said = slow.out + slow.err;
  EXPECT_THAT(said, HasSubstr("another setting of the controller makes this run 1.60 times shorter"));
  EXPECT_THAT(said, HasSubstr(R"("rehearse": true in /controller takes it)"));
  EXPECT_DOUBLE_EQ(result("slow/result.json")["makespan_s"], 0.08006);
  const Outcome best = run("run job.json --set /controller/rehearse=true --out best");
  ASSERT_EQ(best.status, 0) << best.err;
  EXPECT_THAT(best.out + best.err, HasSubstr("opus rehearsed 4 ways and took number "));
  EXPECT_DOUBLE_EQ(result("best/result.json")["makespan_s"], 0.05002);
  const Outcome good = run("run job.json --set '/controller/mode=\"on_demand\"' --out good");
  EXPECT_THAT(good.out + good.err, Not(HasSubstr("another setting")));
}

// The settings of Opus are found by rehearsals, which jobs that arrive in the run cannot have.
TEST_F(Command, RunTriesNoOtherSettingWhereTheWorkloadDecides) {
  json job = tiny("arrivals");
  job["cluster"]["servers"] = 4;
  job["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 20}}}};
  job["controller"] = {{"name", "opus"}};
  job["workload"] = {{"agent", {{"name", "arrivals"}, {"at_s", {0, 0.001}}}},
                     {"collective", {{"op", "all_reduce"}, {"bytes", 1000000}, {"ranks", 4}}}};
  write("job.json", job);
  const Outcome done = run("run job.json --out arrivals");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(result("arrivals/result.json")["launches"][0]["count"], 2);
}

}  // namespace
}  // namespace photonrail::test
