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

/// ArrivalWriter writes it.
class Arrival {
 public:
  [[nodiscard]] const std::vector<TaskId>& tasks() const { return tasks_; }  ///< by member; none: has not arrived
  [[nodiscard]] TaskId task(Member member) const { return tasks_[member]; }
  [[nodiscard]] std::uint32_t arrived() const { return arrived_; }
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
  friend class ArrivalWriter;
  Arrival& operator=(const Arrival&) = default;  // so that no other class writes one over it

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
