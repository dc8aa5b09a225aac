// The estimate says how long a run will take, before it is made.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

namespace photonrail::run {

/// What is counted (WorkPart::what).
inline constexpr const char* kOperations = "tasks and sends";
inline constexpr const char* kRanks = "ranks";
inline constexpr const char* kRequests = "requests";
inline constexpr const char* kResponses = "responses";
inline constexpr const char* kCircuitsTurned = "circuits of slots";

/// Seconds: less is not worth a closer look, even for many points of a sweep.
inline constexpr double kWorthALook = 0.002;

/// On one core of 2025, within a factor of five for runs of more than a second: tasks and sends that are simulated, by what
/// one costs, times the runs that the policy needs; without levers. A job that may be folded is folded for it, unless it
/// takes less than `close_look_s` anyway.
[[nodiscard]] WorkEstimate expected_work(const Scenario& scenario, const Registries& registries,
                                         double close_look_s = kWorthALook);

}  // namespace photonrail::run
