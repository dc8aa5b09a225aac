#include "photonrail/simulate.hpp"

#include "photonrail/error.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/decided_workload.hpp"
#include "run/notes.hpp"
#include "run/peak_memory.hpp"
#include "run/plausibility.hpp"
#include "run/rate_search.hpp"
#include "run/refit_check.hpp"
#include "run/rehearsals.hpp"
#include "run/shared_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace photonrail {

namespace {

// A network that cannot be built of the catalogue's switches is no reason to lose the run.
void price(const Scenario& scenario, RunResult& result) {
  if (!scenario.pricing) return;
  const std::size_t steps = result.rl ? result.rl->steps.size() : result.iterations.size();
  const Duration step = result.makespan / static_cast<std::int64_t>(std::max<std::size_t>(1, steps));
  const auto computing = static_cast<double>(result.mean_rank_time().compute.count());
  const double utilisation = result.makespan > Duration{} ? computing / static_cast<double>(result.makespan.count()) : 0.0;
  try {
    result.cost =
        cost_of(scenario.cluster, *scenario.pricing, step, static_cast<std::uint32_t>(result.ranks.size()), utilisation);
  } catch (const ConfigError& error) {
    // Without the place: it names a field of the scenario, and who has a file knows it by another name.
    result.warnings.push_back("no cost: " + error.problem() + (error.hint().empty() ? "" : " (" + error.hint() + ")"));
  }
}

}  // namespace

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers) {
  return simulate(scenario, observers, Registries{});
}

namespace {

RunResult run_once(const Scenario& scenario, WorkloadAgent* agent, std::span<Observer* const> observers,
                   const Registries& registries) {
  RunResult result;
  result.name = scenario.name;
  result.seed = scenario.run.seed;
  result.warnings = scenario.jobs.empty() ? scenario.warnings() : run::cluster_warnings(scenario.cluster);
  run::describe(scenario, registries, result);
  if (agent != nullptr) run::check_decided(scenario, *agent, registries);
  if (agent == nullptr && scenario.workload != nullptr) {
    run::check_decided(scenario, *scenario.workload->make(scenario, scenario.run.seed), registries);
  }
  if (scenario.jobs.empty()) {
    run::check_refit(scenario, registries);
    run::run_job({scenario, registries, scenario.run, observers, agent}, result);
    run::check_first_step(scenario, result);
  } else {
    run::run_jobs(scenario, observers, registries, result);
  }
  price(scenario, result);
  return result;
}

void end_clock(std::chrono::steady_clock::time_point started, RunResult& result) {
  result.engine.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.engine.peak_rss_mb = run::peak_rss_mb();
}

}  // namespace

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries) {
  scenario.validate();
  const auto started = std::chrono::steady_clock::now();
  if (const std::optional<Scenario> fixed = run::with_known_futures(scenario)) {
    return simulate(*fixed, observers, registries);
  }
  const run::RunOnce once = [&](const Scenario& of, std::span<Observer* const> told) {
    return run_once(of, nullptr, told, registries);
  };
  RunResult result =
      run::searches_rate(scenario) ? run::run_at_greatest_rate(scenario, observers, once) : once(scenario, observers);
  if (scenario.run.spread_seeds) add_spread(scenario, *scenario.run.spread_seeds, registries, result);
  run::add_notes(scenario, registries, result);
  run::add_forecast(scenario, registries, result);
  end_clock(started, result);
  return result;
}

RunResult simulate(const Scenario& scenario, WorkloadAgent& agent, std::span<Observer* const> observers,
                   const Registries& registries) {
  scenario.validate();
  if (const std::optional<Scenario> fixed = run::with_known_future(scenario, agent)) {
    return simulate(*fixed, observers, registries);
  }
  const auto started = std::chrono::steady_clock::now();
  RunResult result = run_once(scenario, &agent, observers, registries);
  run::add_notes(scenario, registries, result);
  run::add_forecast(scenario, registries, result);
  end_clock(started, result);
  return result;
}

}  // namespace photonrail
