// The cost model is what a scenario's cluster makes of an alpha-beta cost.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective/cost.hpp"
#include "photonrail/controller.hpp"

namespace photonrail::run {

/// A set of circuits costs what a request, its service, the command, the switching (the typical one of a distribution),
/// link bring-up and the acknowledgement take. Leaves out the second tier of electrical rails.
[[nodiscard]] CostModel cost_model(const ClusterSpec& cluster, const ControllerSpec& controller);

}  // namespace photonrail::run
