// A lower bound on the run of a job on optical rails, whatever policy re-points them and in whatever order it does so.
//
// The job is relaxed until its shortest run can be computed: every operation has all ports of its GPUs to itself,
// operations of a lane on rails do not exclude each other, and controllers know the whole job in advance. The constraints
// that no controller can avoid remain: dependencies, the bytes of a pair at the rate of all ports, rounds, and one dark
// reconfiguration when a fibre that one operation used is needed to another peer by an operation that can only come later.
// The shortest run is then the longest path, or the work of the busiest GPU or fibre if that is longer. Where two
// operations need a fibre for different peers and nothing says which comes first, CircuitOrders tries both.
//
// docs/models/lower-bound.md has the proof.
#pragma once

#include "execution/plan_cache.hpp"
#include "execution/rank_gpus.hpp"
#include "execution/straggler_injector.hpp"
#include "photonrail/simulate.hpp"
#include "run/bound_timeline.hpp"
#include "run/operation_bound.hpp"
#include "run/stream_order.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::run {

/// The inputs of a bound.
struct BoundedJob {
  const Scenario& scenario;
  const ClusterSpec& cluster;
  const ControllerSpec& controller;  ///< complete; its delays, and whether sends may be forwarded
  const RunSpec& run;
  std::span<const StragglerSpec> stragglers{};
};

class LowerBound {
 public:
  /// All must outlive the object.
  LowerBound(const BoundedJob& job, const Registries& registries, std::span<Observer* const> observers);

  /// Throws DeadlockError when some operation never has all of its members.
  void run(RunResult& result);

 private:
  using Part = OperationBound::Part;
  /// The state of a task that waits: its earliest begin so far, and the circuits that its predecessors used.
  struct Pending {
    Time ready{};
    NicHistory history;
  };
  struct Rank {
    std::uint32_t iteration = 0;
    std::size_t tasks_left = 0;
    double slowdown = 1.0;
    std::vector<std::uint32_t> waits;                                            // by task
    std::vector<Pending> pending;                                                // by task
    Pending last;                                                                // of the tasks that are done
    std::array<std::vector<std::pair<Time, Duration>>, kStreamCount> computing;  // by stream: from when on, how long
  };
  /// The members of an operation that have arrived.
  struct Meeting {
    std::vector<Part> parts;     // by member
    std::vector<Time> arrivals;  // by member
  };

  /// One evaluation of the relaxed job.
  struct Pass {
    std::optional<BoundTimeline> timeline;
    std::uint64_t tasks = 0;
    std::vector<Rank> ranks;
    std::vector<std::pair<RankId, TaskId>> ready;
    std::vector<Meeting> meetings;  // by operation
    std::vector<Time> iteration_ends;
  };

  [[nodiscard]] std::vector<bool> lanes_in_servers() const;
  /// The least run of the job in which the last bytes of transfers leave no earlier than the floors say.
  [[nodiscard]] RelaxedRun relax(const TransferFloors& floors);
  void report(RunResult& result);
  void begin_iteration(RankId rank, Time at, const NicHistory& history);
  void process(RankId rank, TaskId task);
  void compute(RankId rank, TaskId task, Pending&& pending);
  void arrive(RankId rank, TaskId task, Pending&& pending);
  void evaluate(execution::OpId op);
  void complete(RankId rank, TaskId task, const Pending& done);
  void finish_iteration(RankId rank);
  void require_finished();

  const BoundedJob job_;
  const TaskGraph& graph_;
  const folding::MemberPlacement placement_;
  engine::Engine engine_;  // stands at 0
  fabric::Fabric fabric_;
  const collective::AlgorithmTable algorithms_;
  execution::PlanCache plans_;
  execution::OperationTable operations_;
  const execution::RankCompute compute_;
  OperationBound bound_;
  const std::vector<StreamOrder> streams_;  // by program
  const std::span<Observer* const> observers_;
  Pass pass_;
};

}  // namespace photonrail::run
