#include "run/equal_steps.hpp"

#include "execution/observer_list.hpp"
#include "run/foldable.hpp"
#include "run/growth.hpp"
#include "run/heartbeat.hpp"
#include "run/step_hashes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace photonrail::run {

namespace {

constexpr std::array<std::uint32_t, 3> kTrials{6, 12, 30};  // steps of the first run, the least first
constexpr std::uint32_t kWorthIt = 4;                       // times the steps of a trial, and the job has more

// A later step can differ where something is drawn, fails at a certain time, or remembers more than requests and circuits.
bool may_repeat(const JobSpec& job, const ClusterSpec& cluster, const RunSpec& run, const ControllerSpec& controller,
                const Registries& registries) {
  const ControllerFactory& factory = registries.controllers.find(controller.name);
  const TrafficSource* const demands = job.graph.demands();
  return run.folding && run.network_accuracy <= 0.0 && job.workload == nullptr && factory.rank_symmetric &&
         job.stragglers.empty() && (demands == nullptr || !demands->drifts()) &&
         why_not_foldable(seen_by(cluster, job.gpu_of_rank), controller, factory, job.graph.ranks()).empty();
}

class EqualSteps {
 public:
  EqualSteps(const JobRun& job, const ControllerSpec& controller, RunCaches& caches, const RunResult& before)
      : job_(job), controller_(controller), caches_(caches), before_(before) {}

  // Leaves the result of all steps in `result`, or as it is.
  bool run(RunResult& result) const {
    for (const std::uint32_t few : kTrials) {
      if (job_.run.iterations <= kWorthIt * few) return false;
      StepsResult first = run(few, true);
      const std::optional<std::uint32_t> period = first.record.hashes->period();
      if (!period) continue;
      // The steps that are not run are a multiple of the period.
      const std::uint32_t shortest = few + (job_.run.iterations - few) % *period;
      const std::size_t steady = first.record.hashes->windows();
      if (shortest != few) first = run(shortest, false);
      return grow(first, shortest, *period, steady, result);
    }
    return false;
  }

 private:
  [[nodiscard]] StepsResult run(std::uint32_t steps, bool hashed) const {
    StepsResult trial{before_, {.hashed = hashed}};
    Heartbeat heartbeat(job_.observers);
    JobRun few = job_;
    few.run.iterations = steps;
    few.observers = heartbeat.list();
    few.steps = &trial.record;
    Runner(few, controller_, caches_).run(trial.result);
    return trial;
  }

  // The first `steady` steps are those that repeat, and what comes before them.
  bool grow(StepsResult& first, std::uint32_t steps, std::uint32_t period, std::size_t steady, RunResult& result) const {
    StepsResult second = run(steps + period, false);
    StepsResult third = run(steps + 2 * period, false);
    const std::int64_t times = (job_.run.iterations - steps - 2 * period) / period;
    if (!run::grow({&first, &second, &third}, times, period, steady)) return false;
    result = std::move(third.result);
    result.choices.push_back("steps: " + std::to_string(steps + 2 * period) + " of " + std::to_string(job_.run.iterations) +
                             " were run; from step " + std::to_string(steady - period + 1) + " on " +
                             (period == 1 ? std::string("all are equal") : "every " + std::to_string(period) + " repeat"));
    return true;
  }

  const JobRun& job_;
  const ControllerSpec& controller_;
  RunCaches& caches_;
  const RunResult& before_;
};

}  // namespace

bool run_equal_steps(const JobRun& job, const ControllerSpec& controller, RunCaches& caches, RunResult& result) {
  if (job.agent != nullptr || execution::watch_ranks(job.observers)) return false;
  if (!may_repeat(job.scenario, job.scenario.cluster, job.run, controller, job.registries)) return false;
  const RunResult before = result;
  if (!EqualSteps(job, controller, caches, before).run(result)) return false;
  for (Observer* const observer : job.observers) {
    observer->begin(job.scenario);
    observer->end(Time{} + result.makespan);
  }
  return true;
}

// Three runs, each a step longer than the one before.
std::uint32_t steps_to_run(const JobSpec& job, const ClusterSpec& cluster, const RunSpec& run,
                           const Registries& registries) {
  const std::uint32_t few = kTrials.front();
  const bool repeats = run.iterations > kWorthIt * few && may_repeat(job, cluster, run, job.controller, registries);
  return repeats ? 3 * few + 3 : run.iterations;
}

}  // namespace photonrail::run
