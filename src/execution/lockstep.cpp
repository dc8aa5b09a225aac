#include "execution/lockstep.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

bool Lockstep::complete(const LockstepGroup& group, TaskId task, CriticalPathTag cause) {
  const std::optional<TaskId> ready = next(group, task);
  if (!ready) return false;
  go_on(group, task, cause, *ready);
  return true;
}

// Members may have reached the operation at different tasks of their programs; then they go on one by one.
bool Lockstep::end(OpId id, const LockstepGroup& group) {
  const Operation& op = run_.operations[id];
  const TaskId task = op.arrival.task(0);
  const auto other = [task](TaskId t) { return t != task; };
  if (std::any_of(op.arrival.tasks().begin(), op.arrival.tasks().end(), other)) return false;
  const std::optional<TaskId> ready = next(group, task);
  if (!ready) return false;
  const CriticalPathTag cause{run_.engine.now(), op.cause.reconfigurations()};
  parts_.starter.leave(id, group.size - 1, true, cause);
  run_.accounting.operation_took(op.dimension(), cause.at - op.transfer.started_at, op.copies);
  run_.operations.retire(id);
  go_on(group, task, cause, *ready);
  return true;
}

// Returns what becomes ready on all members when the task is complete, or none(). Nothing: the members must be told one by
// one. Of several tasks that become ready, those of one member would come before those of the next.
std::optional<TaskId> Lockstep::next(const LockstepGroup& group, TaskId task) {
  const std::optional<TaskId> ready = parts_.progress.next_of_all(group, task);
  if (ready && !ready->is_none() && !takes(group, graph_.program(group.first).task(*ready))) return std::nullopt;
  return ready;
}

bool Lockstep::takes(const LockstepGroup& group, const Task& task) const {
  if (task.kind == TaskKind::kCompute) return task.stream == Stream::kGpu && task.demand() == 0;
  return task.kind == TaskKind::kCollective && graph_.communicator(group.first, task.slot) == group.communicator;
}

// The services and the observers of single ranks are notified as if each rank had gone on alone, in the order of the
// members.
void Lockstep::go_on(const LockstepGroup& group, TaskId task, CriticalPathTag cause, TaskId next) {
  for (std::uint32_t m = 0; m < group.size; ++m) parts_.circuits.task_ended(group.rank(m));
  const CriticalPathTag joined = parts_.progress.complete_on_all(group, task, cause);
  if (next.is_none()) return;
  if (graph_.program(group.first).task(next).kind == TaskKind::kCompute) {
    parts_.streams.enqueue(group, {next, joined});
  } else {
    arrive(group, {next, joined});
  }
}

void Lockstep::arrive(const LockstepGroup& group, const ReadyTask& ready) {
  const Task& task = graph_.program(group.first).task(ready.task);
  const OpId id = run_.operations.seat(group.first, task, parts_.progress.iteration(group.first)).op;
  Operation& op = run_.operations[id];
  if (op.runnable == nullptr || op.runnable->late > 0) {  // it starts without its straggler
    for (std::uint32_t m = 0; m < group.size; ++m) parts_.each.task_ready(group.rank(m), ready.task, ready.cause);
    return;
  }
  run_.operations.arrivals().add_all(op, ready.task, {run_.engine.now(), ready.cause.reconfigurations});
  parts_.starter.enqueue(id);
}

}  // namespace photonrail::execution
