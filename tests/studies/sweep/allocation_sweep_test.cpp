// Sweeps over studies of slices: threads, errors, going on where one stopped, points of an earlier state.
#include "photonrail/error.hpp"
#include "studies/slices/study.hpp"
#include "studies/sweep/database.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Jobs of one, of eight and of all accelerators of a 4x4x4; failures that come every so many hours to a server of four.
json slices_study(double failure_h) {
  return {{"schema", "photonrail.allocation/1"},
          {"name", "slices"},
          {"pod", {{"torus", {4, 4, 4}}, {"block", 2}, {"server", {2, 2, 1}}}},
          {"policies", {"firstfit"}},
          {"orders", {"fifo"}},
          {"failures", {{"mean_between_h", failure_h}, {"mean_repair_h", 0.001}, {"checkpoint_s", 1e6}}},
          {"jobs",
           {{"drawn",
             {{"count", 40},
              {"slices", {{{"shape", {1, 1, 1}}, {"share", 1}}, {{"shape", {2, 2, 2}}, {"share", 1}}}},
              {"mean_interarrival_s", 100},
              {"mean_duration_s", 600}}}}}};
}

class Listening : public SweepObserver {
 public:
  void begin(std::uint64_t points, std::uint64_t before) override { begun = {points, before}; }
  void reused(std::uint64_t points) override { taken_over = points; }
  void recorded(const SweepPoint& point, const std::string& error) override {
    if (!error.empty()) errors[point.index] = error;
    if (++count == stop_after) stop = true;
  }

  std::pair<std::uint64_t, std::uint64_t> begun;
  std::uint64_t taken_over = 0;
  std::map<std::uint32_t, std::string> errors;
  std::uint64_t count = 0;
  std::uint64_t stop_after = 0;
  std::atomic<bool> stop{false};
};

class AllocationSweep : public InFolder {
 protected:
  // Points 0 to 3 by policy and load; of 4 to 7 a server fails every 36 s, and no job
  // of 600 s has a checkpoint: none of eight accelerators ends.
  [[nodiscard]] Sweep study_sweep(const std::string& policies = R"([["firstfit"], ["ocs_cubes"]])") const {
    write("study.json", slices_study(1e6).dump());
    return read_sweep(write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "study.json", "axes": [
        {"name": "hours", "pointer": "/failures/mean_between_h", "values": [1000000, 0.01]},
        {"name": "policy", "pointer": "/policies", "values": )" +
                                              policies + R"(},
        {"name": "gap_s", "pointer": "/jobs/drawn/mean_interarrival_s", "values": [10, 1000]}]})"));
  }
  SweepSummary run(const Sweep& sweep, const fs::path& out, Listening& listener, std::uint32_t threads = 2) const {
    SweepOptions options;
    options.directory = out;
    options.jobs = threads;
    options.stop = &listener.stop;
    return run_sweep(sweep, options, listener);
  }
};

TEST_F(AllocationSweep, StoppedAndGoneOnInThreadsItHasTheTableOfOneThread) {
  const Sweep sweep = study_sweep();
  Listening once;
  const SweepSummary whole = run(sweep, folder_ / "one", once, 1);
  EXPECT_EQ(whole.done, 4u);
  EXPECT_EQ(whole.failed, 4u);
  EXPECT_THAT(once.errors[4], HasSubstr("failures come faster than its checkpoints"));
  Listening first;
  first.stop_after = 2;
  const SweepSummary part = run(sweep, folder_ / "two", first);
  EXPECT_GT(part.missing(), 0u);
  Listening second;
  const SweepSummary rest = run(sweep, folder_ / "two", second, 4);
  EXPECT_EQ(second.begun.second, part.done + part.failed) << "what is recorded is not run again";
  EXPECT_EQ(rest.missing(), 0u);
  EXPECT_EQ(content(folder_ / "two/results.csv"), content(folder_ / "one/results.csv"));
}

TEST_F(AllocationSweep, ARowHasTheNumbersOfTheStudyAlone) {
  const Sweep sweep = study_sweep();
  Listening listener;
  run(sweep, folder_ / "out", listener);
  std::ifstream lines(folder_ / "out/results.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(lines, line) && std::getline(lines, line));  // point 1: first fit, a job every 1,000 s
  const json row = json::parse(line);
  const std::vector<Override> set{{"/jobs/drawn/mean_interarrival_s", "1000"}};
  const auto study = slices::read_study(folder_ / "study.json", set);
  const json alone = json::parse(allocation_json(study, run_allocation(study)))["streams"][0];
  for (const auto& [key, value] : alone.items()) {
    if (!value.is_number()) continue;
    EXPECT_EQ(row["metrics"][key], value) << key;
  }
  // A busier pod waits longer.
  std::ifstream again(folder_ / "out/results.jsonl");
  ASSERT_TRUE(std::getline(again, line));
  EXPECT_GT(json::parse(line)["metrics"]["mean_waiting_s"], row["metrics"]["mean_waiting_s"]);
}

// One long stream is many steps of progress.
TEST_F(AllocationSweep, ProgressMovesWithTheJobsOfAStream) {
  static_cast<void>(study_sweep());  // writes the study
  const auto study = slices::read_study(folder_ / "study.json", {});
  std::vector<std::size_t> told;
  std::size_t all = 0;
  static_cast<void>(run_allocation(study, {}, slices::AllocatorRegistry::builtin(), [&](std::size_t done, std::size_t of) {
    told.push_back(done);
    all = of;
  }));
  ASSERT_GT(study.jobs.size(), 1u);
  EXPECT_EQ(all, study.decisions.size() + study.jobs.size() * study.policies.size() * study.orders.size());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GE(told.size(), study.jobs.size());
  EXPECT_EQ(told.back(), all);
}

TEST_F(AllocationSweep, PointsOfAnEarlierStateThatAreTheSameAreTakenOver) {
  Listening first;
  run(study_sweep(), folder_ / "out", first);
  Listening second;
  const SweepSummary more = run(study_sweep(R"([["firstfit"], ["bestfit"], ["ocs_cubes"]])"), folder_ / "out", second);
  EXPECT_EQ(second.taken_over, 4u) << "those that failed are tried again";
  EXPECT_EQ(second.begun.first, 8u);
  EXPECT_EQ(more.done, 6u);
}

TEST_F(AllocationSweep, NoneIsStartedWhereOneIsNoStudy) {
  const Sweep sweep = study_sweep(R"([["firstfit"], ["first_fit"], ["k_hop", "k_hop"]])");
  Listening listener;
  try {
    static_cast<void>(run(sweep, folder_ / "out", listener));
    FAIL() << "a policy that is not there was run";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("8 of 12 points cannot run; none was started"));
    EXPECT_THAT(error.what(), HasSubstr("study.json: /policies/0: "));
    EXPECT_THAT(error.what(), HasSubstr("/policies/1: is named twice"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(AllocationSweep, DecisionsThatAreNotAsExpectedAreFailures) {
  write("study.json", R"({"schema": "photonrail.allocation/1", "decisions": [{"dims": [2, 2], "policy": "firstfit",
      "job_shape": [2, 1], "idle": "f", "expect": {"decision": "admit"}}]})");
  const Sweep sweep = read_sweep(write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "study.json", "axes": [
      {"name": "idle", "pointer": "/decisions/0/idle", "values": ["f", "9"]}]})"));
  Listening listener;
  EXPECT_EQ(run(sweep, folder_ / "out", listener).done, 1u);
  EXPECT_EQ(listener.errors[1], "1 of 1 decision is not as expected");  // 9: two that touch at no side
}

}  // namespace
}  // namespace photonrail::test
