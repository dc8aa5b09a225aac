// How much work the months of a job are: measured on histories of 16 to 16,384 servers, of each effect and action.
#include "studies/goodput/work.hpp"

#include "photonrail/study/goodput.hpp"
#include "studies/work.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::goodput {

namespace {

// Seconds.
constexpr double kHistory = 20e-6;
constexpr double kServer = 0.1e-6;  // of a history: its state
constexpr double kClock = 0.15e-6;  // of a history: a part with a clock of its own
constexpr double kFailure = 4e-6;
constexpr double kPending = 0.16e-6;     // of a failure, for each server that is down meanwhile: the job may wait for it
constexpr double kDegraded = 3e-6;       // of a failure, for each part that slows the job down meanwhile
constexpr double kSpareLookedAt = 7e-9;  // of a swap
constexpr double kPause = 1e-6;
constexpr double kClusters = 30.0;  // distinct ones in all histories: 10 to 60 in those of configs/
constexpr double kSteps = 3.0;      // a history of so many steps takes at most about so many times their time

/// What happens in one history, on average.
struct Happenings {
  double failures = 0.0;
  double down = 0.0;       ///< servers at an instant
  double slow = 0.0;       ///< parts at an instant that degrade the step
  double degrading = 0.0;  ///< failures that do
  double clocks = 0.0;
};

double days_of(const GoodputScenario& scenario) {
  const GoodputSpec& spec = scenario.spec;
  if (spec.steps == 0 || scenario.job) return spec.days;
  return std::min(spec.days, kSteps * static_cast<double>(spec.steps) * to_seconds(scenario.step) / 86400.0);
}

Happenings happenings_of(const GoodputSpec& spec, double days) {
  Happenings all;
  for (const FailureSource& source : spec.failures) {
    const double parts = spec.parts_of(source);
    const double working = source.time_to_failure.mean();
    const double repair = source.repair.mean();
    all.failures += parts * days * 86400.0 / working;
    const double out = std::min(parts * repair / (working + repair), parts * days * 86400.0 / working);
    const bool degrades = source.degradation != Degradation::kNone;
    (degrades ? all.slow : all.down) += out;
    if (degrades) all.degrading += parts * days * 86400.0 / working;
    if (source.time_to_failure.law != RandomTime::Law::kExponential) all.clocks += parts;
  }
  if (!spec.trace) return all;
  all.failures += static_cast<double>(spec.trace->faults.size());
  double server_days = 0.0;
  for (const TraceFault& fault : spec.trace->faults) server_days += fault.end_d - fault.start_d;
  all.down += std::min<double>(spec.servers(), server_days / std::max(days, 1e-9));
  return all;
}

bool has(const GoodputSpec& spec, RecoveryAction action) {
  return std::any_of(spec.recovery.begin(), spec.recovery.end(),
                     [action](const auto& option) { return option.action == action; });
}

double clusters_of(const GoodputSpec& spec, const Happenings& all) {
  const double dropped = has(spec, RecoveryAction::kDropReplica) ? spec.job.replicas - spec.job.min_replicas : 0.0;
  return std::min(kClusters, (all.degrading + std::min(dropped, all.failures)) * spec.seeds);
}

}  // namespace

WorkEstimate work_of_months(const GoodputScenario& scenario, const WorkEstimate& step) {
  const GoodputSpec& spec = scenario.spec;
  const double days = days_of(scenario);
  const Happenings all = happenings_of(spec, days);
  const bool swaps =
      has(spec, RecoveryAction::kSwap) || has(spec, RecoveryAction::kSwapInRack) || has(spec, RecoveryAction::kMoveRack);
  const double servers = spec.servers();
  const double failure = kFailure + kPending * all.down + kDegraded * all.slow + (swaps ? kSpareLookedAt * servers : 0.0);
  const double history = kHistory + kServer * servers + kClock * all.clocks;
  const double pauses = spec.maintenance.every_d > 0.0 ? days / spec.maintenance.every_d : 0.0;
  WorkEstimate work;
  const std::string levers = "/reliability/seeds, /reliability/days";
  work.add({"histories", static_cast<double>(spec.seeds), history * spec.seeds, levers});
  work.add({"failures", all.failures * spec.seeds, failure * all.failures * spec.seeds, levers});
  work.add({"pauses for maintenance", pauses * spec.seeds, kPause * pauses * spec.seeds, levers});
  work.add(step, clusters_of(spec, all));
  return work;
}

}  // namespace photonrail::goodput

namespace photonrail {

WorkEstimate work_of(const goodput::GoodputScenario& scenario, const Registries& known) {
  WorkEstimate step;
  if (scenario.job) {
    step.add(studies::work_of_run(*scenario.job, known), 1.0 / std::max(1U, scenario.job->run.iterations));
  }
  WorkEstimate work = goodput::work_of_months(scenario, step);
  if (scenario.job) work.add(studies::work_of_run(*scenario.job, known));
  if (scenario.checkpoint) work.add(studies::work_of_run(scenario.checkpoint->job, known));
  return work;
}

}  // namespace photonrail
