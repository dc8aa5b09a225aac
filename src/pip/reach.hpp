// The ways of light of two ports that have a mesh to themselves.
#pragma once

#include "photonrail/pip/pip_switch.hpp"

#include <cstdint>

namespace photonrail::pip {

/// Of every two ports that a way joins, those whose shortest way has the most cells. 0 cells: no two are joined.
struct FarthestPorts {
  PortPair ends;
  std::uint32_t cells = 0;
};
[[nodiscard]] FarthestPorts farthest_ports(const PipMesh& mesh);

}  // namespace photonrail::pip
