// How much work a plan is, before it is made.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/core/work.hpp"

namespace photonrail {

/// Making the plan of a call, and writing it as XML: by the sends that it has, known without making it.
[[nodiscard]] WorkEstimate work_of_export(const CollectiveCall& call, const CollectiveAlgorithm& algorithm);
/// The same of a plan that is made: what sends wait for is written, too.
[[nodiscard]] WorkEstimate work_of_export(const SendPlan& plan);

}  // namespace photonrail
