// Laws of plans: every candidate is counted once, the best is that of an exhaustive run, runs as it is, and is the same
// whether the search was stopped, gone on with, or had two threads.
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/explain.hpp"
#include "studies/plan/report.hpp"
#include "worlds/family.hpp"
#include "worlds/inputs.hpp"
#include "worlds/judge.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string_view>

namespace photonrail::worlds {

namespace {

constexpr double kNoLimit = 1e6;  // seconds

PlanResult run_into(const photonrail::Plan& plan, const std::filesystem::path& folder, std::uint32_t threads) {
  PlanOptions options;
  options.directory = folder;
  options.jobs = threads;
  options.limit_s = kNoLimit;
  return run_plan(plan, options);
}

std::string problem_of_counts(const PlanResult& result) {
  std::uint64_t sum = result.simulated + result.excluded + result.failed + result.open;
  for (const auto& [reason, count] : result.rejected) sum += count;
  if (sum != result.candidates)
    return std::to_string(sum) + " of " + std::to_string(result.candidates) + " candidates are counted";
  if (result.open > 0 || result.gap != 0.0) return "a search without a limit left candidates open";
  if (result.best.empty() != (result.simulated == 0)) return "a candidate ran and there is no best, or none did";
  return "";
}

/// Every combination of the values of the axes.
std::vector<std::vector<Override>> combinations(const photonrail::Plan& plan) {
  std::vector<std::vector<Override>> all(1);
  for (const PlanAxis& axis : plan.axes) {
    std::vector<std::vector<Override>> longer;
    for (const std::vector<Override>& patch : all) {
      for (const PlanValue& value : axis.values) {
        longer.push_back(patch);
        longer.back().insert(longer.back().end(), value.patch.begin(), value.patch.end());
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// The objective of one candidate, from its result alone; none: it cannot be, cannot end, or misses its limits.
std::optional<double> objective_of(const photonrail::Plan& plan, std::vector<Override> patch) {
  // Electrical rails have no controller, whatever an axis says of it.
  const auto find = [&patch](std::string_view pointer) {
    return std::find_if(patch.rbegin(), patch.rend(), [&](const Override& set) { return set.pointer == pointer; });
  };
  const auto rail = find("/cluster/rail");
  if (find("/controller") != patch.rend() && rail != patch.rend() && rail->value.find("electrical") != std::string::npos)
    patch.push_back({"/controller", R"({"name": "electrical"})"});
  try {
    Scenario scenario = parse_scenario(plan.base, inputs(), "world.json", patch);
    if (!scenario.infeasible().empty()) return std::nullopt;
    scenario.run.spread_seeds.reset();
    const RunResult result = simulate(scenario);
    const auto limits = nlohmann::json::parse(plan.base).value("/workload/serving/slo"_json_pointer, nlohmann::json());
    double per_s = 0.0;
    if (result.serving && !limits.is_null()) {
      const auto& search = result.serving->rate_search;
      if (search ? !search->greatest : result.serving->slo->share < limits.value("share", 0.9)) return std::nullopt;
      if (search) per_s = search->greatest->per_s;
    }
    if (plan.objectives.front() == PlanObjective::kStep) return to_seconds(result.step_time());
    if (per_s == 0.0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(scenario.cluster.gpus()) / per_s;
  } catch (const ConfigError&) {
  } catch (const DeadlockError&) {
  } catch (const ControllerError&) {
  }
  return std::nullopt;
}

/// Of plans without shapes and budgets, whose objective a result says: else nothing is said.
std::string problem_of_best(const photonrail::Plan& plan, const PlanResult& result, Verdict& verdict) {
  const bool said = plan.objectives.size() == 1 && (plan.objectives.front() == PlanObjective::kStep ||
                                                    plan.objectives.front() == PlanObjective::kGpuSecondsARequest);
  if (!said || plan.shapes || plan.limits.usd || plan.limits.power_w) return "";
  verdict.laws.emplace_back("exhaustive");
  std::optional<double> least;
  for (const std::vector<Override>& patch : combinations(plan)) {
    const std::optional<double> value = objective_of(plan, patch);
    ++verdict.runs;
    if (value && *value != *value) return "";  // the rate is that of the arrivals, which a result does not say
    if (value) least = std::min(*value, least.value_or(*value));
  }
  if (!least) return result.best.empty() ? "" : "the best cannot be";
  if (result.best.empty()) return "there is no best where a candidate can be";
  const double best = result.best.front().objectives.front();
  if (best == *least) return "";
  return "the best has " + std::to_string(best) + ", and one has " + std::to_string(*least);
}

// Stopped after its first candidate, as by Ctrl-C.
void run_stopped(const photonrail::Plan& plan, const std::filesystem::path& folder) {
  std::atomic<bool> stop = false;
  PlanOptions options;
  options.directory = folder;
  options.jobs = 1;
  options.limit_s = kNoLimit;
  options.stop = &stop;
  options.progress = [&stop](std::uint64_t decided, std::uint64_t) { stop = decided > 0; };
  static_cast<void>(run_plan(plan, options));
}

void judge_ways(const photonrail::Plan& plan, const PlanResult& expected, Verdict& verdict) {
  const auto differs = [&](const PlanResult& result, const char* how) {
    ++verdict.runs;
    // Beside the best of one objective what else was simulated is told, and that differs.
    const bool alike = plan.objectives.size() > 1 ? result.best.size() == expected.best.size()
                                                  : result.best.empty() == expected.best.empty();
    const bool same =
        alike && (result.best.empty() || (result.best.front().labels == expected.best.front().labels &&
                                          result.best.front().objectives == expected.best.front().objectives));
    if ((same && problem_of_counts(result).empty()) || !verdict.symptom.empty()) return;
    verdict.symptom = "resume";
    verdict.detail = std::string("another answer ") + how + "; " + problem_of_counts(result);
  };
  differs(run_into(plan, {}, 2), "with two threads");
  const Scratch scratch;
  run_stopped(plan, scratch.folder() / "a");
  differs(run_into(plan, scratch.folder() / "a", 1), "after a stop");
  cut_last_line(scratch.folder() / "a/runs.jsonl");
  differs(run_into(plan, scratch.folder() / "a", 1), "when the last line of the folder is cut");
}

void judge_answer(const photonrail::Plan& plan, const PlanResult& result, Verdict& verdict) {
  PlanOptions options;
  options.limit_s = 1.0;
  const plan::PlanExplanation explanation = plan::explain_plan(plan, result, options);
  if (has_no_number(plan::plan_json(plan, result, explanation))) verdict.detail = "the result has a number that is none";
  if (!result.best.empty()) {
    const PlannedRun& best = result.best.front();
    Scenario scenario = parse_scenario(planned_scenario(plan, best), inputs());
    scenario.run.spread_seeds.reset();
    const double step = to_seconds(simulate(scenario).step_time());
    ++verdict.runs;
    if (step != best.step_s) verdict.detail = "the scenario of the best has another step";
  }
  if (!verdict.detail.empty()) verdict.symptom = "answer";
}

}  // namespace

Verdict judge_plan(const World& world, const JudgeOptions&) {
  return ending_of([&](Verdict& verdict) {
    const photonrail::Plan plan = parse_plan(world.scenario.dump(), inputs() / "world.json");
    const PlanResult result = run_into(plan, {}, 1);
    verdict.laws = {"counts", "resume", "answer"};
    std::string problem = problem_of_counts(result);
    const char* law = "counts";
    if (problem.empty()) {
      problem = problem_of_best(plan, result, verdict);
      law = "exhaustive";
    }
    if (!problem.empty()) {
      verdict.symptom = law;
      verdict.detail = problem;
      return;
    }
    judge_answer(plan, result, verdict);
    if (verdict.symptom.empty()) judge_ways(plan, result, verdict);
  });
}

}  // namespace photonrail::worlds
