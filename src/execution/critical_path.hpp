// A tag says what held something up last, for the count of reconfigurations on the critical path.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>

namespace photonrail::execution {

/// When something became possible, and how many reconfigurations stand one after another on the chain of causes behind it.
struct CriticalPathTag {
  Time at{};
  std::uint32_t reconfigurations = 0;
};

/// A task that nothing in its program holds up any more, and what did last.
struct ReadyTask {
  TaskId task;
  CriticalPathTag cause;
};

/// The later of two conditions is the one that binds; of two at the same instant, the one with the longer history.
[[nodiscard]] inline CriticalPathTag later_of(CriticalPathTag a, CriticalPathTag b) {
  if (a.at != b.at) return a.at > b.at ? a : b;
  return {a.at, std::max(a.reconfigurations, b.reconfigurations)};
}

/// The cause that binds of all that an operation has waited for. ArrivalWriter writes it, and only ever moves it to a later
/// one.
class BindingCause {
 public:
  [[nodiscard]] CriticalPathTag latest() const { return latest_; }
  [[nodiscard]] std::uint32_t reconfigurations() const { return latest_.reconfigurations; }

 private:
  friend class ArrivalWriter;
  BindingCause& operator=(const BindingCause&) = default;  // so that no other class writes one over it

  CriticalPathTag latest_;
};

}  // namespace photonrail::execution
