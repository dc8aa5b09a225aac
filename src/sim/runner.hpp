// Runs one job: folded where that changes nothing, after the profiling run of a shim that follows a schedule.
#pragma once

#include "sim/simulation.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace photonrail {

class Runner {
 public:
  /// All must outlive the object. `run`: in place of the scenario's.
  Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers, const Registries& registries);

  /// The job alone.
  void run(RunResult& result);
  /// The job as one of several. The runner and `tenancy` must outlive what it returns.
  [[nodiscard]] std::unique_ptr<Simulation> share(const Tenancy& tenancy);

 private:
  [[nodiscard]] std::optional<Folding> try_fold(std::string& off) const;
  bool run_folded(const Folding& folding, RunResult& result) const;
  void run_unfolded(RunResult& result) const;
  void run_as(const Folding* folding, const Schedule* schedule, RunResult& result) const;
  [[nodiscard]] Schedule profile(const Folding* folding) const;
  [[nodiscard]] Schedule profile_unfolded() const;
  [[nodiscard]] bool follows_a_schedule() const;
  [[nodiscard]] ClusterSpec electrical() const;

  const Scenario& scenario_;
  const RunSpec run_;
  std::span<Observer* const> observers_;
  const Registries& registries_;
  const ControllerFactory& factory_;
  const ControllerSpec controller_;
  const PolicyNeeds needs_;
  std::optional<Schedule> shared_schedule_;  // of share()
};

}  // namespace photonrail
