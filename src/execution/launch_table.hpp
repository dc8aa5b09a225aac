// The open launches of an agent's workload, and whose task a number is.
//
// Tasks of launches are numbered: a launch that is opened gets as many numbers as its longest program has tasks, above
// those of older launches. So lists of tasks that ascend by number have older launches first, and what orders tasks by
// number (ComputeStreams, Lanes) needs to know no launches. Numbers begin again at 0 when no launch is open.
#pragma once

#include "execution/critical_path.hpp"
#include "execution/idle_times.hpp"
#include "execution/launched_groups.hpp"
#include "execution/program_joins.hpp"
#include "photonrail/accounting.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/workload/agent.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace photonrail::execution {

/// A graph on certain ranks of the job, as its launches share it.
struct LaunchedGraph {
  std::shared_ptr<const TaskGraph> graph;
  std::vector<RankId> ranks;                             ///< of the job, by rank of the graph
  std::vector<CommunicatorId> communicators;             ///< OperationTable's, by number in the graph
  std::vector<ProgramJoins> joins;                       ///< by program
  std::vector<std::uint32_t> joins_at{};                 ///< by rank of the graph: of its first counter among Launch::joins
  std::vector<std::uint32_t> counters{};                 ///< of all ranks: predecessors
  std::uint32_t longest = 0;                             ///< tasks of the longest program
  std::uint32_t users = 0;                               ///< launches that are open
  std::vector<std::optional<std::uint32_t>> messages{};  ///< Announcements': of each rank over rails, where it was counted
};

/// The part of a rank in a launch.
struct LaunchPart {
  RankId rank;
  std::uint32_t tasks_left = 0;
  bool entered = false;
  bool asked = false;      ///< Announcements': its requests have gone out ahead
  double slowdown = 1.0;   ///< of its GPU (StragglerInjector)
  CriticalPathTag last{};  ///< of its tasks that completed, or of its entry
};

/// A task that waits for several others.
struct JoinCounter {
  std::uint32_t waits = 0;
  CriticalPathTag cause{};  ///< of those that completed
};

/// Launches writes it.
struct Launch {
  LaunchId id;
  LaunchLabel label;
  Time opened{};
  std::uint32_t slot = 0;                         ///< in the table
  TaskId first;                                   ///< the number of its lowest task
  LaunchedGraph* graph = nullptr;                 ///< null: one task on each rank, `own`
  std::array<Task, 2> own{};                      ///< of the first rank, and of the others
  CommunicatorId group = CommunicatorId::none();  ///< of `own`
  std::vector<LaunchPart> parts;                  ///< by rank of the graph
  std::vector<JoinCounter> joins;
  std::uint32_t ranks_left = 0;
  std::uint32_t asked = 0;  ///< ranks that have asked ahead
  CriticalPathTag last{};   ///< of the ranks that are done

  [[nodiscard]] const Program& program(std::size_t part) const { return graph->graph->program(RankId{part}); }
  [[nodiscard]] std::size_t tasks_of(std::size_t part) const { return graph == nullptr ? 1 : program(part).tasks().size(); }
  [[nodiscard]] const Task& task(std::size_t part, TaskId local) const {
    return graph == nullptr ? own[part == 0 ? 0 : 1] : program(part).task(local);
  }
  [[nodiscard]] TaskId number(TaskId local) const { return TaskId{first.index() + local.index()}; }
  [[nodiscard]] TaskId local(TaskId number) const { return TaskId{number.index() - first.index()}; }
};

class LaunchTable {
 public:
  /// A rank's place in a launch.
  struct Place {
    Launch* launch = nullptr;
    std::uint32_t part = 0;
  };

  /// `gpu_of_rank` must outlive the object.
  explicit LaunchTable(std::span<const GpuId> gpu_of_rank)
      : groups_(gpu_of_rank), idle_(gpu_of_rank.size()), ranks_(gpu_of_rank.size()) {}

  /// A new launch with room for `parts` ranks, whose programs have at most `longest` tasks. Fill it, then list() it.
  [[nodiscard]] Launch& open(std::size_t parts, std::uint32_t longest);
  /// From now on tasks of the launch are found by the numbers of its ranks.
  void list(const Launch& launch);
  /// The launch is over. Its memory becomes another one's.
  void close(Launch& launch);

  [[nodiscard]] LaunchedGroups& groups() { return groups_; }
  [[nodiscard]] IdleTimes& idle() { return idle_; }
  /// By kind.
  [[nodiscard]] std::vector<LaunchTotals>& totals() { return totals_; }
  /// An operation of a launch has sent all of its bytes.
  void moved(RankId rank, std::uint32_t launch, Bytes bytes) {
    const Place at = place(rank, LaunchId{launch});
    if (at.launch != nullptr) totals_[at.launch->label.kind].bytes += bytes;
  }
  [[nodiscard]] Launch& at(std::uint32_t slot) const { return *pool_[slot]; }
  [[nodiscard]] std::size_t open_launches() const { return open_; }
  /// The open launches, the oldest first.
  [[nodiscard]] std::vector<const Launch*> all() const;
  [[nodiscard]] std::size_t ranks() const { return ranks_.size(); }

  /// REQUIRES: an open launch of the rank has the task.
  [[nodiscard]] Place place(RankId rank, TaskId number) const;
  /// The launch of the rank; null where it is not open.
  [[nodiscard]] Place place(RankId rank, LaunchId id) const;
  [[nodiscard]] const Task& task(RankId rank, TaskId number) const {
    const Place at = place(rank, number);
    return at.launch->task(at.part, at.launch->local(number));
  }
  /// The communicator behind a slot of the tasks of a rank. REQUIRES: the launch is open, and the rank is one of its ranks.
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t slot, std::uint32_t launch) const {
    const Place at = place(rank, LaunchId{launch});
    if (at.launch->graph == nullptr) return at.launch->group;
    const LaunchedGraph& graph = *at.launch->graph;
    return graph.communicators[graph.graph->communicator(RankId{at.part}, slot).index()];
  }

 private:
  struct Entry {
    TaskId first;
    std::uint32_t id = 0;
    std::uint32_t slot = 0;
    std::uint32_t part = 0;
  };

  LaunchedGroups groups_;
  IdleTimes idle_;
  std::vector<LaunchTotals> totals_;
  std::vector<std::deque<Entry>> ranks_;  // by rank: ascending by task, and by launch
  std::vector<std::unique_ptr<Launch>> pool_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
  std::uint32_t next_ = 0;
  std::size_t next_task_ = 0;
};

/// Whose task a rank's number is: of the graph that the ranks repeat, or of a launch.
[[nodiscard]] inline const Task& task_of(const TaskGraph& graph, const LaunchTable* launches, RankId rank, TaskId task) {
  if (launches == nullptr) [[likely]]
    return graph.program(rank).task(task);
  return launches->task(rank, task);
}

}  // namespace photonrail::execution
