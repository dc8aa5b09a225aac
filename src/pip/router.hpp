// Routes by negotiation that is broken off.
#pragma once

#include "photonrail/pip/pip_switch.hpp"

#include <optional>
#include <span>
#include <vector>

namespace photonrail::pip {

/// route_matching() with a limit on the rounds of negotiation. Nearly all matchings that are routed at all are so within
/// 30; what fails takes all rounds.
[[nodiscard]] std::optional<std::vector<PipRoute>> route_within(const PipMesh& mesh, std::span<const PortPair> pairs,
                                                                std::span<const PipRoute> taken, int rounds);

}  // namespace photonrail::pip
