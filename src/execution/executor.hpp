// Runs the ranks' programs: a task that is ready is computed, or takes its rank to an operation; when a task completes, the
// tasks that waited for it become ready.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/compute_streams.hpp"
#include "execution/issue_order.hpp"
#include "execution/launches.hpp"
#include "execution/lockstep.hpp"
#include "execution/lockstep_groups.hpp"
#include "execution/rank_progress.hpp"
#include "execution/run_context.hpp"
#include "execution/slack_profile.hpp"
#include "execution/starter.hpp"
#include "execution/transfers.hpp"
#include "folding/order_ambiguity.hpp"
#include "photonrail/execution.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::execution {

struct ExecutorOptions {
  ExecutorSpec spec{};
  RankBehaviour behaviour{};
  ProfileUse profile{};
  const SlackProfile* slack = nullptr;           ///< when tasks are expected and due, of a profiling run; null: not known
  folding::OrderAmbiguity* ambiguity = nullptr;  ///< of a folded run, else null
  TailWatch watch{};                             ///< of a run that is stopped when it cannot end in time
  WorkloadAgent* agent = nullptr;                ///< null: the ranks repeat their programs
  std::optional<Time> horizon{};                 ///< of the agent's run
};

class Executor : private ProgramListener, private ComputeListener, private MemberListener {
 public:
  /// All that is referred to must outlive the object.
  Executor(const TaskGraph& graph, const ExecutorOptions& options, const RunContext& run, CircuitService& circuits);
  Executor(const Executor&) = delete;  // its parts refer to each other
  Executor& operator=(const Executor&) = delete;

  /// The listener for the deliveries of the network.
  [[nodiscard]] network::DeliveryListener& deliveries() { return transfers_; }

  void begin();
  [[nodiscard]] bool finished() const;
  /// Asks ExecutorOptions::watch.
  [[nodiscard]] bool is_late() const { return options_.watch.is_late(); }
  [[nodiscard]] std::uint64_t tasks_done() const { return launches_ ? launches_->tasks().done : progress_.tasks_done(); }
  [[nodiscard]] std::uint64_t tasks() const {
    return launches_ ? launches_->tasks().of : graph_.task_count() * options_.profile.iterations;
  }
  /// When the last rank ended each iteration; or, one, when the agent's workload ended.
  [[nodiscard]] const std::vector<Time>& ends() const { return launches_ ? launches_->end() : progress_.iteration_ends(); }
  [[nodiscard]] CriticalPathTag last_cause() const { return launches_ ? launches_->last_cause() : progress_.last_cause(); }
  [[nodiscard]] const CapacityLoads& loads() const { return transfers_.loads(); }

  /// Each rank that cannot go on: its task, its group, and what it waits for.
  [[nodiscard]] std::vector<std::string> stuck() const;

 private:
  void iteration_began(RankId rank, std::uint32_t iteration, double slowdown) override;
  void task_ready(RankId rank, TaskId task, CriticalPathTag cause) override;
  void streams_pending() override { starter_.schedule(); }
  void computed(RankId rank, TaskId task, CriticalPathTag cause) override { complete(rank, task, cause); }
  void computed_by_all(const LockstepGroup& group, TaskId task, CriticalPathTag cause) override;
  void member_done(OpId op, Member member) override;
  [[nodiscard]] bool all_done(OpId op, const LockstepGroup& members) override { return lockstep_.end(op, members); }
  void exchange_began(RankId rank, Dimension d) override { streams_.exchange_began(rank, d); }
  void exchange_ended(RankId rank, Dimension d) override { streams_.exchange_ended(rank, d); }

  void all_ranks_finished() override;
  void complete(RankId id, TaskId task, CriticalPathTag cause);
  void complete_at_once(RankId id, const ReadyTask& task);
  void complete_now(std::uint64_t);
  void reach(RankId id, TaskId task, CriticalPathTag cause);
  void arrive(RankId id, TaskId task, CriticalPathTag cause);
  void set_due(Operation& op, RankId id, TaskId task) const;
  void request(OpId id, Member member);
  void count_in(OpId id, Member member);
  void join(OpId id, Member member);

  const TaskGraph& graph_;
  ExecutorOptions options_;
  const LockstepGroups groups_;
  RunContext run_;
  CircuitService& circuits_;
  IssueOrder order_;
  RankProgress progress_;
  std::optional<Launches> launches_;  // in place of progress_
  ComputeStreams streams_;
  Transfers transfers_;
  Starter starter_;
  Lockstep lockstep_;
  Time began_{};                                      // the job
  std::vector<CriticalPathTag> issued_;               // by rank: of its rail operations that took their turn
  std::deque<std::pair<RankId, ReadyTask>> at_once_;  // done at this instant, in the order of their events
};

}  // namespace photonrail::execution
