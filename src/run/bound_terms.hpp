// What the circuits of every policy cost at least.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>

namespace photonrail::run {

struct BoundTerms {
  Duration dark{};  ///< a fibre that changes its peer carries nothing for so long
  std::uint32_t ports = 1;
  Bandwidth port_rate{};
  bool forwarded = false;  ///< sends may take several circuits, so that the peers of a port are not known
};

/// The time that bytes need at the rate at least, rounded down.
[[nodiscard]] Duration least_time(Bytes bytes, Bandwidth rate);

}  // namespace photonrail::run
