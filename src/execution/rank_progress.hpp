// The progress is how far each rank is in its program: which tasks wait for how many predecessors, and which step the rank
// is in.
#pragma once

#include "execution/critical_path.hpp"
#include "execution/program_joins.hpp"
#include "execution/run_context.hpp"
#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::execution {

/// Implemented by Executor.
class ProgramListener {
 public:
  virtual ~ProgramListener() = default;
  /// The rank begins an iteration. Its first tasks become ready later.
  virtual void iteration_began(RankId rank, std::uint32_t iteration, double slowdown) = 0;
  /// The last rank has ended its last iteration.
  virtual void all_ranks_finished() = 0;
  /// No predecessor of the task is left.
  virtual void task_ready(RankId rank, TaskId task, CriticalPathTag cause) = 0;
};

class RankProgress {
 public:
  /// All must outlive the object.
  RankProgress(const TaskGraph& graph, std::uint32_t iterations, const RunContext& run, ProgramListener& listener);

  /// Every rank begins its first iteration.
  void begin();
  /// The task of the rank's present iteration is complete.
  void complete(RankId id, TaskId task, CriticalPathTag cause);

  /// The task that becomes ready on every rank of the group when `task` is complete on all of them; none(): none does.
  /// Nothing: the ranks are not equal, or several tasks become ready, or the iteration ends.
  [[nodiscard]] std::optional<TaskId> next_of_all(const LockstepGroup& group, TaskId task);
  /// The task is complete on every rank of the group; the listener is not notified. Returns the cause of what became ready.
  /// REQUIRES: next_of_all() of the same is a value.
  CriticalPathTag complete_on_all(const LockstepGroup& group, TaskId task, CriticalPathTag cause);

  [[nodiscard]] std::uint32_t iteration(RankId id) const { return ranks_[id.index()].iteration; }
  [[nodiscard]] std::size_t unfinished_ranks() const { return ranks_.size() - finished_; }
  [[nodiscard]] std::uint64_t tasks_done() const { return tasks_done_; }
  /// When the last rank ended each iteration.
  [[nodiscard]] const std::vector<Time>& iteration_ends() const { return iteration_ends_; }
  [[nodiscard]] CriticalPathTag last_cause() const { return last_cause_; }

 private:
  // Holds the task that completed at the last instant, most often one, for tasks that wait for more.
  struct alignas(64) Rank {
    std::size_t waits_at = 0;  // into waits_
    std::uint32_t iteration = 0;
    std::uint32_t tasks_left = 0;
    ReadyTask joining{TaskId::none(), {}};
    CriticalPathTag last;       // of its tasks that completed
    bool joining_more = false;  // into more_joining_
    bool together = false;      // the first rank of its LockstepGroup has the state of this one
  };

  [[nodiscard]] const ProgramJoins& joins(RankId id) const { return joins_[graph_.program_of(id).index()]; }
  void begin_iteration(RankId id, CriticalPathTag cause);
  void release_first(RankId id, CriticalPathTag cause);
  void end_stall(std::uint64_t reconfigurations_and_rank);
  void finish_iteration(RankId id, CriticalPathTag cause);
  [[nodiscard]] CriticalPathTag join(Rank& rank, TaskId next, CriticalPathTag cause, bool last);
  [[nodiscard]] std::vector<ReadyTask>& more_joining(const Rank& rank);
  template <class Ready>
  void advance(Rank& rank, RankId id, TaskId task, CriticalPathTag cause, Ready&& ready);
  [[nodiscard]] std::span<std::uint32_t> waits_of(RankId id);
  [[nodiscard]] bool are_alike(const Rank& a, const Rank& b) const;
  [[nodiscard]] bool join_group(const LockstepGroup& group);
  void part_group(const LockstepGroup& group);

  const TaskGraph& graph_;
  std::uint32_t iterations_;
  RunContext run_;
  ProgramListener& listener_;
  std::vector<ProgramJoins> joins_;  // by program
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> waits_;                  // of all ranks, each by number of ProgramJoins: predecessors to go
  std::vector<std::vector<ReadyTask>> more_joining_;  // by rank; empty until a rank has several
  std::size_t finished_ = 0;
  std::uint64_t tasks_done_ = 0;
  std::vector<Time> iteration_ends_;
  CriticalPathTag last_cause_;
};

}  // namespace photonrail::execution
