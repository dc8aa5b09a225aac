#include "photonrail/simulate.hpp"

#include "sim/jobs.hpp"
#include "sim/runner.hpp"

#include <sys/resource.h>

#include <chrono>

namespace photonrail {

namespace {

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers) {
  return simulate(scenario, observers, Registries{});
}

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries) {
  scenario.validate();
  const auto started = std::chrono::steady_clock::now();
  RunResult result;
  result.name = scenario.name;
  result.seed = scenario.run.seed;
  result.warnings = scenario.graph.warnings();
  if (scenario.jobs.empty()) {
    Runner(scenario, scenario.run, observers, registries).run(result);
  } else {
    run_jobs(scenario, observers, registries, result);
  }
  result.engine.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.engine.peak_rss_mb = peak_rss_mb();
  return result;
}

}  // namespace photonrail
