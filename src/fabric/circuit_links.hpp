// Lit circuits as capacities of the network: the parallel circuits from one server to another act as one link of their
// summed rate.
#pragma once

#include "fabric/capacity_map.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

using topology::CapacityId;

/// The lit circuits from one server to another, as one capacity. It outlives its circuits while operations hold it: what
/// was posted on it stops, and goes on when the servers are joined again.
struct Link {
  std::uint32_t to = 0;  // server
  CapacityId capacity = 0;
  std::uint32_t width = 0;  // lit circuits
  std::uint32_t users = 0;  // holds
  double ports = 0.0;       // of how many ports they have the rate: less than width where some are slow
};

class CircuitLinks {
 public:
  /// `capacities` and `circuits` must outlive the object.
  CircuitLinks(const RailContext& rail, const CapacityMap& capacities, const RailCircuits& circuits);

  /// Null: none. Valid until the next refresh() of the server that sends.
  [[nodiscard]] const Link* find(Hop hop) const {
    for (const Link& link : links_[hop.from]) {
      if (link.to == hop.to) return &link;
    }
    return nullptr;
  }
  /// A hold begins or ends to use the link. REQUIRES: there is one. A link that has neither users nor circuits is gone with
  /// the next refresh().
  void add_user(Hop hop) { ++at(hop).users; }
  void remove_user(Hop hop) { --at(hop).users; }

  /// Makes the links of a server anew from its lit circuits. A link that goes on keeps its capacity, where flows are
  /// counted.
  void refresh(std::uint32_t from);

  /// Returns the bytes left of the messages on the link.
  [[nodiscard]] Bytes bytes_left(Hop hop) const;

 private:
  [[nodiscard]] Link& at(Hop hop);
  [[nodiscard]] CapacityId take_capacity(std::uint32_t from, PortId port);

  RailContext rail_;
  const CapacityMap& capacities_;
  const RailCircuits& circuits_;
  std::vector<std::vector<Link>> links_;        // by server that sends
  std::vector<std::vector<CapacityId>> spare_;  // by server: capacities that no link has
};

}  // namespace photonrail::fabric
