// The failures of a scenario in its trace: when each begins, is detected and is repaired.
#pragma once

#include "photonrail/scenario.hpp"
#include "report/trace_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::report {

struct FaultSpan {
  std::string name;  ///< what fails, and how
  Time at{};
  Time known{};                ///< when the control plane knows it; `at` where it knows at once
  std::optional<Time> over{};  ///< the repair; none: it lasts to the end of the run
};

/// Faults of ports and of links inside servers, and GPUs that fail at a time, of each job; of a scenario without them none.
[[nodiscard]] std::vector<FaultSpan> faults_of(const Scenario& scenario);

/// A thread for each failure that began before `end`: a span until it is detected, one until the repair.
void write_faults(const std::vector<FaultSpan>& faults, std::uint32_t process, Time end, TraceText& text);

}  // namespace photonrail::report
