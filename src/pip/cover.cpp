// A small set of matchings that joins every two ports of a mesh.
#include "core/circle.hpp"
#include "photonrail/error.hpp"
#include "photonrail/pip/pip_switch.hpp"
#include "pip/exact.hpp"
#include "pip/router.hpp"

#include <algorithm>

namespace photonrail::pip {

using core::Circle;

namespace {

constexpr std::uint32_t kShifts = 8;  // ports that are tried in the middle of the circle
constexpr int kPackingRounds = 40;

/// Port `shift` is player 0: which port is in the middle of the circle, whose chord crosses the others, is free to choose.
std::vector<PortPair> round_of(std::uint32_t ports, std::uint32_t round, std::uint32_t shift) {
  const Circle circle(ports);
  std::vector<PortPair> pairs;
  for (std::uint32_t player = 0; player < ports; ++player) {
    const std::uint32_t partner = circle.partner(player, round);
    if (player >= partner) continue;
    const auto [a, b] = std::minmax({(player + shift) % ports, (partner + shift) % ports});
    pairs.push_back({a, b});
  }
  return pairs;
}

std::vector<PortPair> ends_of(const std::vector<PipRoute>& routes) {
  std::vector<PortPair> pairs;
  for (const PipRoute& route : routes) pairs.push_back(route.ends);
  return pairs;
}

bool meets(const std::vector<PortPair>& pairs, PortPair pair) {
  return std::any_of(pairs.begin(), pairs.end(), [pair](PortPair other) {
    return other.a == pair.a || other.a == pair.b || other.b == pair.a || other.b == pair.b;
  });
}

/// Joins as many of the pairs as it finds room for, in their order, to those that are routed; what remains is left. A pair
/// that has a way beside those that are routed leaves them as they are; for others all are routed anew, in a few rounds:
/// most pairs that are tried have no room.
void pack(const PipMesh& mesh, std::vector<PortPair>& pairs, std::vector<PipRoute>& routes) {
  std::vector<PortPair> joined = ends_of(routes);
  std::vector<PortPair> left;
  for (const PortPair pair : pairs) {
    if (!meets(joined, pair)) {
      joined.push_back(pair);
      if (auto alone = route_within(mesh, {&pair, 1}, routes, 1)) {
        routes.push_back(std::move(alone->front()));
        continue;
      }
      if (auto routed = route_within(mesh, joined, {}, kPackingRounds)) {
        routes = std::move(*routed);
        continue;
      }
      joined.pop_back();
    }
    left.push_back(pair);
  }
  pairs = std::move(left);
}

void require_joinable(const PipMesh& mesh, PortPair pair) {
  if (route_matching(mesh, {&pair, 1})) return;
  throw ConfigError("mesh", "has no way from port " + std::to_string(pair.a) + " to port " + std::to_string(pair.b),
                    "use more hexagons or fewer ports");
}

PipCover by_circle(const PipMesh& mesh, std::uint32_t shift) {
  PipCover cover;
  cover.lower_bound = Circle(mesh.ports()).rounds();
  std::vector<PortPair> left;
  for (std::uint32_t round = 0; round < cover.lower_bound; ++round) {
    std::vector<PortPair> pairs = round_of(mesh.ports(), round, shift);
    if (auto routed = route_matching(mesh, pairs)) {
      cover.matchings.push_back(std::move(*routed));
      continue;
    }
    for (const PortPair pair : pairs) require_joinable(mesh, pair);
    pack(mesh, pairs, cover.matchings.emplace_back());
    left.insert(left.end(), pairs.begin(), pairs.end());
  }
  for (std::vector<PipRoute>& routes : cover.matchings) pack(mesh, left, routes);
  while (!left.empty()) pack(mesh, left, cover.matchings.emplace_back());
  return cover;
}

}  // namespace

PipCover cover_all_pairs(const PipMesh& mesh) {
  PipCover best = by_circle(mesh, 0);
  for (std::uint32_t shift = 1; shift < std::min(mesh.ports(), kShifts) && !best.proven_minimal(); ++shift) {
    PipCover cover = by_circle(mesh, shift);
    if (cover.matchings.size() < best.matchings.size()) best = std::move(cover);
  }
  if (!best.proven_minimal() && mesh.ports() <= kMaxExactPorts) improve(mesh, best);
  return best;
}

}  // namespace photonrail::pip
