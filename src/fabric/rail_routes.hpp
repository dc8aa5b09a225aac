// The ways of a rail: over which circuits, and so over which capacities, messages go from one server to another. Direct
// circuits first; with forwarding else the shortest way over lit circuits.
#pragma once

#include "fabric/circuit_links.hpp"
#include "fabric/port_faults.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/shared_fabric.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace photonrail::fabric {

class RailRoutes {
 public:
  /// Holds what the routes read. All must outlive them.
  struct Sources {
    const RailSpec& spec;
    const SharedRail& shared;
    const RailCircuits& circuits;
    const CircuitLinks& links;
    const PortFaults& faults;
  };
  explicit RailRoutes(const Sources& sources) : from_(sources) {}

  /// Limit on the circuits that a send may be forwarded over; 0: as the rail's spec says.
  void set_hops(std::uint32_t most) { most_hops_ = most; }
  /// No send is forwarded while a circuit of its own is on its way.
  void wait_for_direct() { waits_for_direct_ = true; }
  /// No send is forwarded unless faulty ports rule out a circuit of its own.
  void forward_around_faults_only() { around_faults_only_ = true; }

  /// False: there is no way now.
  [[nodiscard]] bool may_lead(Hop hop) const { return direct(hop) || forwards(); }
  /// Returns true when there may be ways over several circuits.
  [[nodiscard]] bool forwards() const { return most_hops_ == 0 ? from_.spec.forwarding : most_hops_ > 1; }
  /// The hops of the way, or empty: there is none. Circuits that drain are no way. Valid until the next call.
  [[nodiscard]] std::span<const Hop> hops(Hop hop);
  /// The capacities on the way, or empty. Valid until the next call.
  [[nodiscard]] std::span<const topology::CapacityId> way(Hop hop);
  /// Describes the way that way() gave last: circuits, and those of them that lead to another pod.
  struct Length {
    std::uint32_t circuits = 0;
    std::uint32_t crossings = 0;
    Duration between_sites{};
  };
  [[nodiscard]] Length length() const { return length_; }

 private:
  [[nodiscard]] bool direct(Hop hop) const;
  [[nodiscard]] bool on_its_way(Hop hop) const;
  [[nodiscard]] bool can_join(Hop hop) const;
  void find_way(Hop hop, std::vector<Hop>& out) const;

  Sources from_;
  std::uint32_t most_hops_ = 0;
  bool waits_for_direct_ = false;
  bool around_faults_only_ = false;
  std::map<Hop, std::vector<Hop>> found_;  // by forwarding, since the circuits had version found_at_
  std::uint64_t found_at_ = 0;
  Hop direct_{};
  std::vector<topology::CapacityId> way_;
  Length length_{};
};

}  // namespace photonrail::fabric
