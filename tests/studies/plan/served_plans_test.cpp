// Plans of served requests: the winner of drawn spaces is that of an exhaustive run, and what cannot keep its limits is
// told.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/study/plan.hpp"
#include "photonrail/study/sweep.hpp"
#include "photonrail/workload/serving.hpp"
#include "report/cost_report.hpp"
#include "studies/plan/served.hpp"
#include "support/folder.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;

/// Four servers of two GPUs, and engines whose steps take a fixed time and one for each token.
json base_of_served() {
  return json::parse(R"({
    "schema": "photonrail.scenario/1", "name": "served",
    "cluster": {"servers": 4, "gpus_per_server": 2, "gpu": {"preset": "h100"}, "nic": {"port_gb_per_s": 25},
                "rail": {"kind": "electrical"}},
    "workload": {"serving": {
      "model": "llama3_8b",
      "requests": {"arrivals": {"process": "poisson", "per_s": 60},
                   "input": {"distribution": "uniform", "least": 200, "greatest": 1800}, "output": 20, "count": 80},
      "times": {"law": {"fixed_us": 2000, "prefill_token_us": 20, "decode_us": 100}},
      "slo": {"ttft_ms": 150, "tpot_ms": 40}}},
    "cost": {}, "run": {"seed": 3}})");
}

json served_plan(std::mt19937_64& random) {
  const auto pick = [&random](const std::vector<double>& from) { return from[random() % from.size()]; };
  json base = base_of_served();
  json& serving = base["workload"]["serving"];
  base["run"]["seed"] = 1 + random() % 100;
  serving["requests"]["arrivals"]["per_s"] = pick({10, 40, 120});
  serving["slo"]["ttft_ms"] = pick({30, 100, 400});
  serving["slo"]["share"] = pick({0.5, 0.9});
  serving["times"]["law"]["prefill_token_us"] = pick({5, 20, 60});
  if (random() % 3 == 0) serving["requests"]["prefix"] = {{"groups", 2}, {"tokens", 160}};
  if (random() % 4 == 0) serving["warm_up"] = 10;
  json file{{"schema", "photonrail.plan/1"}, {"base", base}, {"objective", "gpu_seconds_per_request"}};
  if (random() % 2 == 0) {
    file["base"]["workload"]["serving"]["find_rate"] = {{"within", 0.1}};
  } else if (random() % 2 == 0) {
    file["objective"] = "usd_per_million_tokens";
    file["prices"] = {{"gpu_hour_usd", 2}, {"usd_per_kwh", 0.1}};
  }
  const json prompts = {{{"role", "prefill"}, {"servers", {0}}}, {{"role", "decode"}}};
  const json optical = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", pick({0.1, 10, 50})}}}};
  file["axes"] = {{{"pointer", "/cluster/servers"}, {"values", {1, 2, 4}}},
                  {{"name", "pools"},
                   {"variants",
                    {{"mixed", {{"/workload/serving/pools", {{{"role", "mixed"}}}}}},
                     {"apart", {{"/workload/serving/pools", prompts}}}}}},
                  {{"pointer", "/workload/serving/tp"}, {"values", {1, 2}}},
                  {{"name", "rails"},
                   {"variants",
                    {{"electrical", {{"/cluster/rail", {{"kind", "electrical"}}}}},
                     {"optical", {{"/cluster/rail", optical}, {"/controller", {{"name", "lru"}}}}}}}}};
  return file;
}

/// What the candidate costs, from its scenario and result alone; none: it cannot be, or misses the limits.
std::optional<double> objective_of(const Plan& plan, const Scenario& scenario) {
  const RunResult result = simulate(scenario);
  const json serving = json::parse(plan.base)["workload"]["serving"];
  const double gpus = scenario.cluster.gpus();
  double per_s = serving["requests"]["arrivals"]["per_s"];
  if (const auto& search = result.serving->rate_search) {
    if (!search->greatest) return std::nullopt;
    per_s = search->greatest->per_s;
  } else if (result.serving->slo->share < serving["slo"]["share"].get<double>()) {
    return std::nullopt;
  }
  if (plan.objectives.front() == PlanObjective::kGpuSecondsARequest) return gpus / per_s;
  const double watts = (result.cost->network_energy_per_step_j + result.cost->gpu_energy_per_step_j.value_or(0.0)) /
                       to_seconds(result.makespan);
  const double years = 4.0 * 365 * 86400;
  const double usd_a_second = gpus * 2.0 / 3600 + result.cost->bill.usd() / years + watts * 0.1 / 3.6e6;
  return usd_a_second / result.serving->steady_output_tokens_per_s * 1e6;
}

TEST(ServedPlans, TheWinnerOfDrawnSpacesIsThatOfAnExhaustiveRun) {
  std::mt19937_64 random(11);
  const std::uint64_t cases = test_cases(8);
  std::uint64_t excluded = 0;
  std::uint64_t winners = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const json file = served_plan(random);
    const Plan plan = parse_plan(file.dump(), "served.json");
    PlanOptions options;
    options.limit_s = 1e6;
    options.keep = 1;
    const PlanResult result = run_plan(plan, options);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < 24; ++i) {
      std::vector<Override> patch;
      std::size_t rest = i;
      for (const PlanAxis& axis : plan.axes) {
        const auto& chosen = axis.values[rest % axis.values.size()].patch;
        patch.insert(patch.end(), chosen.begin(), chosen.end());
        rest /= axis.values.size();
      }
      try {
        const auto value = objective_of(plan, parse_scenario(plan.base, ".", "served", patch));
        if (value) least = std::min(least, *value);
      } catch (const ConfigError&) {
        continue;
      }
    }
    excluded += result.excluded;
    std::uint64_t all = result.simulated + result.excluded + result.failed;
    for (const auto& [reason, count] : result.rejected) all += count;
    EXPECT_EQ(all, result.candidates);
    EXPECT_EQ(result.open, 0u);
    EXPECT_EQ(result.best.empty(), least == std::numeric_limits<double>::infinity()) << file.dump();
    if (result.best.empty()) continue;
    ++winners;
    EXPECT_NEAR(result.best.front().objectives.front(), least, least * 1e-9) << file.dump();
  }
  EXPECT_GT(excluded, cases * 2);
  EXPECT_GT(winners, cases / 2);
}

// A stopped search whose candidates so far could not be goes on with those whose bounds it had not found.
TEST(ServedPlans, AResumedSearchLooksAtAllThatIsLeft) {
  json file{{"schema", "photonrail.plan/1"}, {"base", base_of_served()}, {"objective", "gpu_seconds_per_request"}};
  file["axes"] = {{{"pointer", "/workload/serving/requests/count"}, {"values", {80, 90, 100}}}};
  file["base"]["workload"]["serving"]["slo"] = {{"ttft_ms", 0.1}};
  const Plan plan = parse_plan(file.dump(), "served.json");
  const Folder folder;
  PlanOptions options;
  options.directory = folder.path();
  options.jobs = 1;
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&stop](std::uint64_t decided, std::uint64_t) { stop = decided >= 1; };
  EXPECT_GT(run_plan(plan, options).open, 0u);
  options.stop = nullptr;
  const PlanResult result = run_plan(plan, options);
  EXPECT_EQ(result.open, 0u);
  EXPECT_EQ(result.rejected.at("/workload/serving/slo") + result.excluded, 3u);
}

// No engine computes prompts faster than its law: what a search of the rate finds is below the bound, and near it where
// prompts are all there is.
TEST(ServedPlans, TheGreatestRateIsBelowItsBound) {
  for (const double limit_ms : {50.0, 200.0}) {
    json base = base_of_served();
    json& serving = base["workload"]["serving"];
    serving["find_rate"] = {{"within", 0.02}};
    serving["requests"]["output"] = 1;
    serving["requests"]["count"] = 1000;
    serving["slo"] = {{"ttft_ms", limit_ms}};
    const Scenario scenario = parse_scenario(base.dump(), ".");
    const plan::ServedBound bound = plan::bound_of_served(scenario);
    const RunResult result = simulate(scenario);
    ASSERT_TRUE(result.serving->rate_search->greatest);
    const double found = result.serving->rate_search->greatest->per_s;
    EXPECT_LE(found, bound.requests_per_s);
    EXPECT_GT(found, bound.requests_per_s / 3.0);
    EXPECT_LE(result.serving->steady_output_tokens_per_s, bound.answers_per_s);
    // Of a cache that has all prompts nothing is known.
    serving["requests"]["prefix"] = {{"groups", 1}, {"tokens", 4000}};
    EXPECT_EQ(plan::bound_of_served(parse_scenario(base.dump(), ".")).requests_per_s,
              std::numeric_limits<double>::infinity());
  }
}

TEST(ServedPlans, CandidatesThatMissTheLimitsAreToldAndCounted) {
  json file{{"schema", "photonrail.plan/1"}, {"base", base_of_served()}, {"objective", "gpu_seconds_per_request"}};
  file["axes"] = {{{"pointer", "/cluster/servers"}, {"values", {1, 2, 4}}}};
  file["base"]["workload"]["serving"]["requests"]["arrivals"]["per_s"] = 100;
  const Folder folder;
  PlanOptions options;
  options.directory = folder.path();
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&stop](std::uint64_t decided, std::uint64_t) { stop = decided >= 1; };
  const Plan plan = parse_plan(file.dump(), "served.json");
  static_cast<void>(run_plan(plan, options));
  options.stop = nullptr;
  options.progress = {};
  const PlanResult result = run_plan(plan, options);
  ASSERT_FALSE(result.best.empty());
  const PlannedRun& best = result.best.front();
  ASSERT_TRUE(best.served);
  EXPECT_EQ(best.served->requests_per_s, 100.0);
  EXPECT_GE(best.served->share, 0.9);
  EXPECT_NEAR(best.served->tokens_per_s, 2000.0, 500.0);  // 80 arrivals: three deviations of a Poisson process are 33 %
  ASSERT_EQ(result.rejected.count("/workload/serving/slo"), 1u);
  EXPECT_NE(result.examples.at("/workload/serving/slo").find("of its requests keep their limits, and 90 % should"),
            std::string::npos);
  // What is around it can be.
  file["axes"].push_back({{"pointer", "/workload/serving/tp"}, {"values", {1, 3}}});
  const Plan wider = parse_plan(file.dump(), "served.json");
  const Sweep around = parse_sweep(sweep_around(wider, run_plan(wider)), "around.json");
  EXPECT_EQ(around.points.size(), 3u);
  for (const SweepPoint& point : around.points) EXPECT_NO_THROW(static_cast<void>(scenario_of(around, point)));
  const RunResult again = simulate(parse_scenario(planned_scenario(plan, best), "."));
  EXPECT_EQ(again.serving->slo->share, best.served->share);
}

// A plan's price of a million tokens is that which `photonrail cost` tells of the same run.
TEST(ServedPlans, APlanAndABillHaveOnePriceOfTokens) {
  json file{{"schema", "photonrail.plan/1"}, {"base", base_of_served()}, {"objective", "usd_per_million_tokens"}};
  file["axes"] = {{{"pointer", "/cluster/servers"}, {"values", {2, 4}}}};
  file["prices"] = {{"gpu_hour_usd", 2}, {"usd_per_kwh", 0.1}};
  const Plan plan = parse_plan(file.dump(), "served.json");
  const PlanResult result = run_plan(plan);
  ASSERT_FALSE(result.best.empty());
  const PlannedRun& best = result.best.front();
  const RunResult run = simulate(parse_scenario(planned_scenario(plan, best), "."));
  const Folder folder;
  std::ofstream(folder.path() / "result.json") << to_json(run);
  report::ResultPrices prices;
  prices.prices.gpu_hour_usd = 2;
  prices.prices.usd_per_kwh = 0.1;
  const json bill = json::parse(report::cost_of_results(folder.path(), prices, true));
  const double usd = bill[0]["usd_per_million_output_tokens"];
  EXPECT_NEAR(usd, best.objectives.front(), usd * 1e-9);
  EXPECT_NEAR(bill[0]["kwh_per_million_output_tokens"].get<double>(),
              json::parse(to_json(run))["cost"]["kwh_per_million_output_tokens"].get<double>(), 1e-9);
}

TEST(ServedPlans, ObjectivesOfRequestsNeedRequestsWithLimits) {
  json file{{"schema", "photonrail.plan/1"}, {"base", base_of_served()}, {"objective", "gpu_seconds_per_request"}};
  file["axes"] = {{{"pointer", "/cluster/servers"}, {"values", {1, 2}}}};
  file["base"]["workload"]["serving"].erase("slo");
  const auto problem = [&file] {
    try {
      static_cast<void>(run_plan(parse_plan(file.dump(), "served.json")));
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(problem().find("there are no requests within limits"), std::string::npos) << problem();
  file["objective"] = "usd_per_million_tokens";
  EXPECT_NE(problem().find("has no prices"), std::string::npos) << problem();
  // A closed loop has no rate.
  file["objective"] = "gpu_seconds_per_request";
  file["base"] = base_of_served();
  json& requests = file["base"]["workload"]["serving"]["requests"];
  requests.erase("arrivals");
  requests["concurrency"] = 4;
  EXPECT_NE(problem().find("concurrency"), std::string::npos) << problem();
}

}  // namespace
}  // namespace photonrail::test
