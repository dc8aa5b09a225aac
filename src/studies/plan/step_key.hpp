// Everything that the step of a candidate depends on, as a text: candidates with equal keys have equal steps.
#pragma once

#include "photonrail/study/plan.hpp"

#include <string>
#include <vector>

namespace photonrail::plan {

/// Of the base with these changes, without what makes no difference: months; on electrical rails a controller; in the order
/// of a placement dimensions of one. `of_bound`: of the step's lower bound, which rails and controllers are not part of.
/// Throws ConfigError: it has no cluster.
[[nodiscard]] std::string step_key(const Plan& plan, const std::vector<Override>& patch, bool of_bound);

}  // namespace photonrail::plan
