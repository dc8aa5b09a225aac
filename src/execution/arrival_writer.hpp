// Writes who has arrived at an operation and what the operation waited for.
#pragma once

#include "execution/operation.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace photonrail::execution {

/// The only writer of Operation::arrival and Operation::cause, which nothing else can write: the parts of the execution and
/// the services of circuits report to it.
class ArrivalWriter {
 public:
  /// `remembers`: the member that came last to the communicator's last operation is asked for, as a prediction.
  explicit ArrivalWriter(bool remembers) : remembers_(remembers) {}

  /// A new operation waits for all members but those that its plan starts without. Where the plan is not known yet, one of
  /// them may turn out to be late.
  void begin(Operation& op) {
    Arrival& arrival = op.arrival;
    arrival.tasks_.assign(op.members(), TaskId::none());
    arrival.arrived_ = 0;
    arrival.needed_ = op.members() - (op.runnable != nullptr ? op.runnable->late : 1);
    arrival.ready_ = arrival.sender_done_ = false;
    arrival.expected_ = Time{};
    arrival.due_ = arrival.lane_due_ = Time::never();
    op.cause.latest_ = {};
  }

  /// REQUIRES: the member has not arrived.
  void add(Operation& op, Member member, TaskId task, CriticalPathTag cause) {
    PHOTONRAIL_CHECK(op.arrival.tasks_[member].is_none());
    op.arrival.tasks_[member] = task;
    ++op.arrival.arrived_;
    wait_for(op, cause);
  }
  /// All members arrive at one instant, so that the operation is ready. REQUIRES: none has arrived.
  void add_all(Operation& op, TaskId task, CriticalPathTag cause) {
    PHOTONRAIL_CHECK(op.arrival.arrived_ == 0);
    std::fill(op.arrival.tasks_.begin(), op.arrival.tasks_.end(), task);
    op.arrival.arrived_ = op.members();
    op.arrival.needed_ = 0;
    op.arrival.ready_ = true;
    wait_for(op, cause);
    record_last(op, op.members() - 1);
  }
  /// The task of the sender of a buffered send is complete.
  void finish_sender(Operation& op) { op.arrival.sender_done_ = true; }
  /// What the profile says of the member that has arrived (CircuitRequest). `orders_lanes`: lanes go by the deadline.
  void expect(Operation& op, Time start, Time due, bool orders_lanes) {
    Arrival& arrival = op.arrival;
    arrival.expected_ = std::max(arrival.expected_, start);
    arrival.due_ = std::min(arrival.due_, due);
    if (orders_lanes) arrival.lane_due_ = arrival.due_;
  }

  /// The member that has arrived counts, unless the operation starts without it. Returns true when no more are needed.
  [[nodiscard]] bool count_in(Operation& op, Member member) {
    if (!op.starts_without(member)) --op.arrival.needed_;
    return op.arrival.needed_ == 0;
  }
  /// The one missing member is known to be the straggler. Returns true when the plan starts without it.
  [[nodiscard]] bool settle(Operation& op) {
    op.arrival.needed_ = op.starts_without(op.arrival.first_missing()) ? 0 : 1;
    return op.arrival.needed_ == 0;
  }
  /// REQUIRES: no member is needed any more.
  void become_ready(Operation& op) { op.arrival.ready_ = true; }

  /// The operation waited for this, too: a lane, or a circuit.
  void wait_for(Operation& op, CriticalPathTag cause) { op.cause.latest_ = later_of(op.cause.latest_, cause); }

  /// The member completes the operation.
  void record_last(const Operation& op, Member member) {
    if (!remembers_) return;
    const std::size_t communicator = op.key.communicator.index();
    if (communicator >= last_.size()) last_.resize(communicator + 1);
    last_[communicator] = member;
  }
  /// The member that came last to the communicator's last operation; none before the first.
  [[nodiscard]] std::optional<Member> last(CommunicatorId communicator) const {
    return communicator.index() < last_.size() ? last_[communicator.index()] : std::nullopt;
  }

 private:
  bool remembers_;
  std::vector<std::optional<Member>> last_{};  // by communicator
};

}  // namespace photonrail::execution
