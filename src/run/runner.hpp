// Runs one job: folded where that changes nothing, after the profiling run of a shim that follows a schedule.
#pragma once

#include "run/folding_cache.hpp"
#include "run/job_setup.hpp"
#include "run/profiling_runs.hpp"
#include "run/simulation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::run {

class Runner {
 public:
  /// All must outlive the object. `run`: in place of the scenario's. Where the scenario's policy chooses by rehearsal, the
  /// job is rehearsed here.
  Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers, const Registries& registries);
  /// The same for share().
  static std::unique_ptr<Runner> for_sharing(const Scenario& scenario, const RunSpec& run,
                                             std::span<Observer* const> observers, const Registries& registries);

  /// The job alone.
  void run(RunResult& result);
  /// The job as one of several. The runner and `context` must outlive what it returns.
  [[nodiscard]] std::unique_ptr<Simulation> share(const SharedJobContext& context);

 private:
  /// Holds what is the same for every way that is rehearsed, and for the run.
  struct Known {
    ProfilingRuns profiles;
    FoldingCache foldings;
  };
  /// A policy's specification, and for people how it was chosen, if it was.
  struct Chosen {
    ControllerSpec spec;
    std::string how;
    std::shared_ptr<Known> known{};
    std::optional<Duration> expected{};  ///< the makespan of a rehearsal that was not exact, which the run has to confirm
    std::optional<Time> give_up{};       ///< JobSetup::give_up
  };
  struct Rehearsal {
    ControllerSpec spec;
    std::size_t number = 0;  ///< among the ways, from 1
    Duration makespan{};
    bool exact = true;
  };
  /// A rehearsal has typical reconfigurations, and no stragglers. One that is not exact may be of a job that is folded as
  /// if its policy treated equal ranks equally.
  enum class Stage : std::uint8_t { kRehearsal, kExactRehearsal, kRun };
  struct Rehearsals {
    const Scenario& scenario;
    const RunSpec& run;
    const Registries& registries;
    Stage stage;
    std::shared_ptr<Known> known;

    /// The way with the shortest run, the first of equals; none when no way can finish.
    [[nodiscard]] std::optional<Rehearsal> best_of(const std::vector<ControllerSpec>& specs);
    /// None: the way cannot finish, or takes longer than `give_up`.
    [[nodiscard]] std::optional<Duration> makespan_of(const ControllerSpec& spec, std::optional<Time> give_up = {},
                                                      RunResult* result = nullptr);
  };
  Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, Stage stage, const Registries& registries);
  /// Describes how a rehearsal that is not exact is confirmed: by one more that is, or by the run itself. Or all are exact.
  enum class Check : std::uint8_t { kRehearsal, kRun, kAllExact };
  [[nodiscard]] static Chosen rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries,
                                       Check check);
  [[nodiscard]] static Check check_of(const Scenario& scenario, std::span<Observer* const> observers);
  [[nodiscard]] static std::shared_ptr<Known> know(const Scenario& scenario, const RunSpec& run,
                                                   const Registries& registries);
  bool run_confirms(RunResult& result) const;
  [[nodiscard]] bool is_expected(const RunResult& result) const;
  void run_otherwise(RunResult& result) const;

  /// Null: every rank must be run, for the reason in `why_not`.
  [[nodiscard]] const folding::Folding* try_fold(std::string& why_not) const;
  [[nodiscard]] bool folds_whole() const;
  /// False when every rank must be run, with the reason in result.folding.off.
  bool run_folded(const folding::Folding& folding, RunResult& result) const;
  void run_unfolded(RunResult& result) const;
  [[nodiscard]] JobSetup setup() const;
  void finish(Simulation& simulation, RunResult& result) const;
  /// Returns what the policy wants of the profiling runs.
  [[nodiscard]] ProfilingRuns::Wanted wanted() const;

  const Scenario& scenario_;
  const RunSpec run_;
  std::span<Observer* const> observers_;
  const Registries& registries_;
  const ControllerFactory& factory_;
  const Chosen chosen_;
  const ControllerSpec controller_;
  const PolicyNeeds needs_;
  const Stage stage_;
  const std::vector<StragglerSpec> stragglers_;  // with the speeds of unlike GPUs, which a rehearsal has too
  ClusterSpec cluster_;
  const std::shared_ptr<Known> known_;
  std::optional<Profile> shared_profile_;  // of share()
};

}  // namespace photonrail::run
