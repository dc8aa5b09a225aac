// The cost model is what a scenario's cluster makes of an alpha-beta cost.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective/cost.hpp"
#include "photonrail/controller.hpp"

namespace photonrail::run {

/// Returns the time from a decision until its circuits can be used, where the switch takes `switching`.
[[nodiscard]] Duration reconfiguration(const OpticalSwitchSpec& optical, Duration switching,
                                       const ControllerSpec& controller);

/// A set of circuits costs what a request, its service and reconfiguration() with the typical switching take. Leaves out
/// the second tier of electrical rails.
[[nodiscard]] CostModel cost_model(const ClusterSpec& cluster, const ControllerSpec& controller);

}  // namespace photonrail::run
