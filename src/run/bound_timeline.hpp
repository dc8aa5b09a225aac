// The timeline of a lower bound: when each rank computes, waits and communicates, for the accounts and for observers.
#pragma once

#include "execution/observer_list.hpp"
#include "execution/operation.hpp"
#include "execution/time_accounting.hpp"
#include "photonrail/observer.hpp"
#include "run/operation_bound.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::run {

/// LowerBound evaluates tasks in an order that is not the order of time. This class keeps the entries and sorts them at the
/// end; entries of one instant stay in the order in which they were added.
class BoundTimeline {
 public:
  /// The observers must outlive the object.
  BoundTimeline(std::size_t ranks, std::span<Observer* const> observers, std::size_t uncounted = 0)
      : observers_(observers), watched_(execution::watch_ranks(observers)), accounting_(ranks, {}, uncounted) {}

  /// A straggler delays the begin of the rank's iteration.
  void stall(RankId rank, Time from, Time to);
  void compute(const ComputeEvent& event);
  void arrive(const execution::Operation& op, Member member, Time at);
  /// Every member has arrived at `start`; `parts` by member.
  void operation(const execution::Operation& op, Time start, std::span<const OperationBound::Part> parts);
  /// `copies` operations with `wire_bytes` on the wire each.
  void traffic(Dimension dimension, Bytes wire_bytes, std::uint64_t copies) {
    accounting_.traffic(dimension, wire_bytes, copies);
  }
  /// Observers are notified in the order of evaluation.
  void iteration(RankId rank, std::uint32_t index, Time end);

  /// The accounts of all ranks at the end of the run.
  [[nodiscard]] execution::Accounts finish(Time makespan);
  /// Notifies observers of the begin, of iterations, of computations and operations in the order of time, and of the end.
  void notify_observers(const Scenario& scenario, Time makespan);

 private:
  /// A change in what a rank does.
  struct Entry {
    enum class Kind : std::uint8_t { kComputeBegins, kComputeEnds, kReady, kWaits, kWaited, kRuns, kRan, kEnds };
    Time at{};
    RankId rank;
    Kind kind = Kind::kReady;
    Dimension dimension = Dimension::kOther;
  };
  struct Notification {
    Time at{};
    bool is_computation = false;
    ComputeEvent compute{};
    OperationEvent operation{};
  };

  void account(const Entry& entry);
  void add(const execution::Operation& op, Member member, Time at, OperationEvent::State state);

  execution::ObserverList observers_;
  bool watched_;  // observers are told what happens on ranks
  execution::TimeAccounting accounting_;
  std::vector<Entry> entries_;
  std::vector<Notification> notifications_;
  struct Iteration {
    RankId rank;
    std::uint32_t index = 0;
    Time end{};
  };
  std::vector<Iteration> iterations_;
};

}  // namespace photonrail::run
