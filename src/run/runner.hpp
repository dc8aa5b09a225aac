// Runs one job: folded where that changes nothing, after the profiling run of a shim that follows a schedule.
#pragma once

#include "run/job_setup.hpp"
#include "run/simulation.hpp"

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
  /// What profiling runs of the job on electrical rails gave, the same for every way that is rehearsed; null: not known
  /// yet.
  struct Known {
    std::shared_ptr<const execution::SlackProfile> slack{};
    std::shared_ptr<const execution::Schedule> order{};  ///< of the folded job
  };
  /// A policy's specification, and for people how it was chosen, if it was.
  struct Chosen {
    ControllerSpec spec;
    std::string how;
    Known known{};
    std::optional<Duration>
        expected{};                 ///< the makespan of a folded rehearsal, which the run with every rank has to confirm
    std::optional<Time> give_up{};  ///< JobSetup::give_up
  };
  struct Rehearsal {
    ControllerSpec spec;
    std::size_t number = 0;  ///< among the ways, from 1
    Duration makespan{};
    bool folded = false;
  };
  struct Rehearsals {
    const Scenario& scenario;
    RunSpec run;
    const Registries& registries;
    Known known;  ///< once the first has made it

    /// The way with the shortest run, the first of equals; none when no way can finish.
    [[nodiscard]] std::optional<Rehearsal> best_of(const std::vector<ControllerSpec>& specs);
    /// None: the way cannot finish, or takes longer than `give_up`.
    [[nodiscard]] std::optional<Duration> makespan_of(const ControllerSpec& spec, std::optional<Time> give_up = {},
                                                      RunResult* result = nullptr);
  };
  /// A rehearsal has typical reconfigurations, and no stragglers.
  Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, bool rehearsal, const Registries& registries);
  /// How a folded rehearsal is confirmed: by one more rehearsal with every rank, or by the run itself.
  enum class Check : std::uint8_t { kRehearsal, kRun };
  [[nodiscard]] static Chosen rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries,
                                       Check check);
  [[nodiscard]] static Check check_of(const Scenario& scenario, std::span<Observer* const> observers);
  bool run_confirms(RunResult& result) const;

  [[nodiscard]] folding::FoldingAttempt try_fold() const;
  /// `labels`: FoldingInput::labels.
  [[nodiscard]] folding::FoldingAttempt fold_on(const ClusterSpec& cluster, const ControllerSpec& controller,
                                                std::span<const std::uint32_t> labels = {}) const;
  /// False when every rank must be run, with the reason in result.folding.off.
  bool run_folded(const folding::Folding& folding, RunResult& result) const;
  void run_unfolded(RunResult& result) const;
  [[nodiscard]] JobSetup setup() const;
  void finish(Simulation& simulation, RunResult& result) const;
  /// The order in which each rank's rail operations start on electrical rails without stragglers; nullopt: the folded run
  /// is ambiguous, for the reason in `why_not`.
  [[nodiscard]] std::optional<execution::Schedule> profile_order(const folding::Folding* folding,
                                                                 std::string& why_not) const;
  [[nodiscard]] std::optional<execution::Schedule> order_of_classes(const folding::Folding& folding,
                                                                    std::string& why_not) const;
  [[nodiscard]] execution::Schedule profile_order_unfolded() const;
  [[nodiscard]] const execution::SlackProfile& profile_slack() const;
  [[nodiscard]] std::optional<execution::SlackProfile> profile_slack_folded() const;
  [[nodiscard]] std::optional<execution::SlackProfile> record_slack(const folding::Folding* folding) const;
  [[nodiscard]] execution::SlackProfile slack_of_classes(const folding::Folding& folding) const;
  [[nodiscard]] bool wants_slack() const;
  [[nodiscard]] Profile profile() const;
  [[nodiscard]] bool follows_a_schedule() const;
  [[nodiscard]] ClusterSpec electrical() const;

  const Scenario& scenario_;
  const RunSpec run_;
  std::span<Observer* const> observers_;
  const Registries& registries_;
  const ControllerFactory& factory_;
  const Chosen chosen_;
  const ControllerSpec controller_;
  const PolicyNeeds needs_;
  const bool rehearsal_;
  const std::vector<StragglerSpec> stragglers_;  // with the speeds of unlike GPUs, which a rehearsal has too
  ClusterSpec cluster_;
  mutable Known known_;                    // made when it is first wanted
  std::optional<Profile> shared_profile_;  // of share()
};

}  // namespace photonrail::run
