// The result of a plan as JSON.
#pragma once

#include "studies/plan/explain.hpp"

#include <string>

namespace photonrail::plan {

/// `photonrail.plan_result/1` (docs/reference/plan.md).
[[nodiscard]] std::string plan_json(const Plan& plan, const PlanResult& result, const PlanExplanation& explanation);

}  // namespace photonrail::plan
