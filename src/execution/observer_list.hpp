// The observers of a run, notified one after another.
#pragma once

#include "execution/operation.hpp"
#include "photonrail/observer.hpp"

#include <algorithm>
#include <span>

namespace photonrail::execution {

/// A member's state in an operation changed at `now`.
[[nodiscard]] inline OperationEvent event_of(const Operation& op, Member member, OperationEvent::State state, Time now) {
  OperationEvent event;
  event.at = now;
  event.sequence = op.sequence;
  event.communicator = op.key.communicator;
  event.op = op.op;
  event.rank = op.rank(member);
  event.task = op.arrival.task(member);
  event.state = state;
  return event;
}

/// Returns true when one of them wants to be told what happens on ranks. If none does, none is.
[[nodiscard]] inline bool watch_ranks(std::span<Observer* const> observers) {
  return std::any_of(observers.begin(), observers.end(), [](const Observer* o) { return o->needs_every_rank(); });
}

class ObserverList {
 public:
  explicit ObserverList(std::span<Observer* const> observers) : observers_(observers) {}

  [[nodiscard]] bool empty() const { return observers_.empty(); }
  template <class Notify>
  void notify(Notify&& notify) const {
    for (Observer* observer : observers_) notify(*observer);
  }
  /// A member's state in an operation changed at `now`.
  void operation(const Operation& op, Member member, OperationEvent::State state, Time now) const {
    if (empty()) return;
    const OperationEvent event = event_of(op, member, state, now);
    notify([&](Observer& observer) { observer.operation(event); });
  }

 private:
  std::span<Observer* const> observers_;
};

}  // namespace photonrail::execution
