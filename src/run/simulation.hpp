// One run of one job: the object graph, and what it says at the end.
#pragma once

#include "collective/algorithm_table.hpp"
#include "control_plane/control_plane.hpp"
#include "execution/executor.hpp"
#include "execution/launch_table.hpp"
#include "execution/observer_list.hpp"
#include "execution/operation_table.hpp"
#include "execution/plan_cache.hpp"
#include "execution/run_history.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/time_accounting.hpp"
#include "folding/member_placement.hpp"
#include "folding/order_ambiguity.hpp"
#include "run/job_setup.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::run {

/// Between two reports of progress.
inline constexpr std::uint64_t kEventsBetweenProgress = 2048;
/// Between two looks at the clock of a rehearsal that may give up.
inline constexpr std::uint64_t kEventsOfRehearsal = 256;

/// Who is told what happens: all observers of the begin and the end, some of ranks and circuits, the history among them.
struct Watchers {
  /// `launches`: of an agent's workload, else null. It must outlive the object.
  Watchers(const JobSetup& setup, const execution::LaunchTable* launches);
  Watchers(const Watchers&) = delete;  // its lists refer to it
  Watchers& operator=(const Watchers&) = delete;

  std::optional<execution::RunHistory> history;  ///< of a run that is asked for its critical path
  execution::PeerWaitLog peer_waits{};           ///< of the same; the accounting writes it
  const std::vector<Observer*> of_ranks;
  const execution::ObserverList all;
  const execution::ObserverList ranks;
};

class Simulation {
 public:
  explicit Simulation(const JobSetup& setup);
  Simulation(const Simulation&) = delete;  // its parts refer to each other
  Simulation& operator=(const Simulation&) = delete;

  /// To the end, or in a folded run until an ambiguity() is found. Throws DeadlockError when the end does not come, and
  /// GaveUp.
  void run();

  /// The job begins when its time has come; the engine is the caller's to run.
  void begin_at(Time start);
  /// No event is left. True: the job's controllers have another look.
  [[nodiscard]] bool stand_still();
  [[nodiscard]] bool finished() const { return executor_.finished(); }
  [[nodiscard]] std::vector<std::string> stuck() const { return executor_.stuck(); }
  [[nodiscard]] std::uint64_t tasks_done() const { return executor_.tasks_done(); }
  [[nodiscard]] std::uint64_t tasks() const { return executor_.tasks(); }
  /// The reason why every rank must be run instead of a folded run. Its results then mean nothing.
  [[nodiscard]] const folding::OrderAmbiguity& ambiguity() const { return ambiguity_; }

  /// Times count from when the job began. What the engine did is said of a job that is alone only.
  void report(RunResult& result);

 private:
  [[nodiscard]] engine::Engine& engine() { return setup_.shared != nullptr ? setup_.shared->engine : *own_engine_; }
  [[nodiscard]] folding::OrderAmbiguity* ambiguity_if_folded() { return setup_.folding != nullptr ? &ambiguity_ : nullptr; }
  [[nodiscard]] execution::LaunchTable* launches() { return launches_ ? &*launches_ : nullptr; }
  [[nodiscard]] fabric::Fabric make_fabric();
  [[nodiscard]] execution::PlanOptions plan_options() const;
  [[nodiscard]] execution::ExecutorOptions executor_options();
  [[nodiscard]] execution::RunContext context();
  [[nodiscard]] CriticalPath path(Time end) const;
  [[nodiscard]] Utilisation utilisation(Bytes rail_bytes, const RunResult& result) const;
  void add_fidelity(RunResult& result) const;
  void add_uplinks(double seconds, Utilisation& share) const;
  void add_site_links(double seconds, Utilisation& share) const;
  void add_single_uplinks(double seconds, Utilisation::Uplinks& all) const;
  [[nodiscard]] std::vector<GpuId> gpu_of_rank() const;
  void begin(std::uint64_t);

  const JobSetup setup_;
  const folding::MemberPlacement placement_;
  folding::OrderAmbiguity ambiguity_;
  std::optional<execution::LaunchTable> launches_;  // of an agent's workload
  Watchers watchers_;
  std::optional<engine::Engine> own_engine_;
  fabric::Fabric fabric_;
  const collective::AlgorithmTable algorithms_;
  execution::PlanCache plans_;
  execution::OperationTable operations_;
  execution::TimeAccounting accounting_;
  const execution::RankCompute compute_;
  control_plane::ControlPlane control_;
  execution::Executor executor_;
  Time start_{};
};

}  // namespace photonrail::run
