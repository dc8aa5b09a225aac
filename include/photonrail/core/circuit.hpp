// A circuit of an optical circuit switch, and a plan of circuits.
#pragma once

#include "photonrail/ids.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace photonrail {

/// Light from the transmit fibre of one NIC port to the receive fibre of another, on one rail.
struct Circuit {
  PortId from;
  PortId to;

  friend constexpr auto operator<=>(const Circuit&, const Circuit&) = default;
};

/// On the way to be usable, usable, or neither.
enum class CircuitState : std::uint8_t { kSwitching, kLit, kDark };

/// What a controller wants changed on one rail. A circuit in `connect` takes its two fibres: whatever they carried
/// before goes dark. Fibres that are not named keep their circuits and keep carrying traffic.
struct CircuitPlan {
  std::vector<Circuit> connect;
  std::vector<PortId> disconnect;  ///< transmit sides to leave dark

  friend bool operator==(const CircuitPlan&, const CircuitPlan&) = default;
};

}  // namespace photonrail
