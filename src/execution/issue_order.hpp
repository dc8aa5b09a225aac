// The order in which each rank's rail operations start: a profiling run records it; a run under a shim follows it, holding
// operations back until their turn and asking early for the circuits of what comes next.
#pragma once

#include "photonrail/controller.hpp"
#include "photonrail/task_graph.hpp"
#include "execution/critical_path.hpp"
#include "control_plane/control_plane.hpp"
#include "control_plane/profiled_schedule.hpp"
#include "execution/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail {

class IssueOrder {
 public:
  /// All references must outlive the object. `known`: the order to follow, or null; it need not be known when the shim
  /// asks for nothing. `recorded`, when given, gets the order of this run.
  IssueOrder(const TaskGraph& graph, std::uint32_t iterations, OperationTable& operations, ControlPlane& control,
            ShimPolicy shim, const Schedule* known, Schedule* recorded);

  void begin_iteration(RankId id, std::uint32_t iteration);

  /// Whether the task must wait for its turn: hold_back() it, and go on with what next_in_turn() gives.
  [[nodiscard]] bool takes_turns(RankId id, TaskId task) const { return shim_.scheduled && follows(id, task); }
  void hold_back(RankId id, ReadyTask task) { ranks_[id.index()].held_back.push_back(task); }
  /// Takes the task whose turn it is from those held back, if it is there; the turn passes on.
  [[nodiscard]] std::optional<ReadyTask> next_in_turn(RankId id);

  /// Whether the order of this run is wanted.
  [[nodiscard]] bool records() const { return recorded_ != nullptr; }
  /// The task started. REQUIRES: records().
  void record(RankId id, TaskId task, Time now);
  /// The task of the rank's present iteration is complete: may ask for what the order says comes next.
  void complete(RankId id, TaskId task, std::uint32_t iteration);

  [[nodiscard]] std::span<const ReadyTask> held_back(RankId id) const;
  /// The task that those held back wait for. REQUIRES: some are.
  [[nodiscard]] TaskId turn(RankId id) const { return (*known_)[id.index()][ranks_[id.index()].turn].task; }

 private:
  struct Rank {
    std::size_t turn = 0;      // the next to be issued
    std::size_t frontier = 0;  // the first that is not complete
    std::vector<ReadyTask> held_back;
    std::vector<bool> complete;  // by task
  };

  [[nodiscard]] bool follows(RankId id, TaskId task) const;
  void announce_next(RankId id, std::uint32_t iteration);
  void announce(RankId id, TaskId task, std::uint32_t iteration);

  const TaskGraph& graph_;
  std::uint32_t iterations_;
  OperationTable& operations_;
  ControlPlane& control_;
  ShimPolicy shim_;
  const Schedule* known_;
  Schedule* recorded_;
  std::vector<Rank> ranks_;  // none without a known order
};

}  // namespace photonrail
