#include "run/bound_timeline.hpp"

#include <algorithm>

namespace photonrail::run {

void BoundTimeline::stall(RankId rank, Time from, Time to) {
  entries_.push_back({from, rank, Entry::Kind::kComputeBegins});
  entries_.push_back({to, rank, Entry::Kind::kComputeEnds});
}

void BoundTimeline::compute(const ComputeEvent& event) {
  if (event.stream == Stream::kStorage) {
    entries_.push_back({event.start, event.rank, Entry::Kind::kRuns, Dimension::kOther});
    entries_.push_back({event.finish, event.rank, Entry::Kind::kRan, Dimension::kOther});
  } else {
    stall(event.rank, event.start, event.finish);
  }
  if (watched_) notifications_.push_back({event.finish, true, event, {}});
}

void BoundTimeline::arrive(const execution::Operation& op, Member member, Time at) {
  add(op, member, at, OperationEvent::State::kArrived);
}

void BoundTimeline::operation(const execution::Operation& op, Time start, std::span<const OperationBound::Part> parts) {
  for (Member m = 0; m < op.members(); ++m) {
    const OperationBound::Part& part = parts[m];
    const auto enter = [&](Time at, Entry::Kind kind) { entries_.push_back({at, op.rank(m), kind, op.dimension()}); };
    if (op.crosses) enter(start, Entry::Kind::kReady);
    if (part.begins > start) {
      enter(start, Entry::Kind::kWaits);
      enter(part.begins, Entry::Kind::kWaited);
      add(op, m, start, OperationEvent::State::kWaitingForCircuits);
    }
    enter(part.begins, Entry::Kind::kRuns);
    enter(part.ends, Entry::Kind::kRan);
    if (op.crosses) enter(part.ends, Entry::Kind::kEnds);
    add(op, m, part.begins, OperationEvent::State::kRunning);
    add(op, m, part.ends, OperationEvent::State::kDone);
  }
}

void BoundTimeline::iteration(RankId rank, std::uint32_t index, Time end) { iterations_.push_back({rank, index, end}); }

execution::Accounts BoundTimeline::finish(Time makespan) {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.at < b.at; });
  for (const Entry& entry : entries_) account(entry);
  return accounting_.finish(makespan);
}

void BoundTimeline::account(const Entry& entry) {
  switch (entry.kind) {
    case Entry::Kind::kComputeBegins:
      return accounting_.compute_began(entry.rank, entry.at);
    case Entry::Kind::kComputeEnds:
      return accounting_.compute_ended(entry.rank, entry.at);
    case Entry::Kind::kReady:
      return accounting_.rail_ready(entry.rank, entry.dimension, entry.at);
    case Entry::Kind::kWaits:
      return accounting_.waiting_began(entry.rank, entry.dimension, entry.at);
    case Entry::Kind::kWaited:
      return accounting_.waiting_ended(entry.rank, entry.dimension, entry.at);
    case Entry::Kind::kRuns:
      return accounting_.running_began(entry.rank, entry.dimension, entry.at);
    case Entry::Kind::kRan:
      return accounting_.running_ended(entry.rank, entry.dimension, entry.at);
    case Entry::Kind::kEnds:
      return accounting_.rail_ended(entry.rank, entry.dimension, entry.at);
  }
}

void BoundTimeline::add(const execution::Operation& op, Member member, Time at, OperationEvent::State state) {
  if (!watched_) return;
  notifications_.push_back({at, false, {}, execution::event_of(op, member, state, at)});
}

void BoundTimeline::notify_observers(const Scenario& scenario, Time makespan) {
  observers_.notify([&](Observer& observer) { observer.begin(scenario); });
  for (const Iteration& one : iterations_)
    observers_.notify([&](Observer& observer) { observer.iteration(one.rank, one.index, one.end); });
  std::stable_sort(notifications_.begin(), notifications_.end(),
                   [](const Notification& a, const Notification& b) { return a.at < b.at; });
  for (const Notification& n : notifications_) {
    observers_.notify([&](Observer& o) { n.is_computation ? o.compute(n.compute) : o.operation(n.operation); });
  }
  observers_.notify([makespan](Observer& observer) { observer.end(makespan); });
}

}  // namespace photonrail::run
