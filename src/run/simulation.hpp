// One run of one job: the object graph, and what it says at the end.
#pragma once

#include "photonrail/simulate.hpp"
#include "control_plane/control_plane.hpp"
#include "execution/executor.hpp"
#include "folding/folding.hpp"
#include "run/slack_profile.hpp"
#include "control_plane/profiled_schedule.hpp"
#include "execution/operation.hpp"
#include "execution/plan_cache.hpp"
#include "execution/time_accounting.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/transfers.hpp"
#include "execution/observer_list.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

/// What a job has of a fabric that several jobs share.
struct SharedJobContext {
  Engine& engine;
  SharedFabric& fabric;
  std::uint32_t job = 0;
};

class Simulation {
 public:
  /// `folding`: null, or the smaller job that is run in place of the scenario's. `foresight`: null, or when operations are
  /// expected. `tenancy`: null, or the job is one of
  /// several, and is not folded. All must outlive the object.
  Simulation(const Scenario& scenario, const Folding* folding, const ClusterSpec& cluster, const ControllerSpec& controller,
             const PolicyNeeds& needs, const RunSpec& run, const Registries& registries,
             std::span<const StragglerSpec> stragglers, const Schedule* schedule, Schedule* profile,
             std::span<Observer* const> observers, const SlackProfile* foresight = nullptr, const SharedJobContext* tenancy = nullptr);

  /// To the end. Throws DeadlockError when it does not come.
  void run();

  /// The job begins when its time has come; the engine is the caller's to run.
  void begin_at(Time start);
  /// Nothing will ever happen again. True: the job's controllers have another look.
  [[nodiscard]] bool stand_still() { return control_.stand_still(); }
  [[nodiscard]] bool finished() const { return executor_.finished(); }
  [[nodiscard]] std::vector<std::string> stuck() const { return executor_.stuck(); }
  [[nodiscard]] std::uint64_t tasks_done() const { return executor_.tasks_done(); }
  [[nodiscard]] std::uint64_t tasks() const { return executor_.tasks(); }

  /// Times count from when the job began. What the engine did is told of a job that is alone only.
  void report(RunResult& result);

 private:
  void begin(std::uint64_t);
  // Of the ranks that are run.
  [[nodiscard]] std::vector<GpuId> gpu_of_rank() const;

  const Scenario& scenario_;
  const Folding* folding_;
  const SharedJobContext* tenancy_;
  const TaskGraph& graph_;
  const MemberPlacement roster_;
  ObserverList everybody_;
  ObserverList watchers_;  // who is told of ranks and circuits
  std::optional<Engine> own_engine_;
  Engine& engine_;
  Fabric fabric_;
  PlanCache plans_;
  OperationTable operations_;
  TimeAccounting recorder_;
  StragglerInjector straggling_;
  ControlPlane control_;
  Transfers transfers_;
  Executor executor_;
  std::optional<ProfiledSchedule> known_;
  Time start_{};
  bool exact_ = false;  // at stream fidelity every send is simulated, because of forwarding
};

}  // namespace photonrail
