// Sweeps over scenarios with months of failures: a row a point has the numbers of `photonrail goodput` of that point.
#include "photonrail/error.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/sweep/sweep_support.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <map>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Stops the sweep after so many points.
class StopAfter : public SweepObserver {
 public:
  explicit StopAfter(std::size_t points = 1000) : left_(points) {}
  void begin(std::uint64_t points, std::uint64_t before) override { begun = {points, before}; }
  void reused(std::uint64_t points) override { taken_over = points; }
  void recorded(const SweepPoint& point, const std::string& error) override {
    errors[point.name] = error;
    if (--left_ == 0) stop = true;
  }

  std::pair<std::uint64_t, std::uint64_t> begun;
  std::uint64_t taken_over = 0;
  std::map<std::string, std::string> errors;
  std::atomic<bool> stop{false};

 private:
  std::size_t left_;
};

class GoodputSweep : public InFolder {
 protected:
  /// Four servers of one GPU, a replica each, that break down once in ten hours and are down for an hour.
  static json months() {
    json scenario = small_scenario(4);
    scenario["workload"] = {{"training",
                             {{"model", "llama3_8b"},
                              {"sequence", 1024},
                              {"global_batch", 4},
                              {"micro_batch", 1},
                              {"parallelism", {{"dp", 4}}}}}};
    scenario["cluster"]["gpu"] = "b200";
    scenario["reliability"] = {
        {"job", {{"replicas", 4}}},
        {"days", 10},
        {"seeds", 5},
        {"failures", json::array({{{"of", "server"}, {"mtbf_h", 10}, {"detection_s", 5}, {"repair_h", 1}}})},
        {"checkpoint", {{"interval_s", 600}, {"stall_s", 1}}},
        {"recovery", json::array({{{"action", "drop_replica"}}, {{"action", "wait"}}})}};
    return scenario;
  }
  [[nodiscard]] Sweep sweep_with(const json& base, const std::string& axes) const {
    write("base.json", base.dump());
    return read_sweep(
        write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "base.json", "axes": )" + axes + "}"));
  }
  SweepSummary run(const Sweep& sweep, StopAfter& observer, const std::string& out, std::uint32_t jobs = 1) const {
    SweepOptions options;
    options.directory = folder_ / out;
    options.jobs = jobs;
    options.stop = &observer.stop;
    return run_sweep(sweep, options, observer);
  }
  [[nodiscard]] std::map<std::string, std::map<std::string, double>> metrics(const std::string& out) const {
    std::map<std::string, std::map<std::string, double>> of;
    std::ifstream lines(folder_ / out / "results.jsonl");
    for (std::string line; std::getline(lines, line);) {
      const json row = json::parse(line);
      of[row["name"]] = row["metrics"].get<std::map<std::string, double>>();
    }
    return of;
  }

  // Of the section and of the step.
  const std::string kAxes = R"([{"name": "mtbf", "pointer": "/reliability/failures/0/mtbf_h", "values": [10, 100]},
                                {"name": "rate", "pointer": "/cluster/nic/port_gb_per_s", "values": [50, 5]}])";
};

TEST_F(GoodputSweep, HasTheNumbersOfTheGoodputCommandAndOfTheRun) {
  const Sweep sweep = sweep_with(months(), kAxes);
  StopAfter observer;
  EXPECT_EQ(run(sweep, observer, "out").done, 4u);
  const auto of = metrics("out");
  for (const SweepPoint& point : sweep.points) {
    const auto scenario =
        goodput::parse_goodput(sweep.base, sweep.base_directory, sweep.base_name, point.patch, Registries{});
    const GoodputResult result = run_goodput(scenario);
    const auto& row = of.at(point.name);
    EXPECT_DOUBLE_EQ(row.at("goodput.share"), result.summary.goodput.mean);
    EXPECT_DOUBLE_EQ(row.at("goodput.low_share"), result.summary.goodput.low);
    EXPECT_DOUBLE_EQ(row.at("goodput.ettr_share"), result.summary.ettr.mean);
    EXPECT_EQ(row.at("goodput.configurations"), static_cast<double>(result.summary.configurations));
    EXPECT_DOUBLE_EQ(row.at("goodput.step_s"), row.at("makespan_s")) << "one step a run";
    double shares = row.at("goodput.ettr_share");
    for (const char* use : {"checkpoint", "lost", "detecting", "recovering", "degraded", "waiting", "planned"}) {
      shares += row.at("goodput." + std::string(use) + "_share");
    }
    EXPECT_NEAR(shares, 1.0, 1e-9) << "the books add up";
  }
  EXPECT_LT(of.at("mtbf 10, rate 50").at("goodput.share"), of.at("mtbf 100, rate 50").at("goodput.share"));
  EXPECT_LT(of.at("mtbf 10, rate 50").at("goodput.step_s"), of.at("mtbf 10, rate 5").at("goodput.step_s"));
  EXPECT_THAT(content(folder_ / "out/results.csv"), HasSubstr(",goodput.share,"));
}

TEST_F(GoodputSweep, ThreadsChangeNothingInTheTable) {
  const Sweep sweep = sweep_with(months(), kAxes);
  StopAfter observer;
  run(sweep, observer, "one", 1);
  run(sweep, observer, "four", 4);
  EXPECT_EQ(content(folder_ / "one/results.csv"), content(folder_ / "four/results.csv"));
}

TEST_F(GoodputSweep, GoesOnWithWhatIsMissingAndTakesOverEqualScenarios) {
  const Sweep sweep = sweep_with(months(), kAxes);
  StopAfter whole;
  run(sweep, whole, "whole");
  StopAfter two(2);
  EXPECT_EQ(run(sweep, two, "out").missing(), 2u);
  StopAfter rest;
  EXPECT_EQ(run(sweep, rest, "out", 2).missing(), 0u);
  EXPECT_EQ(rest.begun, (std::pair<std::uint64_t, std::uint64_t>{2, 2}));
  EXPECT_EQ(content(folder_ / "out/results.csv"), content(folder_ / "whole/results.csv"));
  // A third value of the section's axis: the four points that are the same are not run again.
  const Sweep longer =
      sweep_with(months(), R"([{"name": "mtbf", "pointer": "/reliability/failures/0/mtbf_h", "values": [10, 30, 100]},
                                               {"name": "rate", "pointer": "/cluster/nic/port_gb_per_s", "values": [50, 5]}])");
  StopAfter more;
  EXPECT_EQ(run(longer, more, "out").done, 6u);
  EXPECT_EQ(more.taken_over, 4u);
}

TEST_F(GoodputSweep, AGivenStepNeedsNoJob) {
  json base = {{"schema", "photonrail.scenario/1"}, {"name", "no network"}};
  base["reliability"] = months()["reliability"];
  base["reliability"]["job"] = {{"servers", 4}, {"replicas", 4}};
  base["reliability"]["step_s"] = 10;
  const Sweep sweep = sweep_with(base, R"([{"pointer": "/reliability/checkpoint/interval_s", "values": [100, 1000]}])");
  StopAfter observer;
  EXPECT_EQ(run(sweep, observer, "out").done, 2u);
  const auto of = metrics("out");
  EXPECT_EQ(of.at("100 s").at("goodput.step_s"), 10.0);
  EXPECT_FALSE(of.at("100 s").contains("makespan_s"));
  // Ten times as many stalls of a second.
  const double stalls = of.at("100 s").at("goodput.checkpoint_share") / of.at("1000 s").at("goodput.checkpoint_share");
  EXPECT_NEAR(stalls, 10.0, 0.5);
}

TEST_F(GoodputSweep, SaysAtWhichPointerASectionIsWrong) {
  const Sweep sweep = sweep_with(months(), R"([{"pointer": "/reliability/failures/0/mtbf_h", "values": [10, -1]}])");
  StopAfter observer;
  const ConfigError error = error_of([&] { run(sweep, observer, "out"); });
  EXPECT_THAT(error.what(), HasSubstr("1 of 2 points cannot run"));
  EXPECT_THAT(error.what(), HasSubstr("/reliability/failures/0/mtbf_h"));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

// Replicas of a job that is no generated training cannot be dropped, and electrical rails have no ports that go dark:
// points that would meet either at a failure are refused before the first one runs, all in one message.
TEST_F(GoodputSweep, WhatCannotDegradeIsRefusedBeforeTheFirstPointRuns) {
  json base = months();
  base["workload"] = {{"collective", {{"op", "all_reduce"}, {"algorithm", "ring"}, {"bytes", 1000000}}}};
  base["reliability"]["failures"] = {{{"of", "server"}, {"mtbf_h", 1e9}},
                                     {{"of", "port"}, {"mtbf_h", 1e9}, {"degrade", "port"}, {"repair_h", 1}}};
  const Sweep sweep =
      sweep_with(base, R"([{"pointer": "/reliability/recovery/0/action", "values": ["drop_replica", "restart"]},
                {"name": "rails", "variants": {
                  "optical": {"/cluster/rail": {"kind": "optical", "switch": {"reconfiguration_ms": 1}},
                              "/controller": {"name": "opus"}},
                  "electrical": {"/cluster/rail": {"kind": "electrical"}, "/controller": {"name": "electrical"}}}}])");
  StopAfter observer;
  const ConfigError error = error_of([&] { run(sweep, observer, "out"); });
  EXPECT_THAT(error.what(), HasSubstr("3 of 4 points cannot run; none was started"));
  EXPECT_THAT(error.what(), HasSubstr("(drop_replica, optical): "));
  EXPECT_THAT(error.what(),
              HasSubstr("/reliability/recovery: replicas cannot be dropped: the workload is no \"training\""));
  EXPECT_THAT(error.what(), HasSubstr("points 1, 3 (the first: drop_replica, electrical): "));
  EXPECT_THAT(error.what(),
              HasSubstr("/reliability/failures/1/degrade: dark ports of electrical rails cannot be simulated"));
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

}  // namespace
}  // namespace photonrail::test
