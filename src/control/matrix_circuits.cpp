#include "control/matrix_circuits.hpp"

#include "control/one_shot.hpp"

#include <queue>
#include <tuple>
#include <vector>

namespace photonrail::control {

namespace {

struct Claim {
  ServerPair pair;
  double share = 0.0;
  std::size_t place = 0;  // in the matrix, whose order breaks ties: servers may be renumbered
  std::uint32_t circuits = 0;

  // Each pair has a circuit before one has several.
  [[nodiscard]] std::tuple<bool, double, std::size_t> rank() const {
    return {circuits > 0, -share / (circuits + 1.0), place};
  }
  friend bool operator<(const Claim& a, const Claim& b) { return a.rank() > b.rank(); }  // the greatest is the first
};

}  // namespace

CircuitPlan circuits_by_shares(const ShareMatrix& matrix, const RailPorts& ports) {
  std::priority_queue<Claim> queue;
  for (std::size_t i = 0; i < matrix.from.size(); ++i) {
    for (std::size_t j = 0; j < matrix.to.size(); ++j) {
      if (matrix.shares[i][j] > 0.0) queue.push({{matrix.from[i], matrix.to[j]}, matrix.shares[i][j], queue.size()});
    }
  }
  OneShot circuits(ports.servers, ports.of_server, ports.planes);
  while (!queue.empty()) {
    Claim claim = queue.top();
    queue.pop();
    if (!circuits.join(claim.pair)) continue;
    ++claim.circuits;
    queue.push(claim);
  }
  return circuits.plan();
}

std::optional<ServerPair> without_way(const ShareMatrix& matrix, const CircuitPlan& plan, const RailPorts& ports,
                                      bool forwards) {
  std::vector<std::vector<ServerIndex>> next(ports.servers);
  for (const Circuit circuit : plan.connect)
    next[circuit.from.value / ports.of_server].push_back(circuit.to.value / ports.of_server);
  for (std::size_t i = 0; i < matrix.from.size(); ++i) {
    std::vector<bool> reached(ports.servers);
    std::vector<ServerIndex> queue{matrix.from[i]};
    for (std::size_t q = 0; q < queue.size() && (forwards || q == 0); ++q) {
      for (const ServerIndex to : next[queue[q]]) {
        if (!reached[to]) queue.push_back(to);
        reached[to] = true;
      }
    }
    for (std::size_t j = 0; j < matrix.to.size(); ++j) {
      if (matrix.shares[i][j] > 0.0 && !reached[matrix.to[j]]) return ServerPair{matrix.from[i], matrix.to[j]};
    }
  }
  return std::nullopt;
}

}  // namespace photonrail::control
