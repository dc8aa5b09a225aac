// The order in which a rank runs computations of one stream, and collectives of one lane, as far as the programs alone
// decide it.
#pragma once

#include "photonrail/task_graph.hpp"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::run {

/// Calls of a communicator of which the first is over before the second begins.
struct CallOrder {
  std::uint32_t slot = 0;
  std::uint32_t first = 0;  ///< Task::match
  std::uint32_t second = 0;

  friend auto operator<=>(const CallOrder&, const CallOrder&) = default;
};

/// A stream runs one computation at a time, of those that are ready the lowest. So a computation runs before a later one of
/// its stream whenever all that it waits for is over by the time at which that one can begin: in every run, whatever the
/// circuits. What it has to wait for itself is not counted, since the program says it. The same holds of the collectives of
/// a lane that waits for no circuits, where it holds of all members (calls()).
class StreamOrder {
 public:
  /// `lanes`: by slot, whether it is one.
  StreamOrder(const Program& program, const std::vector<bool>& lanes);

  /// The orders of collectives, ascending. They are counted on, so that all members must have them alike.
  [[nodiscard]] const std::vector<CallOrder>& calls() const { return calls_; }
  /// What runs after `t` and does not wait for it in the program.
  [[nodiscard]] std::span<const TaskId> after(TaskId t) const {
    return {after_.data() + offsets_[t.index()], after_.data() + offsets_[t.index() + 1]};
  }
  /// For how many others, which it does not wait for in the program, `t` waits.
  [[nodiscard]] std::uint32_t waits(TaskId t) const { return waits_[t.index()]; }

 private:
  std::vector<TaskId> after_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> waits_;
  std::vector<CallOrder> calls_;
};

/// By program. `in_server`: by communicator, whether it has a lane that waits for no circuits and runs one call at a time.
[[nodiscard]] std::vector<StreamOrder> stream_orders(const TaskGraph& graph, const std::vector<bool>& in_server);

}  // namespace photonrail::run
