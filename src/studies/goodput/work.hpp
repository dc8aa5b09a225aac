// How much work the months of a job are.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/study/goodput.hpp"

namespace photonrail::goodput {

/// What the histories of the scenario take: those of every seed, and the steps of the degraded clusters that occur in them,
/// each simulated once. `step`: the simulation of one step. The step of the healthy cluster is not counted.
[[nodiscard]] WorkEstimate work_of_months(const GoodputScenario& scenario, const WorkEstimate& step);

}  // namespace photonrail::goodput
