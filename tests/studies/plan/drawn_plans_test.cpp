// Plans whose files are drawn, what is around the best of a plan, and what runs once.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/plan.hpp"
#include "photonrail/study/sweep.hpp"
#include "studies/plan/plan_files.hpp"
#include "support/folder.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <set>
#include <utility>

namespace photonrail::test {
namespace {

using nlohmann::json;

// Each value of a choice once beside the best, as far as it can be, with what `photonrail sweep` makes of it.
TEST(Planner, ASweepAroundTheBestHasItsNeighbours) {
  json file = plan_file();
  file["base"]["cluster"]["gpu"]["memory_gb"] = 80;
  const Plan plan = parsed_plan(file);
  const PlanResult result = run_plan(plan);
  ASSERT_FALSE(result.best.empty());
  const Sweep sweep = parse_sweep(sweep_around(plan, result), "around.json");
  ASSERT_EQ(sweep.points.size(), result.around.size());
  EXPECT_GT(sweep.points.size(), 3u);
  std::set<double> steps;
  for (const SweepPoint& point : sweep.points) steps.insert(to_seconds(simulate(scenario_of(sweep, point)).step_time()));
  EXPECT_EQ(*steps.begin(), result.best.front().step_s);
}

// The best of each pair of tp and pp that can be: simulated, or a bound that is not below the best.
TEST(Planner, AMapHasThePairsOfSizesThatCanBe) {
  json file = plan_file();
  file["base"]["cluster"]["gpu"]["memory_gb"] = 80;
  const PlanResult result = run_plan(parsed_plan(file));
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  double least = std::numeric_limits<double>::infinity();
  for (const PlanCell& cell : result.map) {
    EXPECT_TRUE(pairs.emplace(cell.tp, cell.pp).second);
    EXPECT_GE(cell.objective, result.best.front().objectives.front());
    if (cell.simulated) least = std::min(least, cell.objective);
  }
  EXPECT_EQ(least, result.best.front().objectives.front());
  EXPECT_EQ(pairs.size(), 11u);  // 1, 2, 4 by 1, 2, 4, 8, but 4 by 8
}

// Electrical rails have no controller: candidates that differ in it are one.
TEST(Planner, EqualCandidatesRunOnce) {
  json file = plan_file();
  file["axes"] = {{{"name", "rails"}, {"variants", {{"electrical", {{"/cluster/rail", {{"kind", "electrical"}}}}}}}},
                  {{"name", "mode"},
                   {"variants",
                    {{"on demand", {{"/controller", {{"name", "opus"}, {"mode", "on_demand"}}}}},
                     {"provisioned", {{"/controller", {{"name", "opus"}, {"mode", "provisioned"}}}}}}}}};
  PlanOptions options;
  options.jobs = 1;
  options.keep = 1;
  const PlanResult result = run_plan(parsed_plan(file), options);
  EXPECT_EQ(result.open, 0u);
  EXPECT_GT(result.simulated, 1u);
  EXPECT_EQ(2 * result.reused, result.simulated);
  options.keep = 10;
  const PlanResult ten = run_plan(parsed_plan(file), options);
  ASSERT_GT(ten.best.size(), 1u);
  for (const PlannedRun& run : ten.best) EXPECT_EQ(run.choices.back(), ten.best.front().choices.back()) << "told once";
}

// Without context parallelism the order of "cp" among the others makes no difference: one run for three placements.
TEST(Planner, PlacementsInWhichAJobIsTheSameRunOnce) {
  json file = plan_file();
  file["axes"] = {{{"pointer", "/placement/order"},
                   {"values", {json{"tp", "cp", "dp", "pp"}, json{"cp", "tp", "dp", "pp"}, json{"tp", "dp", "cp", "pp"}}}}};
  PlanOptions options;
  options.jobs = 1;
  options.keep = 1;
  const PlanResult result = run_plan(parsed_plan(file), options);
  EXPECT_EQ(result.open, 0u);
  EXPECT_GT(result.simulated, 0u);
  EXPECT_EQ(3 * result.reused, 2 * result.simulated);
}

/// A plan file with any of its sections.
json drawn_plan_file(std::mt19937_64& random) {
  const auto one_in = [&random](unsigned n) { return random() % n == 0; };
  json file = drawn_plan(random, false);
  json& shapes = file["shapes"];
  for (const char* key : {"tp", "pp", "micro_batch", "sharding"}) {
    if (one_in(3)) shapes.erase(key);
  }
  if (one_in(3)) shapes["recompute"] = "auto";
  if (one_in(4)) shapes["virtual_stages"] = {1, 2};
  if (one_in(3)) file["axes"].push_back({{"pointer", "/cluster/gpu/compute_efficiency"}, {"values", {0.3, 0.6}}});
  if (one_in(4))
    file["axes"].push_back(
        {{"pointer", "/cluster/nic/port_gb_per_s"}, {"range", {{"from", 10}, {"to", 50}, {"points", 2}}}});
  if (one_in(3)) file["limits"] = {{"usd", one_in(2) ? 1.0 : 1e9}};
  switch (random() % 5) {
    case 0:
      file["objective"] = {"step", "usd"};
      break;
    case 1:
      file["objective"] = "usd_per_trillion_tokens";
      file["prices"] = {{"gpu_hour_usd", 2}};
      break;
    case 2:
      file["objective"] = {"gpu_seconds_per_token", "power_w"};
      break;
    default:
      break;
  }
  return file;
}

// Whatever the file asks: each candidate is counted once, the best runs to the same step, what is around it can be read,
// and a search that was stopped comes to the same best.
TEST(Planner, DrawnPlansKeepTheirBooks) {
  std::mt19937_64 random(7);
  const std::uint64_t cases = test_cases(12);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const json file = drawn_plan_file(random);
    const Plan plan = parsed_plan(file);
    const Folder folder;
    PlanOptions options;
    options.limit_s = 1e6;
    options.directory = folder.path();
    std::atomic<bool> stop{false};
    options.stop = &stop;
    options.progress = [&stop](std::uint64_t decided, std::uint64_t) { stop = decided >= 2; };
    const PlanResult first = run_plan(plan, options);
    options.stop = nullptr;
    options.progress = {};
    const PlanResult result = run_plan(plan, options);
    std::uint64_t rejected = 0;
    for (const auto& [reason, count] : result.rejected) rejected += count;
    EXPECT_EQ(result.simulated + result.excluded + result.failed + rejected, result.candidates) << file.dump();
    EXPECT_EQ(result.open, 0u);
    if (result.best.empty()) continue;
    const PlannedRun& best = result.best.front();
    EXPECT_EQ(to_seconds(simulate(parse_scenario(planned_scenario(plan, best), ".")).step_time()), best.step_s)
        << file.dump();
    EXPECT_EQ(parse_sweep(sweep_around(plan, result), "around.json").points.size(), result.around.size());
    options.directory.clear();
    EXPECT_EQ(run_plan(plan, options).best.front().objectives, best.objectives) << file.dump();
    if (!first.best.empty()) {
      EXPECT_GE(first.best.front().objectives.front(), best.objectives.front());
    }
  }
}

}  // namespace
}  // namespace photonrail::test
