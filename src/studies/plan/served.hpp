// Served requests in a plan: which candidates keep the limits of their requests, and how many requests they can serve at
// most.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/study/plan.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace photonrail::plan {

/// The most that a candidate can serve, whatever its rails and controllers do.
struct ServedBound {
  double requests_per_s = std::numeric_limits<double>::infinity();
  double answers_per_s = std::numeric_limits<double>::infinity();  ///< tokens, in the steady state
};

/// By its arrivals; and where their rate is searched, by the time that engines need at least for the prompts of the
/// requests that keep their limits. No candidate is excluded by what is not known: infinite.
[[nodiscard]] ServedBound bound_of_served(const Scenario& scenario);

/// Says why the run keeps too few of its requests within their limits; empty: it does, or there are none.
[[nodiscard]] std::string missed_limits(const Scenario& scenario, const RunResult& result);
/// Of a run that does; none: it serves no requests within limits.
[[nodiscard]] std::optional<PlannedRun::Served> served_of(const Scenario& scenario, const RunResult& result);

}  // namespace photonrail::plan
