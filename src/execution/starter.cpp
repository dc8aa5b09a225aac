#include "execution/starter.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

Starter::Starter(const RunContext& run, const StartTargets& targets, Lanes lanes, bool yields_lanes)
    : run_(run), targets_(targets), lanes_(std::move(lanes)), yields_lanes_(yields_lanes) {}

// Operations start in the phase kStart of an instant, behind all that ends in it (kFinish) and behind the controllers
// (kDecide). Their order is then that of the programs, whatever the order of the events that made them ready.
void Starter::schedule() {
  if (scheduled_) return;
  scheduled_ = true;
  run_.engine.schedule(run_.engine.now(), engine::Phase::kStart, engine::Action::to<&Starter::start_all>(*this));
}

void Starter::enqueue(OpId id) {
  const Operation& op = run_.operations[id];
  if (op.crosses) fresh_.push_back(Lanes::key(id, op));
  lanes_.enqueue(id, op);
  schedule();
}

// A member that comes at the instant in which its operation became ready is accounted for with the others, by
// account_ready().
void Starter::joined(OpId id, Member member) {
  const Operation& op = run_.operations[id];
  const bool accounted = std::none_of(fresh_.begin(), fresh_.end(), [id](const Lanes::Ready& r) { return r.op == id; });
  if (op.crosses && accounted) run_.accounting.rail_ready(op.rank(member), op.dimension(), run_.engine.now());
}

// Everything that became ready at this instant is known.
void Starter::start_all(std::uint64_t) {
  scheduled_ = false;
  account_ready();
  targets_.streams.start_ready();
  // Schedules record operations by groups that the programs do not order: a new group begins where the keys differ.
  const Lanes::Ready* before = nullptr;
  const std::vector<Lanes::Ready>& candidates = lanes_.candidates();
  for (const Lanes::Ready& candidate : candidates) {
    if (before != nullptr && !before->same_to_programs(candidate)) record_started();
    before = &candidate;
    Operation& op = run_.operations[candidate.op];
    // A candidate that has started had yielded its lanes for lack of circuits, and they may be free again.
    if (op.transfer.started) {
      if (op.yielded) targets_.circuits.retry(candidate.op);
    } else if (take_lanes(candidate, op)) {
      start_operation(candidate.op);
    }
  }
  record_started();
}

// Accounts for what became ready or was sent at this instant, in the order of the programs.
void Starter::account_ready() {
  std::sort(came_.begin(), came_.end());
  for (const auto& [rank, task] : came_) targets_.order.record(rank, task, run_.engine.now());
  came_.clear();
  std::sort(fresh_.begin(), fresh_.end());
  for (const Lanes::Ready& ready : fresh_) {
    const Operation& op = run_.operations[ready.op];
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) run_.accounting.rail_ready(op.rank(m), op.dimension(), run_.engine.now());
    }
  }
  fresh_.clear();
}

// Records operations that the programs do not order, each rank's in the order of its own tasks.
void Starter::record_started() {
  std::sort(started_.begin(), started_.end());
  for (const auto& [rank, task] : started_) targets_.order.record(rank, task, run_.engine.now());
  started_.clear();
}

void Starter::record_in_turn(RankId id, TaskId task) {
  came_.emplace_back(id, task);
  schedule();
}

bool Starter::take_lanes(const Lanes::Ready& ready, Operation& op) {
  const std::optional<CriticalPathTag> freed = lanes_.take(ready, op);
  if (freed) run_.operations.arrivals().wait_for(op, *freed);
  return freed.has_value();
}

void Starter::start_operation(OpId id) {
  const Operation& op = run_.operations[id];
  if (op.crosses && targets_.order.records()) {
    for (Member m = op.arrival.sender_done() ? 1 : 0; m < op.members(); ++m) {
      if (op.present(m)) started_.emplace_back(op.rank(m), op.arrival.task(m));
    }
  }
  if (!op.optical || op.plan().send_count() == 0) {
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) run_.observers.operation(op, m, OperationEvent::State::kRunning, run_.engine.now());
    }
  }
  targets_.transfers.start(id);
}

void Starter::leave(OpId id, Member member, bool last, CriticalPathTag cause) {
  lanes_.leave(run_.operations[id], member, last, cause);
  if (lanes_.has_candidates()) schedule();
}

// An operation without its lanes must not take circuits: it would keep them from the operation that has the lanes, which in
// turn keeps the lanes from it.
bool Starter::may_take_circuits(OpId id) {
  const Operation& op = run_.operations[id];
  return !op.yielded || lanes_.are_free(Lanes::key(id, op), op);
}

// An operation that has begun keeps its lanes.
void Starter::lacks_circuits(OpId id) {
  Operation& op = run_.operations[id];
  const std::vector<RoundProgress>& rounds = op.transfer.rounds;
  const bool begun = op.transfer.sends_to_go < op.plan().send_count() ||
                     std::any_of(rounds.begin(), rounds.end(), [](const RoundProgress& r) { return r.open; });
  if (!yields_lanes_ || begun || op.yielded) return;
  op.yielded = true;
  lanes_.yield(id, op);
  schedule();
}

void Starter::has_circuits(OpId id) {
  Operation& op = run_.operations[id];
  if (op.yielded) PHOTONRAIL_CHECK(take_lanes(Lanes::key(id, op), op));
  op.yielded = false;
}

}  // namespace photonrail::execution
