// A static topology by a matrix of shares: how the ports of servers that send are split among servers that receive.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::control {

struct ShareMatrix {
  std::vector<std::uint32_t> from;          ///< servers that send
  std::vector<std::uint32_t> to;            ///< servers that receive
  std::vector<std::vector<double>> shares;  ///< by sender, then by receiver; 0: the pair needs no circuit

  friend bool operator==(const ShareMatrix&, const ShareMatrix&) = default;
};

/// The ports of a rail, by server.
struct RailPorts {
  std::uint32_t servers = 0;
  std::uint32_t of_server = 1;
  std::uint32_t planes = 1;
};

/// Circuits of one rail. Each pair with a share gets one, those with larger shares first; each further circuit goes to the
/// pair with the largest share for each that it would then have (D'Hondt), until the ports of all pairs are gone.
/// REQUIRES: servers are below `servers`, shares have the shape of the matrix and are at least 0, planes divide ports.
[[nodiscard]] CircuitPlan circuits_by_shares(const ShareMatrix& matrix, const RailPorts& ports);
/// The first pair with a share that the circuits do not join, nor, with `forwards`, a way over several of them.
[[nodiscard]] std::optional<ServerPair> without_way(const ShareMatrix& matrix, const CircuitPlan& plan,
                                                    const RailPorts& ports, bool forwards);

}  // namespace photonrail::control
