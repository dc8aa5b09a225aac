// The ways of light of two ports that have a mesh to themselves.
#pragma once

#include "photonrail/pip/pip_switch.hpp"

#include <cstdint>

namespace photonrail::pip {

/// Holds what the shortest ways of single pairs of ports say of a mesh.
struct PortReach {
  PortPair farthest;           ///< of the pairs that a way joins, the one whose shortest way has the most cells
  std::uint32_t cells = 0;     ///< that this way passes; 0: no pair is joined
  PortPair apart;              ///< the first pair that no way joins
  std::uint64_t unjoined = 0;  ///< how many such pairs there are
};
/// `wanted(a, b)`, a < b: whether the pair is one that may have to be joined.
[[nodiscard]] PortReach port_reach(const PipMesh& mesh, bool (*wanted)(std::uint32_t, std::uint32_t));

}  // namespace photonrail::pip
