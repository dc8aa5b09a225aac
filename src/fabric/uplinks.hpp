// The uplinks of electrical rails of two tiers.
#pragma once

#include "photonrail/cluster/topology.hpp"

namespace photonrail::fabric {

/// Returns true when the NICs of a leaf can send more than its uplinks carry: these are fewer, or a NIC with ports on two
/// leaves counts for that of its first; or where they have rates of their own, faults, or messages for each. Elsewhere no
/// uplink limits any flow, and none is simulated.
[[nodiscard]] inline bool uplinks_bind(const PlantSpec& plant) {
  if (!plant.two_tier()) return false;
  const bool fewer = plant.oversubscription > 1.0 || plant.ports_per_leaf() % plant.nic_ports != 0;
  return fewer || !plant.uplinks.rates.empty() || plant.uplinks_fail || plant.routes_uplinks();
}

}  // namespace photonrail::fabric
