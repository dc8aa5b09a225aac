// Faults of NICs on electrical rails in time (PortFault): what they carry stands still, or goes at a share of their rate.
#pragma once

#include "engine/engine.hpp"
#include "fabric/active_faults.hpp"
#include "fabric/capacity_map.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

class NicFaults {
 public:
  /// Holds what the faults act on. All must outlive the object.
  struct Parts {
    engine::Engine& engine;
    const std::vector<PortFault>& faults;
    const topology::Plant& plant;
    const CapacityMap& capacities;
    network::Network& network;
  };
  /// Schedules the faults. `nic`: the rate of a NIC. REQUIRES: time 0; the faults are of whole NICs.
  NicFaults(const Parts& parts, Bandwidth nic);
  NicFaults(const NicFaults&) = delete;  // events name it
  NicFaults& operator=(const NicFaults&) = delete;

 private:
  void begin(std::uint64_t index);
  void end(std::uint64_t index);
  void change_rates(const PortFault& changed);
  [[nodiscard]] bool concerns(const PortFault& fault, GpuId gpu) const;

  Parts parts_;
  Bandwidth nic_;
  ActiveFaults active_;
};

}  // namespace photonrail::fabric
