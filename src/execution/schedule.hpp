// The order of rail operations in a profiling run, and how ranks follow it.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::execution {

/// A rail operation of a rank, and when it started in the profiling run.
struct ScheduledTask {
  TaskId task;
  Time start{};
};

/// Indexed by rank: its rail operations in the order in which they start on electrical rails; buffered sends in the order
/// in which their sender comes to them, because it goes on at once.
using Schedule = std::vector<std::vector<ScheduledTask>>;

/// Describes how ranks issue rail operations and treat their lanes.
struct RankBehaviour {
  std::vector<bool> announces{};    ///< by rank: asks early for the circuits of its next operation; empty: none does
  bool scheduled = false;           ///< rail operations are issued in the order of the profiling run
  bool yields_lanes = false;        ///< an operation leaves its lanes to others while it waits for circuits
  bool earliest_due_first = false;  ///< operations that want a lane are ranked by their due times

  [[nodiscard]] bool announces_any() const {
    return std::find(announces.begin(), announces.end(), true) != announces.end();
  }
};

}  // namespace photonrail::execution
