// The estimate says how long a run will take, before it is made.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

namespace photonrail::run {

/// On one core of 2025, within a factor of five for runs of more than a second: tasks that are simulated, by what one
/// costs, times the runs that the policy needs. A job that may be folded is folded for it, unless it is small anyway.
[[nodiscard]] double expected_seconds(const Scenario& scenario, const Registries& registries);

}  // namespace photonrail::run
