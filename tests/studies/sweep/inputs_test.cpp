// The files that the points of a sweep read: which they are, and that no table mixes two states of one.
#include "studies/sweep/inputs.hpp"
#include "photonrail/error.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two ranks that compute for so long.
std::string job(int compute_us) {
  return R"({"schema": "photonrail.graph/1", "ranks": 2, "tasks": [{"rank": "all", "compute_us": )" +
         std::to_string(compute_us) + "}]}";
}

class Inputs : public InFolder {
 protected:
  /// Four points; those with an even number read even.json, the others odd.json.
  [[nodiscard]] Sweep four_points() const {
    json base = small_scenario(2);
    base["workload"] = {{"graph", "none.json"}};
    write("base.json", base.dump());
    return read_sweep(write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "base.json", "axes": [
        {"pointer": "/cluster/nic/port_gb_per_s", "values": [10, 20]},
        {"pointer": "/workload/graph", "values": ["even.json", "odd.json"]}]})"));
  }
  SweepSummary run(const Sweep& sweep, std::optional<Shard> shard = {}, bool retry_failed = false) const {
    SweepOptions options;
    options.directory = out_;
    options.shard = shard;
    options.retry_failed = retry_failed;
    SweepObserver nothing;
    return run_sweep(sweep, options, nothing);
  }
  void expect_refused(const Sweep& sweep, const std::string& file, std::optional<Shard> shard = {}) const {
    try {
      static_cast<void>(run(sweep, shard));
      ADD_FAILURE() << "two states of " << file << " are in one table";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("another state of " + file));
    }
  }
  [[nodiscard]] std::vector<std::string> hashes() const {
    std::vector<std::string> found;
    std::ifstream lines(out_ / "results.jsonl");
    for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line).at("scenario_hash"));
    return found;
  }
  /// The names of the files that a sweep reads whose base has this key and value.
  [[nodiscard]] std::vector<std::string> read_by(const std::string& pointer, const json& value) const {
    json base = small_scenario(2);
    base[json::json_pointer(pointer)] = value;
    write("base.json", base.dump());
    std::vector<std::string> names;
    for (const SweepInput& input :
         read_sweep(write("one.json", R"({"schema": "photonrail.sweep/1", "base": "base.json"})")).inputs) {
      names.push_back(input.file.filename().string());
    }
    return names;
  }

  fs::path out_ = folder_ / "out";
};

TEST_F(Inputs, AreTheFilesThatAnyStringOfAScenarioNames) {
  for (const char* name : {"file.json", "t.0.et", "t.1.et", "t.10.et", "u.0.et", "rank0_trace.json", "rank1_trace.json"}) {
    write(name, name);
  }
  EXPECT_THAT(read_by("/workload", {{"graph", "file.json"}}), ElementsAre("file.json"));
  EXPECT_THAT(read_by("/collectives/plans", json::array({{{"msccl", "file.json"}}})), ElementsAre("file.json"));
  EXPECT_THAT(read_by("/jobs", json::array({{{"workload", {{"training", {{"model", "./file.json"}}}}}}})),
              ElementsAre("file.json"));
  EXPECT_THAT(read_by("/cost/catalogue", (folder_ / "file.json").string()), ElementsAre("file.json"));
  EXPECT_THAT(read_by("/workload", {{"chakra", {{"prefix", "t"}, {"comm_groups", "file.json"}}}}),
              ElementsAre("file.json", "t.0.et", "t.1.et", "t.10.et"));
  EXPECT_THAT(read_by("/workload", {{"kineto", {{"files", "."}}}}), ElementsAre("rank0_trace.json", "rank1_trace.json"));
  EXPECT_THAT(read_by("/workload", {{"kineto", {{"files", "rank*_trace.json"}}}}),
              ElementsAre("rank0_trace.json", "rank1_trace.json"));
  ::setenv("PHOTONRAIL_TEST_INPUTS", folder_.c_str(), 1);
  EXPECT_THAT(read_by("/workload", {{"graph", "${PHOTONRAIL_TEST_INPUTS}/file.json"}}), ElementsAre("file.json"));
  ::unsetenv("PHOTONRAIL_TEST_INPUTS");
  EXPECT_THAT(read_by("/why", "a text, ${NOT_SET} \n" + std::string(5000, 'x')), ElementsAre());
}

TEST_F(Inputs, AreInTheHashOfThePointsThatReadThem) {
  write("even.json", job(1));
  write("odd.json", job(1));
  run(four_points());
  const auto before = hashes();
  fs::remove_all(out_);
  write("odd.json", job(2));
  run(four_points());
  const auto after = hashes();
  ASSERT_EQ(before.size(), 4u);
  ASSERT_EQ(after.size(), 4u);
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(before[p] == after[p], p % 2 == 0) << "point " << p;
}

TEST_F(Inputs, AnotherStateOfAFileIsRefusedWhereItWouldMix) {
  write("even.json", job(1));
  write("odd.json", job(1));
  run(four_points(), Shard{1, 2});  // points 0 and 2
  write("even.json", job(9));
  expect_refused(four_points(), "even.json");
  expect_refused(four_points(), "even.json", Shard{2, 2});
  write("even.json", job(1));  // put back
  EXPECT_EQ(run(four_points()).done, 4u);
  write("odd.json", job(9));
  expect_refused(four_points(), "odd.json");  // nothing is missing, and the table would seem to be of the new state
}

TEST_F(Inputs, AFileThatOnlyPointsToComeReadMayChange) {
  write("even.json", job(1));
  write("odd.json", job(1));
  run(four_points(), Shard{1, 2});
  write("odd.json", job(9));
  EXPECT_EQ(run(four_points()).done, 4u);
  write("odd.json", job(1));  // from now on its new state counts
  expect_refused(four_points(), "odd.json");
}

TEST_F(Inputs, AFileThatMadePointsFailMayBeMended) {
  // Rank 1 waits for a message that rank 0 never sends.
  write("even.json",
        R"({"schema": "photonrail.graph/1", "ranks": 2, "tasks": [{"rank": 1, "receive_from": 0, "bytes": 1}]})");
  write("odd.json", job(1));
  EXPECT_EQ(run(four_points()).failed, 2u);
  write("even.json", job(1));
  expect_refused(four_points(), "even.json");
  EXPECT_EQ(run(four_points(), {}, true).done, 4u);
}

TEST_F(Inputs, AFileThatChangesAfterTheSweepWasReadFailsItsPoints) {
  write("even.json", job(1));
  write("odd.json", job(1));
  const Sweep sweep = four_points();
  write("odd.json", job(9));
  fs::last_write_time(folder_ / "odd.json", fs::last_write_time(folder_ / "odd.json") + std::chrono::seconds(1));
  const SweepSummary summary = run(sweep);
  EXPECT_EQ(summary.done, 2u);
  EXPECT_EQ(summary.failed, 2u);
  EXPECT_THAT(content(out_ / "results.csv"), HasSubstr("odd.json: has changed since the sweep began"));
}

}  // namespace
}  // namespace photonrail::test
