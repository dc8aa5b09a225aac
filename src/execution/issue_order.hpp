// The order in which each rank's rail operations start: a profiling run records it; a run under a shim follows it, holding
// operations back until their turn and asking early for the circuits of what comes next.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/critical_path.hpp"
#include "execution/operation_table.hpp"
#include "execution/schedule.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::execution {

/// Holds what of a profiling run is followed and made.
struct ProfileUse {
  const Schedule* followed = nullptr;  ///< null: no order is followed
  Schedule* recorded = nullptr;        ///< null: the order of this run is not recorded
  std::uint32_t iterations = 1;        ///< of this run
};

class IssueOrder {
 public:
  /// All must outlive the object.
  IssueOrder(const TaskGraph& graph, OperationTable& operations, CircuitService& circuits, const RankBehaviour& behaviour,
             const ProfileUse& profile);

  void begin_iteration(RankId id, std::uint32_t iteration);

  /// Returns true when the task must wait for its turn: hold_back() it, and go on with what next_in_turn() gives.
  [[nodiscard]] bool takes_turns(RankId id, TaskId task) const { return behaviour_.scheduled && follows(id, task); }
  void hold_back(RankId id, ReadyTask task) { ranks_[id.index()].held_back.push_back(task); }
  /// Takes the task whose turn it is from those held back, if it is there; the turn passes on.
  [[nodiscard]] std::optional<ReadyTask> next_in_turn(RankId id);

  /// Returns true when the order of this run is wanted.
  [[nodiscard]] bool records() const { return profile_.recorded != nullptr; }
  /// The task started. REQUIRES: records().
  void record(RankId id, TaskId task, Time now) { (*profile_.recorded)[id.index()].push_back({task, now}); }
  /// The task of the rank's present iteration is complete: may ask for what the order says comes next.
  void complete(RankId id, TaskId task, std::uint32_t iteration);

  [[nodiscard]] std::span<const ReadyTask> held_back(RankId id) const;
  /// The task that those held back wait for. REQUIRES: some are.
  [[nodiscard]] TaskId turn(RankId id) const { return (*profile_.followed)[id.index()][ranks_[id.index()].turn].task; }

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
  OperationTable& operations_;
  CircuitService& circuits_;
  const RankBehaviour& behaviour_;
  ProfileUse profile_;
  std::vector<Rank> ranks_;  // none without an order that is followed
};

}  // namespace photonrail::execution
