// The observers of a run, notified one after another.
#pragma once

#include "execution/launch_table.hpp"
#include "execution/operation.hpp"
#include "photonrail/observer.hpp"

#include <algorithm>
#include <span>

namespace photonrail::execution {

/// A member's state in an operation changed at `now`.
/// `launches`: null where ranks repeat their programs.
[[nodiscard]] inline OperationEvent event_of(const Operation& op, Member member, OperationEvent::State state, Time now,
                                             const LaunchTable* launches = nullptr) {
  OperationEvent event;
  event.at = now;
  event.sequence = op.sequence;
  event.communicator = op.key.communicator;
  event.op = op.op;
  event.rank = op.rank(member);
  event.task = op.arrival.task(member);
  event.state = state;
  if (launches == nullptr) return event;
  event.launch = op.key.iteration;
  const LaunchTable::Place at = launches->place(event.rank, LaunchId{event.launch});
  if (at.launch != nullptr) event.task = at.launch->local(event.task);
  return event;
}

/// Returns true when one of them wants to be told what happens on ranks. If none does, none is.
[[nodiscard]] inline bool watch_ranks(std::span<Observer* const> observers) {
  return std::any_of(observers.begin(), observers.end(), [](const Observer* o) { return o->needs_every_rank(); });
}

class ObserverList {
 public:
  /// `launches`: of an agent's workload, else null. It must outlive the object.
  explicit ObserverList(std::span<Observer* const> observers, const LaunchTable* launches = nullptr)
      : observers_(observers), launches_(launches) {}

  [[nodiscard]] bool empty() const { return observers_.empty(); }
  template <class Notify>
  void notify(Notify&& notify) const {
    for (Observer* observer : observers_) notify(*observer);
  }
  /// A member's state in an operation changed at `now`.
  void operation(const Operation& op, Member member, OperationEvent::State state, Time now) const {
    if (empty()) return;
    const OperationEvent event = event_of(op, member, state, now, launches_);
    notify([&](Observer& observer) { observer.operation(event); });
  }
  /// A computation ended. `task`: its number among the rank's.
  void compute(ComputeEvent event) const {
    if (empty()) return;
    if (launches_ != nullptr) {
      const LaunchTable::Place at = launches_->place(event.rank, event.task);
      event.launch = at.launch->id.value;
      event.task = at.launch->local(event.task);
    }
    notify([&](Observer& observer) { observer.compute(event); });
  }

 private:
  std::span<Observer* const> observers_;
  const LaunchTable* launches_;
};

}  // namespace photonrail::execution
