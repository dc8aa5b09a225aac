// Compares the rates of shared flows with those of a plain solver after each solve. Builds with sanitizers do this
// (PHOTONRAIL_CHECK_LEVELS); others have no call of it.
#pragma once

#include "network/capacity_flows.hpp"
#include "network/flow_table.hpp"

#include <vector>

namespace photonrail::network {

/// Throws InternalError unless the rate of each flow in `lists`, the level of its bottleneck, is its max-min fair rate.
/// `rates` and `levels` are of the capacities, in bytes per picosecond. More than 48 flows are not compared: the plain
/// solver goes through all flows for each bottleneck.
void check_levels(const FlowTable& flows, const CapacityFlows& lists, const std::vector<double>& rates,
                  const std::vector<double>& levels);

}  // namespace photonrail::network
