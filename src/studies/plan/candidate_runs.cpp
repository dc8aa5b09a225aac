#include "studies/plan/candidate_runs.hpp"

#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "run/rate_search.hpp"
#include "studies/plan/objective.hpp"
#include "studies/plan/served.hpp"
#include "studies/plan/step_key.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace photonrail::plan {

namespace {

/// Ends a run when the time of the search is over.
class Deadline : public run::TrialObserver {
 public:
  explicit Deadline(const std::function<bool()>& is_over) : is_over_(is_over) {}
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  [[nodiscard]] bool watches_the_found() const override { return false; }
  void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time) override {
    if (is_over_()) throw OutOfTime{};
  }
  void tried(std::size_t /*runs*/, const ServingResult::RateTrial& /*last*/) override {
    if (is_over_()) throw OutOfTime{};
  }

 private:
  const std::function<bool()>& is_over_;
};

bool asks_for_months(const Plan& plan) {
  return json::parse_json(plan.base, plan.file.string()).find("reliability") != nullptr &&
         std::any_of(plan.objectives.begin(), plan.objectives.end(), spans_months);
}

}  // namespace

CandidateRuns::CandidateRuns(const Plan& plan, const Registries& known, std::function<bool()> is_over)
    : plan_(plan), known_(known), is_over_(std::move(is_over)), has_months_(asks_for_months(plan)) {}

Outcome CandidateRuns::run(const std::vector<Override>& patch) {
  Outcome outcome;
  try {
    const std::string key = step_key(plan_, patch, false);
    if (take_step(key, outcome.run)) {
      ++reused_;
    } else {
      outcome = simulated(patch);
      if (outcome.kind != Outcome::Kind::kDone) return outcome;
      const std::scoped_lock lock(mutex_);
      steps_.emplace(key, outcome.run);
    }
    if (has_months_) add_months(patch, outcome.run);
  } catch (const ConfigError& e) {
    const std::string begin = plan_.name + ": ";
    const std::string where = e.where().starts_with(begin) ? e.where().substr(begin.size()) : e.where();
    outcome = {Outcome::Kind::kRejected, where, e.problem()};
  } catch (const DeadlockError& e) {
    outcome = {Outcome::Kind::kFailed, "cannot finish", e.what()};
  } catch (const ControllerError& e) {
    outcome = {Outcome::Kind::kFailed, "the controller is in error", e.what()};
  }
  return outcome;
}

bool CandidateRuns::take_step(const std::string& key, PlannedRun& run) {
  const std::scoped_lock lock(mutex_);
  const auto same = steps_.find(key);
  if (same == steps_.end()) return false;
  run = same->second;
  return true;
}

Outcome CandidateRuns::simulated(const std::vector<Override>& patch) const {
  Scenario scenario = parse_scenario(plan_.base, plan_.base_directory, plan_.name, patch, known_);
  if (const std::string problem = scenario.infeasible(); !problem.empty())
    return {Outcome::Kind::kRejected, "memory of a GPU", problem};
  scenario.run.spread_seeds.reset();
  Deadline deadline(is_over_);
  Observer* const observers[] = {&deadline};
  const RunResult result = simulate(scenario, observers, known_);
  if (const std::string missed = missed_limits(scenario, result); !missed.empty())
    return {Outcome::Kind::kRejected, kMissedLimits, missed};
  Outcome outcome;
  PlannedRun& run = outcome.run;
  run.served = served_of(scenario, result);
  const bool counts = std::any_of(plan_.objectives.begin(), plan_.objectives.end(), counts_requests);
  if (counts && run.served && run.served->requests_per_s <= 0.0)
    return {Outcome::Kind::kRejected, "/workload/serving/requests", "they come at once, and have no rate"};
  run.step_s = to_seconds(result.step_time());
  run.makespan = result.makespan;
  run.mean = result.mean_rank_time();
  run.memory_bytes = result.peak_memory_bytes();
  run.size.gpus = static_cast<double>(scenario.cluster.gpus());
  if (scenario.work) run.size.tokens = scenario.work->tokens;
  if (result.cost) run.energy_j = result.cost->network_energy_per_step_j + result.cost->gpu_energy_per_step_j.value_or(0.0);
  return outcome;
}

void CandidateRuns::add_months(const std::vector<Override>& patch, PlannedRun& run) {
  const goodput::GoodputScenario months =
      goodput::parse_goodput(plan_.base, plan_.base_directory, plan_.name, patch, known_);
  known_steps_.add_healthy(months, Duration{static_cast<std::int64_t>(std::llround(run.step_s * 1e12))});
  GoodputOptions options;
  options.known_steps = &known_steps_;
  options.progress = [this](const GoodputProgress&) {
    if (is_over_()) throw OutOfTime{};
  };
  const goodput::GoodputSummary summary = run_goodput(months, options, known_).summary;
  run.productive = {summary.ettr.mean, summary.ettr.low, summary.ettr.high};
  run.size.gpus = summary.all_gpus;
}

}  // namespace photonrail::plan
