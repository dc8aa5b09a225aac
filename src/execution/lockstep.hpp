// Takes the members of a group through their programs together, where all do the same at one instant (lockstep_groups.hpp).
// What it does not take is done member by member.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/compute_streams.hpp"
#include "execution/lockstep_groups.hpp"
#include "execution/rank_progress.hpp"
#include "execution/run_context.hpp"
#include "execution/starter.hpp"

#include <optional>

namespace photonrail::execution {

class Lockstep {
 public:
  /// All must outlive the object.
  struct Parts {
    CircuitService& circuits;
    ComputeStreams& streams;
    RankProgress& progress;
    Starter& starter;
    ProgramListener& each;  ///< is told of what becomes ready on one member after another
  };
  Lockstep(const TaskGraph& graph, const RunContext& run, const Parts& parts) : graph_(graph), run_(run), parts_(parts) {}

  /// The task is complete on all members. False, and nothing is done: it must be completed member by member.
  [[nodiscard]] bool complete(const LockstepGroup& group, TaskId task, CriticalPathTag cause);
  /// The last bytes of a collective of the group are there, for all members: retires it and completes its tasks. False, and
  /// nothing is done: member by member.
  [[nodiscard]] bool end(OpId id, const LockstepGroup& group);

 private:
  [[nodiscard]] std::optional<TaskId> next(const LockstepGroup& group, TaskId task);
  [[nodiscard]] bool takes(const LockstepGroup& group, const Task& task) const;
  void go_on(const LockstepGroup& group, TaskId task, CriticalPathTag cause, TaskId next);
  void arrive(const LockstepGroup& group, const ReadyTask& ready);

  const TaskGraph& graph_;
  RunContext run_;
  Parts parts_;
};

}  // namespace photonrail::execution
