// The bound says how long a step takes at least from some point of it on, by which a run is known to be longer than another
// before its end.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::execution {

/// The longest chain of tasks that wait for each other, each as short as its bytes and computations allow: whatever orders
/// operations and circuits, no run takes less.
struct TailBound {
  std::vector<std::vector<Duration>> after;  ///< by rank and task: from its end to the end of the step
  Duration step{};                           ///< from when a rank begins a step to the end of that step
};

/// Watches a run for the moment from which it cannot end in time.
class TailWatch {
 public:
  TailWatch() = default;
  /// `bound` must outlive the object. `latest`: the end of a run of so many steps that is in time.
  TailWatch(const TailBound& bound, Time latest, std::uint32_t steps) : bound_(&bound), latest_(latest), steps_(steps) {}

  void completed(RankId rank, TaskId task, std::uint32_t step, Time now) {
    if (bound_ == nullptr) return;
    const Time end = now + bound_->after[rank.index()][task.index()] + bound_->step * std::int64_t{steps_ - 1 - step};
    late_ = late_ || end > latest_;
  }
  /// Returns true when it is there for anything.
  [[nodiscard]] bool watches() const { return bound_ != nullptr; }
  [[nodiscard]] bool is_late() const { return late_; }

 private:
  const TailBound* bound_ = nullptr;
  Time latest_{};
  std::uint32_t steps_ = 0;
  bool late_ = false;
};

}  // namespace photonrail::execution
