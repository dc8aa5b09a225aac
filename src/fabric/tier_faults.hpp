// Faults of uplinks of electrical rails, and of links between sites, in time (PortFault). Messages that take single uplinks
// go on over others; where all uplinks of a leaf are one capacity, it has less. What a link between sites carries stands
// still while it has failed.
#pragma once

#include "engine/engine.hpp"
#include "fabric/active_faults.hpp"
#include "fabric/capacity_map.hpp"
#include "fabric/site_links.hpp"
#include "fabric/uplink_routes.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

class TierFaults {
 public:
  /// Holds what the faults act on. All must outlive the object.
  struct Parts {
    engine::Engine& engine;
    const std::vector<PortFault>& faults;
    const topology::Plant& plant;
    const CapacityMap& capacities;
    network::Network& network;
    UplinkRoutes* routes = nullptr;    ///< null: fluid
    const SiteLinks* sites = nullptr;  ///< null: one site
  };
  /// Schedules the faults of uplinks and of sites' links among those given. REQUIRES: time 0.
  explicit TierFaults(const Parts& parts);
  TierFaults(const TierFaults&) = delete;  // events name it
  TierFaults& operator=(const TierFaults&) = delete;

 private:
  void begin(std::uint64_t index);
  void end(std::uint64_t index);
  void change_rates(const PortFault& changed);
  void change_link(std::uint32_t link);
  [[nodiscard]] double share(RailId rail, std::uint32_t leaf, std::uint32_t uplink) const;

  Parts parts_;
  ActiveFaults active_;
};

}  // namespace photonrail::fabric
