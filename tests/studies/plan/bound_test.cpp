// The planner's bound against simulated steps of drawn jobs, on electrical rails and on optical ones that switch.
#include "studies/plan/bound.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/plan_files.hpp"
#include "support/folder.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;

/// 16 GPUs in servers of two to eight, any shape, schedule and order, rails at 0 to 20 ms; 0: electrical.
json drawn_job(std::mt19937_64& random, double& delay_ms) {
  const auto pick = [&random](auto from) { return from[random() % from.size()]; };
  json file = base_of_plan();
  const auto server = pick(std::vector<std::uint32_t>{2, 4, 8});
  file["cluster"]["gpus_per_server"] = server;
  file["cluster"]["servers"] = 16 / server;
  file["cluster"]["gpu"]["memory_gb"] = 800;
  file["cluster"]["nic"]["port_gb_per_s"] = pick(std::vector<double>{2, 25, 100});
  json& training = file["workload"]["training"];
  const auto tp = pick(std::vector<std::uint32_t>{1, 2});
  const auto cp = pick(std::vector<std::uint32_t>{1, 2, 4});
  const auto pp = pick(std::vector<std::uint32_t>{1, 2, 4});
  if (tp * cp * pp > 16) return drawn_job(random, delay_ms);
  const auto sharding = pick(std::vector<std::string>{"none", "zero1", "fsdp"});
  training["parallelism"] = {{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", 16 / (tp * cp * pp)}};
  if (sharding != "none") training["parallelism"][sharding] = true;
  training["schedule"] =
      pick(std::vector<std::string>{"1f1b", "1f1b", "gpipe", "interleaved", "interleaved", "bfs", "zb_h1"});
  if (training["schedule"] == "interleaved") training["parallelism"]["virtual_stages"] = 2;
  training["recompute"] = pick(std::vector<std::string>{"none", "selective", "full"});
  training["gradients"] = {{"overlap", random() % 2 == 0}};
  training["ends_count_as_layers"] = random() % 4 == 0;
  if (training["ends_count_as_layers"]) training["model"]["layers"] = 14;
  file["placement"]["order"] =
      pick(std::vector<json>{{"tp", "cp", "dp", "pp"}, {"tp", "cp", "pp", "dp"}, {"pp", "tp", "cp", "dp"}});
  delay_ms = pick(std::vector<double>{0, 0, 0.05, 1, 20});
  if (delay_ms == 0.0) return file;
  file["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", delay_ms}}}};
  file["controller"] = {{"name", "opus"}, {"mode", random() % 2 == 0 ? "on_demand" : "provisioned"}};
  return file;
}

TEST(PlannerBound, IsBelowTheStepsOfDrawnJobsOnTheirRails) {
  const Folder folder;
  std::mt19937_64 random(7);
  std::vector<double> electrical;  // shares of the bound in the step
  std::uint64_t switched = 0;      // bounds that circuits made higher
  for (std::uint64_t i = 0; i < test_cases(60); ++i) {
    double delay_ms = 0.0;
    const json file = drawn_job(random, delay_ms);
    try {
      const Scenario scenario = parse_scenario(file.dump(), ".");
      const TrainingSpec spec = read_training_spec(folder.write("s.json", file.dump()));
      plan::StepBound::Facts facts;
      facts.rings.fill(true);
      const Duration anywhere = plan::StepBound(scenario.cluster, facts).closer(spec);
      facts.switching = Duration{static_cast<std::int64_t>(delay_ms * 1e9)};
      const Duration here = plan::StepBound(scenario.cluster, facts).closer(spec);
      const Duration step = simulate(scenario).step_time();
      EXPECT_LE(anywhere, here) << file.dump();
      EXPECT_LE(here, step) << file.dump();
      switched += here > anywhere ? 1 : 0;
      if (delay_ms == 0.0) electrical.push_back(to_seconds(here) / to_seconds(step));
    } catch (const ConfigError&) {
      continue;  // a shape that the model or the batch does not have
    }
  }
  ASSERT_GT(electrical.size(), 10u);
  std::sort(electrical.begin(), electrical.end());
  EXPECT_GT(electrical[electrical.size() / 2], 0.98);
  EXPECT_GT(switched, 2u);
  std::cout << "share of the bound in electrical steps: median " << electrical[electrical.size() / 2] << ", least "
            << electrical.front() << "; raised by circuits: " << switched << " jobs\n";
}

}  // namespace
}  // namespace photonrail::test
