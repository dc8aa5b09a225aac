// The planner against runs of everything: the same winner, bounds below every step, and what a folder keeps.
#include "photonrail/study/plan.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "support/folder.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A model of eight equal layers on 16 GPUs.
json base_of_plan() {
  return json::parse(R"({
    "schema": "photonrail.scenario/1", "name": "small",
    "cluster": {"servers": 4, "gpus_per_server": 4, "rail": {"kind": "electrical"},
                "gpu": {"peak_tflops": 100, "memory_gb_per_s": 1000, "memory_gb": 8, "compute_efficiency": 0.5},
                "nic": {"port_gb_per_s": 25}},
    "workload": {"training": {"model": {"layers": 8, "hidden": 1024, "ffn": 4096, "heads": 16, "kv_heads": 4,
                                        "vocabulary": 32000},
                              "parallelism": {"tp": 1, "pp": 1, "dp": 16}, "sequence": 1024, "global_batch": 64}},
    "run": {"iterations": 2}})");
}

json plan_file() {
  return {{"schema", "photonrail.plan/1"},
          {"base", base_of_plan()},
          {"shapes", {{"tp", "auto"}, {"pp", {1, 2, 4, 8}}, {"micro_batch", {1, 2}}, {"sharding", {"zero1", "fsdp"}}}},
          {"axes",
           {{{"name", "rails"},
             {"variants",
              {{"electrical", {{"/cluster/rail", {{"kind", "electrical"}}}}},
               {"optical",
                {{"/cluster/rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}}}}},
                 {"/controller", {{"name", "opus"}, {"mode", "provisioned"}}}}}}}}}}};
}

Plan parsed(const json& file) { return parse_plan(file.dump(), "small.json"); }

/// Every shape of the plan under every axis, run one by one. Returns the least step in seconds.
double exhaustive(const Plan& plan) {
  double best = std::numeric_limits<double>::infinity();
  const ShapeSpace& s = *plan.shapes;
  for (const std::uint32_t tp : s.tp) {
    for (const std::uint32_t pp : s.pp) {
      for (const std::uint32_t micro_batch : s.micro_batch) {
        for (const std::string& sharding : s.sharding) {
          for (const PlanValue& value : plan.axes.front().values) {
            if (16 % (tp * pp) != 0) continue;
            std::vector<Override> patch = value.patch;
            const std::string at = "/workload/training/";
            patch.push_back({at + "parallelism", json{{"tp", tp},
                                                      {"pp", pp},
                                                      {"dp", 16 / (tp * pp)},
                                                      {"fsdp", sharding == "fsdp"},
                                                      {"zero1", sharding == "zero1"}}
                                                     .dump()});
            patch.push_back({at + "micro_batch", std::to_string(micro_batch)});
            try {
              const Scenario scenario = parse_scenario(plan.base, ".", "base", patch);
              if (scenario.infeasible().empty()) best = std::min(best, to_seconds(simulate(scenario).step_time()));
            } catch (const ConfigError&) {
              continue;
            }
          }
        }
      }
    }
  }
  return best;
}

TEST(Planner, FindsWhatAnExhaustiveRunFinds) {
  std::mt19937_64 random(1);
  const auto pick = [&random](const std::vector<double>& from) { return from[random() % from.size()]; };
  std::uint64_t excluded = 0;
  std::uint64_t feasible = 0;
  const std::uint64_t spaces = std::min<std::uint64_t>(50, test_cases(3));
  for (std::uint64_t space = 0; space < spaces; ++space) {
    json file = plan_file();
    json& cluster = file["base"]["cluster"];
    cluster["nic"]["port_gb_per_s"] = pick({5, 25, 100});
    cluster["gpu"]["memory_gb"] = pick({2, 4, 8, 80});
    cluster["gpu"]["peak_tflops"] = pick({50, 100, 400});
    json& training = file["base"]["workload"]["training"];
    training["model"]["layers"] = pick({8, 10, 12});
    training["global_batch"] = pick({32, 64});
    const Plan plan = parsed(file);
    PlanOptions options;
    options.limit_s = 1e6;
    const PlanResult result = run_plan(plan, options);
    const double best = exhaustive(plan);
    ASSERT_EQ(result.open, 0u);
    ASSERT_EQ(result.best.empty(), best > 1e300) << file.dump();
    if (result.best.empty()) continue;
    EXPECT_EQ(result.best.front().step_s, best) << file.dump();
    excluded += result.excluded;
    feasible += result.excluded + result.simulated;
  }
  EXPECT_GT(excluded, 0u);
  std::cout << "excluded by bounds: " << 100.0 * static_cast<double>(excluded) / static_cast<double>(feasible)
            << " % of the feasible candidates\n";
}

// The bound is proven (bound.cpp): here it is held against every shape, schedule and delay.
TEST(Planner, NoStepIsShorterThanItsBound) {
  const Folder folder;
  const json base = base_of_plan();
  std::size_t seen = 0;
  for (const char* schedule : {"1f1b", "gpipe", "interleaved", "bfs", "zb-h1", "zb-h2"}) {
    for (const std::uint32_t pp : {1u, 2u, 4u}) {
      for (const std::uint32_t iterations : {1u, 2u, 4u}) {
        json file = base;
        json& training = file["workload"]["training"];
        training["parallelism"] = {{"tp", 2}, {"pp", pp}, {"dp", 8 / pp}, {"zero1", true}};
        training["schedule"] = schedule;
        if (std::string_view(schedule) == "interleaved") training["parallelism"]["virtual_stages"] = 2;
        training["recompute"] = seen % 2 == 0 ? "none" : "full";
        file["cluster"]["gpu"]["memory_gb"] = 800;
        file["run"]["iterations"] = iterations;
        try {
          const Scenario scenario = parse_scenario(file.dump(), ".");
          const TrainingSpec spec = read_training_spec(folder.write("s.json", file.dump()));
          StepBound bound(scenario.cluster);
          const Duration least = bound.of(spec);
          const Duration step = simulate(scenario).step_time();
          EXPECT_LE(least, step) << file.dump();
          EXPECT_GT(to_seconds(least), 0.4 * to_seconds(step)) << file.dump();
          ++seen;
        } catch (const ConfigError&) {
          continue;  // a schedule that this shape has not
        }
      }
    }
  }
  EXPECT_GT(seen, 30u);
}

TEST(Planner, AFolderIsGoneOnWith) {
  const Folder folder;
  const Plan plan = parsed(plan_file());
  PlanOptions options;
  options.limit_s = 1e6;
  options.jobs = 1;
  const PlanResult whole = run_plan(plan, options);
  options.directory = folder.path();
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&stop](std::uint64_t decided, std::uint64_t) { stop = decided >= 3; };
  const PlanResult first = run_plan(plan, options);
  EXPECT_EQ(first.simulated + first.failed, 3u);
  EXPECT_GT(first.open, 0u);
  EXPECT_GT(first.gap, 0.0);
  options.stop = nullptr;
  options.progress = {};
  const PlanResult second = run_plan(plan, options);
  EXPECT_EQ(second.reused, 3u);
  EXPECT_EQ(second.gap, 0.0);
  ASSERT_EQ(second.best.size(), whole.best.size());
  for (std::size_t i = 0; i < whole.best.size(); ++i) {
    EXPECT_EQ(second.best[i].labels, whole.best[i].labels);
    EXPECT_EQ(second.best[i].step_s, whole.best[i].step_s);
  }
  json other = plan_file();
  other["base"]["workload"]["training"]["sequence"] = 2048;
  EXPECT_THAT(message_of([&] { static_cast<void>(run_plan(parsed(other), options)); }), HasSubstr("runs.jsonl"));
  json limited = plan_file();
  limited["limits"] = {{"usd", 1}};
  EXPECT_THAT(message_of([&] { static_cast<void>(run_plan(parsed(limited), options)); }), HasSubstr("runs.jsonl"));
}

TEST(Planner, TheBestRunsAsItIs) {
  const Plan plan = parsed(plan_file());
  const PlanResult result = run_plan(plan);
  ASSERT_FALSE(result.best.empty());
  const Scenario scenario = parse_scenario(planned_scenario(plan, result.best.front()), ".");
  EXPECT_EQ(to_seconds(simulate(scenario).step_time()), result.best.front().step_s);
}

TEST(Planner, SaysWhatCannotBeAndWhatIsNearest) {
  json file = plan_file();
  file["base"]["cluster"]["gpu"]["memory_gb"] = 0.1;
  const PlanResult result = run_plan(parsed(file));
  EXPECT_TRUE(result.best.empty());
  EXPECT_GT(result.rejected.at("memory of a GPU"), 0u);
  EXPECT_THAT(result.nearest, HasSubstr("a GPU would hold"));
  std::uint64_t rejected = 0;
  for (const auto& [reason, count] : result.rejected) rejected += count;
  EXPECT_EQ(rejected, result.candidates);
}

TEST(Planner, LimitsTheBill) {
  json file = plan_file();
  file["base"]["cost"] = json::object();
  const PlanResult any = run_plan(parsed(file));
  ASSERT_TRUE(any.best.front().usd.has_value());
  file["limits"] = {{"usd", 1}};
  const PlanResult none = run_plan(parsed(file));
  EXPECT_TRUE(none.best.empty());
  EXPECT_GT(none.rejected.at("/limits/usd"), 0u);
}

TEST(Planner, BadFilesAreRefusedWithAPlace) {
  const auto refusal = [](const json& file) { return message_of([&] { static_cast<void>(parsed(file)); }); };
  json nothing = plan_file();
  nothing.erase("shapes");
  nothing.erase("axes");
  EXPECT_THAT(refusal(nothing), HasSubstr("leaves nothing free"));
  json empty = plan_file();
  empty["shapes"]["tp"] = json::array();
  EXPECT_THAT(refusal(empty), HasSubstr("/shapes/tp"));
  json word = plan_file();
  word["shapes"]["recompute"] = "some";
  EXPECT_THAT(refusal(word), HasSubstr("/shapes/recompute"));
  json objective = plan_file();
  objective["objective"] = "money";
  EXPECT_THAT(refusal(objective), HasSubstr("/objective"));
  json other = plan_file();
  other["base"]["workload"] = {{"collective", {{"op", "all_reduce"}, {"ranks", 16}, {"bytes", 1000}}}};
  EXPECT_THAT(refusal(other), HasSubstr("training"));
}

}  // namespace
}  // namespace photonrail::test
