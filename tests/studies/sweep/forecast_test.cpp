// The forecast of a run's time knows the policy and the fabric: within a factor of 5 of the processor time of runs that
// take over a second. The jobs are none of those that the constants were fitted to.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "run/expected_time.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace photonrail::test {
namespace {

struct Measured {
  const char* name;
  const char* cluster;  ///< servers, GPUs a server, rail
  const char* policy;   ///< the section "controller"
  const char* workload;
};

std::ostream& operator<<(std::ostream& out, const Measured& job) { return out << job.name; }

Scenario scenario_of(const Measured& job) {
  return parse_scenario(std::string(R"({"schema": "photonrail.scenario/1", "collectives": {"all_to_all": "pairwise"}, )") +
                            R"("run": {"iterations": 1}, "cluster": )" + job.cluster + R"(, "controller": )" + job.policy +
                            R"(, "workload": )" + job.workload + "}",
                        ".", "job", {});
}

class Forecast : public ::testing::TestWithParam<Measured> {};

TEST_P(Forecast, IsWithinAFactorOfFive) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  const Scenario scenario = scenario_of(GetParam());
  const double expected = run::expected_work(scenario, {}).seconds();
  const double before = processor_seconds();
  (void)simulate(scenario);
  const double taken = processor_seconds() - before;
  EXPECT_GE(expected, taken / 5) << "forecast " << expected << " s, taken " << taken << " s";
  // A fast machine may take a third of the time that the constants were measured at.
  EXPECT_LE(expected, 5 * std::max(taken, 0.3)) << "forecast " << expected << " s, taken " << taken << " s";
}

constexpr const char* kFlat = R"({"servers": 144, "gpus_per_server": 1, "nic": {"port_gb_per_s": 50},
  "rail": {"kind": "optical", "switch": {"reconfiguration_us": 50}}})";
constexpr const char* kWide = R"({"servers": 224, "gpus_per_server": 1, "nic": {"port_gb_per_s": 50},
  "rail": {"kind": "optical", "switch": {"reconfiguration_us": 50}}})";
constexpr const char* kExchange = R"({"collective": {"op": "all_to_all", "bytes": 100000000}})";
constexpr const char* kPods =
    R"({"servers": 32, "gpus_per_server": 8, "nic": {"port_gb_per_s": 50}, "rail": {"kind": "optical",
  "switch": {"reconfiguration_us": 500}, "pods": {"servers": 8, "joined_by": "optical"}}})";
constexpr const char* kReplicas =
    R"({"servers": 4, "gpus_per_server": 4, "nic": {"port_gb_per_s": 50}, "rail": {"kind": "optical",
  "switch": {"reconfiguration_us": 500}}})";
constexpr const char* kOfReplicas =
    R"({"training": {"model": "llama3_8b", "sequence": 4096, "global_batch": 8, "parallelism":
  {"tp": 4, "dp": 4, "fsdp": true, "dp_replicate": 2}}})";
constexpr const char* kSharded = R"({"training": {"model": "llama3_8b", "sequence": 4096, "global_batch": 64, "parallelism":
  {"tp": 8, "pp": 2, "dp": 16, "fsdp": true}}})";

constexpr const char* kServers = R"({"servers": 4, "gpus_per_server": 4, "gpu": {"preset": "h100"}, "scale_up": "h100",
  "nic": {"port_gb_per_s": 50}, "rail": {"kind": "optical", "switch": {"reconfiguration_us": 1000}}})";
constexpr const char* kLongAnswers = R"({"serving": {"model": "llama3_8b", "requests": {"arrivals": {"process": "poisson",
  "per_s": 2}, "input": 800, "output": 1200, "count": 1500},
  "pools": [{"role": "prefill", "servers": [0, 1], "tp": 4}, {"role": "decode", "servers": [2, 3], "tp": 4}]}})";
constexpr const char* kGrpo = R"({"rl": {"model": "llama3_8b", "prompts": {"count": 64, "responses": 16, "tokens": 300,
  "lengths": {"mean": 2500, "sigma": 0.9, "most": 12000}}, "mode": "on_policy", "steps": 6,
  "generation": {"engines": 4, "engine": {"ranks": 2, "tp": 2}, "times": {"host": {"step_us": 500}}},
  "training": {"parallelism": {"tp": 4, "dp": 2}, "micro_batch_tokens": 16384, "mini_batches": 4, "recompute": "selective"},
  "refit": {"by": "ring_per_rail"}}})";

INSTANTIATE_TEST_SUITE_P(Jobs, Forecast,
                         ::testing::Values(Measured{"max_weight", kFlat, R"({"name": "max_weight"})", kExchange},
                                           Measured{"harvest", kWide, R"({"name": "harvest"})", kExchange},
                                           Measured{"static_split_pods", kPods, R"({"name": "static_split"})", kSharded},
                                           Measured{"rotor_pods", kPods, R"({"name": "rotor"})", kSharded},
                                           Measured{"coalesce_pods", kPods, R"({"name": "coalesce"})", kSharded},
                                           Measured{"coalesce_replicas", kReplicas, R"({"name": "coalesce"})", kOfReplicas},
                                           Measured{"served_requests", kServers, R"({"name": "lru"})", kLongAnswers},
                                           Measured{"learning", kServers, R"({"name": "opus"})", kGrpo}),
                         [](const auto& job) { return job.param.name; });

}  // namespace
}  // namespace photonrail::test
