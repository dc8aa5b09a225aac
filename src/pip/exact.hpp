// The smallest set of routable matchings of few ports, by exhaustive search.
#pragma once

#include "photonrail/pip/pip_switch.hpp"

namespace photonrail::pip {

inline constexpr std::uint32_t kMaxExactPorts = 8;

/// Replaces the matchings where fewer do, and raises the lower bound where it can be proved that so few do not. Searches
/// that take too long are broken off; what they might have found counts for neither.
/// REQUIRES: at most kMaxExactPorts ports; `cover` joins every two.
void improve(const PipMesh& mesh, PipCover& cover);

}  // namespace photonrail::pip
