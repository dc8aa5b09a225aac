// Runs one job under one specification of its controller: folded where that changes nothing, after the profiling runs that
// the policy wants. Which specification that is was decided before (Rehearsals).
#pragma once

#include "run/folding_cache.hpp"
#include "run/job_setup.hpp"
#include "run/profiling_runs.hpp"
#include "run/simulation.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::run {

/// A job and what it is run with, besides the specification of its controller. All that is referred to must outlive the
/// run. `run`: in place of the scenario's.
struct JobRun {
  const Scenario& scenario;
  const Registries& registries;
  RunSpec run{};
  std::span<Observer* const> observers{};
  WorkloadAgent* agent = nullptr;  ///< in place of one of the scenario's workload; null: none is given
  StepRecord* steps = nullptr;     ///< Recordings::steps
  bool* stood_still = nullptr;     ///< Recordings::stood_still; rehearsals do not count
};

/// Holds what does not depend on the controller, and is therefore made once for all rehearsals and the run.
struct RunCaches {
  explicit RunCaches(const JobRun& job)
      : profiles(job.scenario, job.run, job.registries, job.observers), foldings(job.scenario, job.registries) {}

  ProfilingRuns profiles;
  FoldingCache foldings;
};

/// A run that only compares: reconfigurations take their typical time, and no rank straggles.
struct RehearsalRun {
  bool as_symmetric = false;      ///< the job may be folded as if its policy treated equal ranks equally
  std::optional<Time> give_up{};  ///< JobSetup::give_up
};

class Runner {
 public:
  /// `caches`: of this job. They must outlive the object. `rehearsal`: none of the run itself.
  Runner(const JobRun& job, const ControllerSpec& controller, RunCaches& caches,
         const std::optional<RehearsalRun>& rehearsal = {});

  /// The job alone. Throws GaveUp, of a rehearsal.
  void run(RunResult& result) const;
  /// The job as one of several. The runner and `context` must outlive what it returns.
  [[nodiscard]] std::unique_ptr<Simulation> share(const SharedJobContext& context);

 private:
  /// Null: every rank must be run, for the reason in `why_not`.
  [[nodiscard]] const folding::Folding* try_fold(bool whole_rails, std::string& why_not) const;
  [[nodiscard]] bool as_symmetric() const { return rehearsal_ && rehearsal_->as_symmetric; }
  /// False when every rank must be run, with the reason in result.folding.off.
  bool run_folded(bool whole_rails, RunResult& result) const;
  void run_unfolded(RunResult& result) const;
  /// An agent decides the workload.
  [[nodiscard]] bool decided() const { return job_.agent != nullptr || job_.scenario.workload != nullptr; }
  void run_decided(RunResult& result) const;
  [[nodiscard]] JobSetup setup(const ClusterSpec& cluster) const;
  /// Returns what the policy wants of the profiling runs.
  [[nodiscard]] ProfilingRuns::Wanted wanted() const;

  const JobRun job_;
  const ControllerFactory& factory_;
  const ControllerSpec controller_;
  const PolicyNeeds needs_;
  const std::optional<RehearsalRun> rehearsal_;
  const std::vector<StragglerSpec> stragglers_;  // with the speeds of unlike GPUs, which a rehearsal has too
  const ClusterSpec cluster_;
  const ClusterSpec seen_;  // by the job, when it is alone: what a folded run is of
  RunCaches& caches_;
  std::optional<Profile> shared_profile_;        // of share()
  std::unique_ptr<WorkloadAgent> shared_agent_;  // of share()
};

}  // namespace photonrail::run
