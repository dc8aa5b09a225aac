// Runs the ranks' programs: compute streams, arrival at operations, lanes, completion.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/engine.hpp"
#include "photonrail/scenario.hpp"
#include "execution/critical_path.hpp"
#include "control_plane/control_plane.hpp"
#include "run/slack_profile.hpp"
#include "execution/lanes.hpp"
#include "execution/operation.hpp"
#include "execution/issue_order.hpp"
#include "execution/time_accounting.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/transfers.hpp"
#include "execution/observer_list.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

class Executor : public TransferListener {
 public:
  struct Parts {
    Engine& engine;
    Fabric& fabric;
    OperationTable& operations;
    Transfers& transfers;
    ControlPlane& control;
    TimeAccounting& recorder;
    const ObserverList& watchers;
    const StragglerInjector& straggling;
  };

  /// All references must outlive the executor. `schedule` may be empty when the shim needs none; `profile`, when given,
  /// gets the order in which rail operations start.
  Executor(const TaskGraph& graph, const ExecutorSpec& spec, std::uint32_t iterations, const Parts& parts, ShimPolicy shim,
           const Schedule* schedule, Schedule* profile);

  /// What the profiling run said of each task. It must outlive the executor.
  void foresee(const SlackProfile& foresight) { foresight_ = &foresight; }

  void begin();

  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::uint64_t tasks_done() const { return tasks_done_; }
  [[nodiscard]] std::uint64_t tasks() const { return graph_.task_count() * iterations_; }
  /// When the last rank ended each iteration.
  [[nodiscard]] const std::vector<Time>& iteration_ends() const { return iteration_ends_; }
  [[nodiscard]] CriticalPathTag last_cause() const { return last_cause_; }

  /// Each rank that cannot go on: its task, its group, and what it waits for.
  [[nodiscard]] std::vector<std::string> stuck() const;

  void member_done(OpId op, Member member) override;
  void round_reached(OpId op, std::uint32_t round, Member member) override;
  void round_opened(OpId op, std::uint32_t round, std::optional<Duration> idle) override;
  void round_blocked(OpId op, std::uint32_t round) override;
  void round_opened_by_pair(OpId op, std::uint32_t round) override;
  void pair_waits(OpId op, std::uint32_t round, MemberPair pair, Bytes bytes) override;
  void pair_served(OpId op, std::uint32_t round, MemberPair pair, const Parked& parked, Duration idle) override;
  void member_waits(OpId op, Member member, bool waits) override;
  void circuits_released(RailId rail, OpId op) override;
  bool may_open(OpId op) override;

 private:
  struct ComputeStream {
    bool busy = false;
    CriticalPathTag freed;
    Time started{};
    ReadyTask running;
    std::vector<ReadyTask> ready;  // heap, least task id first
  };
  struct Rank {
    std::vector<std::uint32_t> waits;  // by task: predecessors to go
    ComputeStream streams[2];
    std::uint32_t iteration = 0;
    double slowdown = 1.0;  // of GPU computations in this iteration
    std::size_t tasks_left = 0;
    std::vector<ReadyTask> joining;  // what completed at the last instant for tasks that wait for more
    CriticalPathTag last;                      // of its tasks that completed
    CriticalPathTag issued;                    // of its rail operations that took their turn
    bool start_pending = false;
  };

  void begin_iteration(RankId id, CriticalPathTag cause);
  void release_first(RankId id, CriticalPathTag cause);
  void end_stall(std::uint64_t reconfigurations_and_rank);
  void ready(RankId id, TaskId task, CriticalPathTag cause);
  void reach(RankId id, TaskId task, CriticalPathTag cause);
  void arrive(RankId id, TaskId task, CriticalPathTag cause);
  void complete(RankId id, TaskId task, CriticalPathTag cause);
  void complete_now(std::uint64_t);
  void complete_at_once(RankId id, const ReadyTask& task);
  void finish_iteration(RankId id, CriticalPathTag cause);

  [[nodiscard]] CriticalPathTag join(Rank& rank, TaskId next, CriticalPathTag cause, bool last);
  void enter_books();
  void record_started();
  void record_in_turn(RankId id, TaskId task);
  void schedule_start();
  void start_all(std::uint64_t);
  void start_compute(RankId id, Stream stream);
  void finish_compute(std::uint64_t rank_and_stream);
  void ask(OpId id, Member member);
  void count_in(OpId id, Member member);
  void join(OpId id, Member member);
  void start_operation(OpId id);
  void look_ahead(Operation& op, RankId id, TaskId task) const;
  void notify(OpId id, Member member, OperationEvent::State state) const;

  [[nodiscard]] std::string describe(RankId id, TaskId task) const;
  [[nodiscard]] std::string why_stuck(OpId id, Member member) const;
  [[nodiscard]] std::string more_circuits_than_ports(const Operation& op, std::uint32_t round) const;

  const TaskGraph& graph_;
  const ExecutorSpec& spec_;
  std::uint32_t iterations_;
  Parts parts_;
  ShimPolicy shim_;
  const SlackProfile* foresight_ = nullptr;
  IssueOrder order_;
  Lanes lanes_;
  std::vector<Rank> ranks_;
  std::deque<std::pair<RankId, ReadyTask>> at_once_;  // done at this instant, in order of their events
  std::vector<RankId> to_start_;                      // ranks with a compute task that may start
  std::vector<Lanes::Ready> fresh_;                   // rail operations that became ready at this instant
  std::vector<std::pair<RankId, TaskId>>
      came_;  // to be recorded: buffered sends and operations under way that a rank came to
  std::vector<std::pair<RankId, TaskId>> started_;  // rail operations to be recorded
  bool start_scheduled_ = false;
  std::size_t ranks_finished_ = 0;
  std::uint64_t tasks_done_ = 0;
  std::vector<Time> iteration_ends_;
  CriticalPathTag last_cause_;
};

}  // namespace photonrail
