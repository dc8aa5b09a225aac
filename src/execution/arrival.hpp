// The arrival of the members of an operation: which have arrived, and whether enough have for the operation to start.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace photonrail::execution {

/// The only writer of its state. The parts of the execution report arrivals by these verbs.
class Arrival {
 public:
  /// A new operation: no member has arrived. `needed`: the members that must arrive before it can start.
  void begin(std::uint32_t members, std::uint32_t needed) {
    tasks_.assign(members, TaskId::none());
    arrived_ = 0;
    needed_ = needed;
    ready_ = sender_done_ = false;
    expected_ = Time{};
    due_ = lane_due_ = Time::never();
  }

  /// REQUIRES: the member has not arrived.
  void add(Member member, TaskId task) {
    PHOTONRAIL_CHECK(tasks_[member].is_none());
    tasks_[member] = task;
    ++arrived_;
  }
  /// All members arrive at one instant, so that the operation is ready. REQUIRES: none has arrived.
  void add_all(TaskId task) {
    PHOTONRAIL_CHECK(arrived_ == 0);
    std::fill(tasks_.begin(), tasks_.end(), task);
    arrived_ = static_cast<std::uint32_t>(tasks_.size());
    needed_ = 0;
    ready_ = true;
  }

  /// A member that the operation does not start without has arrived. REQUIRES: one was needed.
  void count_needed() { --needed_; }
  /// The straggler is known, and with it how many more members are needed.
  void need(std::uint32_t members) { needed_ = members; }
  /// REQUIRES: no member is needed any more.
  void become_ready() { ready_ = true; }
  /// The task of the sender of a buffered send is complete.
  void finish_sender() { sender_done_ = true; }

  /// What the profile says of the member that has arrived (CircuitRequest). `orders_lanes`: lanes go by the deadline.
  void expect(Time start, Time due, bool orders_lanes) {
    expected_ = std::max(expected_, start);
    due_ = std::min(due_, due);
    if (orders_lanes) lane_due_ = due_;
  }

  [[nodiscard]] const std::vector<TaskId>& tasks() const { return tasks_; }  ///< by member; none: has not arrived
  [[nodiscard]] TaskId task(Member member) const { return tasks_[member]; }
  [[nodiscard]] std::uint32_t arrived() const { return arrived_; }
  [[nodiscard]] std::uint32_t needed() const { return needed_; }
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] bool sender_done() const { return sender_done_; }
  /// The first member that has not arrived. REQUIRES: one has not.
  [[nodiscard]] Member first_missing() const {
    return static_cast<Member>(std::find(tasks_.begin(), tasks_.end(), TaskId::none()) - tasks_.begin());
  }
  [[nodiscard]] Time expected() const { return expected_; }
  [[nodiscard]] Time due() const { return due_; }  ///< Time::never(): not known
  /// The deadline by which lanes are ordered, earliest first; Time::never(): none.
  [[nodiscard]] Time lane_due() const { return lane_due_; }

 private:
  std::vector<TaskId> tasks_;
  std::uint32_t arrived_ = 0;
  std::uint32_t needed_ = 0;
  bool ready_ = false;
  bool sender_done_ = false;
  Time expected_{};
  Time due_{};
  Time lane_due_{};
};

}  // namespace photonrail::execution
