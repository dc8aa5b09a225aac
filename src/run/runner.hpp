// Runs one job: folded where that changes nothing, after the profiling run of a shim that follows a schedule.
#pragma once

#include "run/simulation.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace photonrail {

class Runner {
 public:
  /// All must outlive the object. `run`: in place of the scenario's. Where the scenario's policy chooses by rehearsal, the
  /// job is rehearsed here.
  Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers, const Registries& registries);

  /// The job alone.
  void run(RunResult& result);
  /// The job as one of several. The runner and `tenancy` must outlive what it returns.
  [[nodiscard]] std::unique_ptr<Simulation> share(const SharedJobContext& tenancy);

 private:
  /// A policy's specification, and for people how it was chosen, if it was.
  struct Chosen {
    ControllerSpec spec;
    std::string how;
  };
  /// A rehearsal has typical reconfigurations, and nobody is late.
  Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, bool rehearsal, std::span<Observer* const> observers,
         const Registries& registries);
  [[nodiscard]] static Chosen rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries);

  [[nodiscard]] std::optional<Folding> try_fold(std::string& off) const;
  bool run_folded(const Folding& folding, RunResult& result) const;
  void run_unfolded(RunResult& result) const;
  void run_as(const Folding* folding, const Schedule* schedule, const SlackProfile* foresight, RunResult& result) const;
  [[nodiscard]] Schedule profile(const Folding* folding) const;
  [[nodiscard]] std::optional<SlackProfile> foresee() const;
  void run_profile(const Folding* folding, Schedule* order, std::span<Observer* const> observers) const;
  [[nodiscard]] Schedule profile_unfolded() const;
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
  ClusterSpec cluster_;
  std::optional<Schedule> shared_schedule_;  // of share()
  std::optional<SlackProfile> shared_foresight_;
};

}  // namespace photonrail
