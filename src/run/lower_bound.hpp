// A lower bound on the run of a job on optical rails, whatever policy re-points them and in whatever order it does so.
//
// The job is relaxed until its shortest run can be told: every operation has all ports of its GPUs to itself, computations of
// a rank and operations of a lane need not take turns, and controllers know everything ahead. What stays is what no controller
// can avoid: dependencies, the bytes of a pair at the rate of all ports, rounds, and that a fibre which one operation needed
// is dark for one reconfiguration before an operation that can only come later has it to another peer. The shortest run is
// then the longest path. In the end it is held against what each GPU has to compute and each fibre to carry.
//
// docs/policies.md has the proof.
#pragma once

#include "photonrail/simulate.hpp"
#include "run/operation_bound.hpp"
#include "execution/plan_cache.hpp"
#include "execution/time_accounting.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/observer_list.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::run {

/// The part of a scenario that is bounded.
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
  /// What a task that waits knows so far.
  struct Pending {
    Time ready{};
    NicHistory history;
  };
  struct Rank {
    std::uint32_t iteration = 0;
    std::size_t tasks_left = 0;
    double slowdown = 1.0;
    std::vector<std::uint32_t> waits;  // by task
    std::vector<Pending> pending;      // by task
    Pending last;                      // of the tasks that are done
    std::array<std::vector<std::pair<Time, Duration>>, 2> computing;  // by stream: from when on, how long
  };
  /// A change in what a rank does.
  struct Entry {
    enum class Kind : std::uint8_t { kComputeBegins, kComputeEnds, kReady, kWaits, kWaited, kRuns, kRan, kEnds };
    Time at{};
    RankId rank;
    Kind kind = Kind::kReady;
    Dimension dimension = Dimension::kOther;
  };
  struct Told {
    Time at{};
    bool computed = false;
    ComputeEvent compute{};
    OperationEvent operation{};
  };

  void begin_iteration(RankId rank, Time at, const NicHistory& history);
  void process(RankId rank, TaskId task);
  void compute(RankId rank, TaskId task, Pending&& pending);
  void arrive(RankId rank, TaskId task, Pending&& pending);
  void evaluate(execution::OpId op);
  void book(execution::OpId op, Time start);
  void complete(RankId rank, TaskId task, const Pending& done);
  void finish_iteration(RankId rank);
  void keep_books();
  void tell_observers(Time makespan);
  void require_finished();
  void notify(const execution::Operation& op, Member member, Time at, OperationEvent::State state);

  const BoundedJob job_;
  const TaskGraph& graph_;
  const folding::MemberPlacement placement_;
  execution::ObserverList observers_;
  Engine engine_;  // stands at 0
  Fabric fabric_;
  const collective::AlgorithmTable algorithms_;
  execution::PlanCache plans_;
  execution::OperationTable operations_;
  execution::StragglerInjector stragglers_;
  OperationBound bound_;
  execution::TimeAccounting accounting_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<RankId, TaskId>> ready_;
  std::vector<std::vector<Part>> parts_;  // by operation
  std::vector<std::vector<Time>> arrivals_;  // by operation and member
  std::vector<Time> iteration_ends_;
  std::vector<Entry> entries_;
  std::vector<Told> told_;
};

}  // namespace photonrail::run
