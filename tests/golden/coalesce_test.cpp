// Coalesce and the lower bound against Opus, on every golden job. docs/models/coalesce.md has the figures.
#include "golden/golden.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

RunResult run_with(Scenario scenario, const std::string& controller, double delay_ms) {
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(ms(delay_ms));
  scenario.controller = ControllerSpec{};
  scenario.controller.name = controller;
  const RunResult result = simulate(scenario);
  expect_balanced(result);
  return result;
}

Duration opus(Scenario scenario, const char* mode, const char* order, double delay_ms) {
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(ms(delay_ms));
  scenario.controller = ControllerSpec{};
  scenario.controller.name = "opus";
  scenario.controller.parameters.set("mode", mode).set("order", order);
  return simulate(scenario).makespan;
}

Duration best_opus(const Scenario& scenario, double delay_ms) {
  Duration best = Duration::max();
  for (const char* mode : {"on_demand", "provisioned"}) {
    for (const char* order : {"scheduled", "free"}) {
      best = std::min(best, opus(scenario, mode, order, delay_ms));
    }
  }
  return best;
}

Scenario fsdp(const std::string& lanes) {
  return load("papers/opus/fsdp16-electrical.json", {"/executor/comm_lanes=" + lanes});
}

class Fsdp : public ::testing::TestWithParam<std::string> {};

// Gathers that may run any time beside pipeline sends, one port a GPU: when to switch is worth more than to switch early.
TEST_P(Fsdp, CoalesceIsMuchCloserToElectricalThanTheBetterOpus) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  (void)data;
  const Scenario job = fsdp(GetParam());
  const Duration electrical = simulate(job).makespan;
  const Duration ours = run_with(job, "coalesce", 10).makespan - electrical;
  const Duration theirs = best_opus(job, 10) - electrical;
  EXPECT_LE(to_seconds(ours), 0.75 * to_seconds(theirs));
}

TEST_P(Fsdp, CoalesceIsNeverWorseThanTheBetterOpus) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  (void)data;
  const Scenario job = fsdp(GetParam());
  for (const double delay : {1.0, 3.0, 30.0, 100.0}) {
    EXPECT_LE(run_with(job, "coalesce", delay).makespan, best_opus(job, delay)) << delay << " ms";
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Fsdp, ::testing::ValuesIn(std::vector<std::string>{"per_communicator", "one"}));

class OnTraces : public ::testing::TestWithParam<std::string> {};

TEST_P(OnTraces, OracleThenProvisionedThenOnDemandAndCoalesceBeforeTheBetterOfThese) {
  const Scenario job = load(GetParam());
  for (const double delay : {1.0, 10.0, 100.0, 1000.0}) {
    SCOPED_TRACE(std::to_string(delay) + " ms");
    const Duration oracle = run_with(job, "oracle", delay).makespan;
    const Duration provisioned = opus(job, "provisioned", "scheduled", delay);
    const Duration on_demand = opus(job, "on_demand", "scheduled", delay);
    EXPECT_LE(oracle, provisioned);
    EXPECT_LE(provisioned, on_demand);
    EXPECT_LE(run_with(job, "coalesce", delay).makespan, best_opus(job, delay));
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, OnTraces,
                         ::testing::ValuesIn(std::vector<std::string>{"papers/opus/smoke-on-demand.json",
                                                                      "papers/opus/smoke-on-demand-one-lane.json",
                                                                      "quickstart-on-demand.json"}),
                         [](const auto& job) {
                           std::string name = job.param.substr(job.param.rfind('/') + 1);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

// What is rehearsed is said, and the run is the one that was announced.
TEST(Coalesce, SaysWhichOfItsWaysItTook) {
  const RunResult result = run_with(load("quickstart-on-demand.json"), "coalesce", 10);
  ASSERT_THAT(result.choices, ::testing::SizeIs(1));
  EXPECT_THAT(result.choices[0], ::testing::HasSubstr("coalesce rehearsed 10 ways and took number "));
}

// An exchange and an all-reduce meet at two rails and one server. Each had its circuits on one rail, and took those of the
// other on both, 10,000 times at one instant.
TEST(Coalesce, TwoThatTakeEachOthersCircuitsEnd) {
  const char* const text = R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 4, "gpus_per_server": 2, "nic": {"ports": 1, "port_gb_per_s": 50},
      "rail": {"kind": "optical", "switch": {"reconfiguration_us": 0}}},
    "controller": {"name": "coalesce", "rehearse": false, "request_us": 30}, "executor": {"comm_lanes": "one"},
    "workload": {"graph": {"schema": "photonrail.graph/1", "ranks": 8,
      "communicators": {"a": {"ranks": [1, 2, 6]}, "b": {"ranks": [5, 6]}, "c": {"ranks": [7, 1]}},
      "tasks": [{"rank": [1, 2, 6], "id": "1", "collective": "all_to_all", "communicator": "a", "bytes": 1048576},
        {"rank": [5, 6], "id": "2", "collective": "all_reduce", "communicator": "b", "bytes": 4097},
        {"rank": [7, 1], "id": "3", "collective": "barrier", "communicator": "c"}]}},
    "run": {"fidelity": "exact", "folding": false}})";
  const RunResult result = simulate(parse_scenario(text, "."));
  expect_balanced(result);
  EXPECT_LT(result.reconfigurations.count, 1000u);
}

}  // namespace
}  // namespace photonrail::test
