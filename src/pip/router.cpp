// Ways of light that share no waveguide: negotiated congestion, and exhaustive search.
#include "pip/router.hpp"

#include "photonrail/error.hpp"
#include "photonrail/pip/pip_switch.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace photonrail::pip {

namespace {

constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();

// A turn is light on a waveguide, about to enter the cell at one end of it: 2 x waveguide + which end.
using Turn = std::uint32_t;

/// Where light can go from each turn, without turning round.
class Light {
 public:
  explicit Light(const PipMesh& mesh) : mesh_(mesh) {}

  [[nodiscard]] std::uint32_t turns() const { return 2 * mesh_.waveguides(); }
  /// Light that enters the mesh at a port.
  [[nodiscard]] Turn from_port(std::uint32_t port) const { return 2 * mesh_.waveguide_of(port); }
  /// The two turns after this one. REQUIRES: there is a cell.
  [[nodiscard]] std::array<Turn, 2> next(Turn turn) const {
    const std::uint32_t waveguide = turn / 2;
    const std::uint32_t id = mesh_.cells_at(waveguide)[turn % 2];
    const PipMesh::Cell& cell = mesh_.cells()[id];
    const bool from_near = cell.near[0] == waveguide || cell.near[1] == waveguide;
    const std::array<std::uint32_t, 2>& ends = from_near ? cell.far : cell.near;
    return {after(ends[0], id), after(ends[1], id)};
  }
  [[nodiscard]] bool leaves(Turn turn) const { return mesh_.cells_at(turn / 2)[turn % 2] == PipMesh::kNoCell; }

 private:
  [[nodiscard]] Turn after(std::uint32_t waveguide, std::uint32_t from_cell) const {
    return 2 * waveguide + (mesh_.cells_at(waveguide)[0] == from_cell ? 1 : 0);
  }

  const PipMesh& mesh_;
};

void check_pairs(const PipMesh& mesh, std::span<const PortPair> pairs) {
  std::vector<bool> used(mesh.ports(), false);
  for (const PortPair pair : pairs) {
    for (const std::uint32_t port : {pair.a, pair.b}) {
      const std::string where = "port " + std::to_string(port);
      if (port >= mesh.ports()) throw ConfigError(where, "is not on the mesh", "it has " + std::to_string(mesh.ports()));
      if (used[port]) throw ConfigError(where, "is in two pairs", "a port is in one circuit at a time");
      used[port] = true;
    }
  }
}

/// Every route pays for the waveguides that others use too, more from round to round, until no two routes share one.
class Negotiation {
 public:
  static constexpr std::uint64_t kLength = 8;  // a waveguide's own price

  Negotiation(const PipMesh& mesh, std::span<const PortPair> pairs, std::span<const PipRoute> taken)
      : mesh_(mesh),
        light_(mesh),
        pairs_(pairs),
        routes_(pairs.size()),
        users_(mesh.waveguides(), 0),
        dear_(mesh.waveguides(), 0),
        cost_(light_.turns()),
        before_(light_.turns()) {
    blocked_.assign(mesh.waveguides(), false);
    for (const PipRoute& route : taken) {
      for (const std::uint32_t waveguide : route.waveguides) blocked_[waveguide] = true;
    }
  }

  [[nodiscard]] bool run(int rounds) {
    std::uint64_t sharing = 0;  // the price of a waveguide for each other user
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        if (round > 0 && !shares(routes_[i])) continue;
        for (const std::uint32_t waveguide : routes_[i]) --users_[waveguide];
        if (!find(pairs_[i], sharing, routes_[i])) return false;
        for (const std::uint32_t waveguide : routes_[i]) ++users_[waveguide];
      }
      bool shared = false;
      for (std::size_t w = 0; w < users_.size(); ++w) {
        if (users_[w] < 2) continue;
        shared = true;
        dear_[w] += kLength / 2 * (users_[w] - 1);
      }
      if (!shared) return true;
      sharing = sharing == 0 ? kLength / 2 : std::min<std::uint64_t>(sharing * 3 / 2, 64 * kLength);
    }
    return false;
  }

  [[nodiscard]] std::vector<PipRoute> routes() && {
    std::vector<PipRoute> list;
    for (std::size_t i = 0; i < pairs_.size(); ++i) list.push_back({pairs_[i], std::move(routes_[i])});
    return list;
  }

 private:
  [[nodiscard]] bool shares(const std::vector<std::uint32_t>& route) const {
    return std::any_of(route.begin(), route.end(), [this](std::uint32_t w) { return users_[w] > 1; });
  }

  // The cheapest way (Dijkstra).
  [[nodiscard]] bool find(PortPair pair, std::uint64_t sharing, std::vector<std::uint32_t>& route) {
    using Entry = std::pair<std::uint64_t, Turn>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    std::fill(cost_.begin(), cost_.end(), kFar);
    const Turn start = light_.from_port(pair.a);
    const std::uint32_t goal = mesh_.waveguide_of(pair.b);
    if (blocked_[start / 2] || blocked_[goal]) return false;
    cost_[start] = 0;
    open.emplace(0, start);
    while (!open.empty()) {
      const auto [cost, turn] = open.top();
      open.pop();
      if (cost != cost_[turn]) continue;
      if (turn / 2 == goal) return trace(start, turn, route);
      if (light_.leaves(turn)) continue;
      for (const Turn next : light_.next(turn)) {
        const std::uint32_t waveguide = next / 2;
        if (blocked_[waveguide]) continue;
        const std::uint64_t reached = cost + (kLength + dear_[waveguide]) + sharing * users_[waveguide];
        if (reached >= cost_[next]) continue;
        cost_[next] = reached;
        before_[next] = turn;
        open.emplace(reached, next);
      }
    }
    return false;
  }

  bool trace(Turn start, Turn end, std::vector<std::uint32_t>& route) const {
    route.assign(1, end / 2);
    for (Turn turn = end; turn != start;) {
      turn = before_[turn];
      route.push_back(turn / 2);
    }
    std::reverse(route.begin(), route.end());
    return true;
  }

  const PipMesh& mesh_;
  Light light_;
  std::span<const PortPair> pairs_;
  std::vector<std::vector<std::uint32_t>> routes_;
  std::vector<std::uint32_t> users_;  // by waveguide
  std::vector<std::uint64_t> dear_;   // by waveguide: what it costs more because it was shared before
  std::vector<bool> blocked_;
  std::vector<std::uint64_t> cost_;  // by turn
  std::vector<Turn> before_;
};

/// Depth first: the light of one pair after another takes every way that leaves one to the pairs to come.
class Exhaustion {
 public:
  Exhaustion(const PipMesh& mesh, std::span<const PortPair> pairs, std::uint64_t steps)
      : mesh_(mesh), light_(mesh), pairs_(pairs), used_(mesh.waveguides(), false), routes_(pairs.size()), steps_(steps) {
    for (const PortPair pair : pairs) used_[mesh.waveguide_of(pair.a)] = true;
  }

  [[nodiscard]] PipSearch run() {
    if (!go(0)) return {steps_ == 0 ? Routable::kUnknown : Routable::kNo, {}};
    PipSearch found{Routable::kYes, {}};
    for (std::size_t i = 0; i < pairs_.size(); ++i) found.routes.push_back({pairs_[i], std::move(routes_[i])});
    return found;
  }

 private:
  [[nodiscard]] bool go(std::size_t pair) {
    if (pair == pairs_.size()) return true;
    for (std::size_t p = pair; p < pairs_.size(); ++p) {
      if (!reaches(light_.from_port(pairs_[p].a), mesh_.waveguide_of(pairs_[p].b))) return false;
    }
    routes_[pair] = {mesh_.waveguide_of(pairs_[pair].a)};
    return extend(pair, light_.from_port(pairs_[pair].a));
  }

  [[nodiscard]] bool extend(std::size_t pair, Turn turn) {
    if (steps_ == 0) return false;
    --steps_;
    const std::uint32_t goal = mesh_.waveguide_of(pairs_[pair].b);
    for (const Turn next : light_.next(turn)) {
      const std::uint32_t waveguide = next / 2;
      if (used_[waveguide]) continue;
      if (waveguide != goal && light_.leaves(next)) continue;
      used_[waveguide] = true;
      routes_[pair].push_back(waveguide);
      if (waveguide == goal ? go(pair + 1) : reaches(next, goal) && extend(pair, next)) return true;
      routes_[pair].pop_back();
      used_[waveguide] = false;
    }
    return false;
  }

  // Returns true when light could get there over waveguides that are free.
  [[nodiscard]] bool reaches(Turn from, std::uint32_t goal) {
    seen_.assign(light_.turns(), false);
    queue_.assign(1, from);
    while (!queue_.empty()) {
      const Turn turn = queue_.back();
      queue_.pop_back();
      for (const Turn next : light_.next(turn)) {
        if (next / 2 == goal) return true;
        if (used_[next / 2] || seen_[next] || light_.leaves(next)) continue;
        seen_[next] = true;
        queue_.push_back(next);
      }
    }
    return false;
  }

  const PipMesh& mesh_;
  Light light_;
  std::span<const PortPair> pairs_;
  std::vector<bool> used_;
  std::vector<std::vector<std::uint32_t>> routes_;  // by pair
  std::vector<bool> seen_;
  std::vector<Turn> queue_;
  std::uint64_t steps_;
};

}  // namespace

std::optional<std::vector<PipRoute>> route_within(const PipMesh& mesh, std::span<const PortPair> pairs,
                                                  std::span<const PipRoute> taken, int rounds) {
  check_pairs(mesh, pairs);
  Negotiation negotiation(mesh, pairs, taken);
  if (!negotiation.run(rounds)) return std::nullopt;
  return std::move(negotiation).routes();
}

std::optional<std::vector<PipRoute>> route_matching(const PipMesh& mesh, std::span<const PortPair> pairs,
                                                    std::span<const PipRoute> taken) {
  constexpr int kRounds = 150;
  return route_within(mesh, pairs, taken, kRounds);
}

PipSearch search_routes(const PipMesh& mesh, std::span<const PortPair> pairs, std::uint64_t steps) {
  if (auto routed = route_matching(mesh, pairs)) return {Routable::kYes, std::move(*routed)};
  return Exhaustion(mesh, pairs, steps).run();
}

}  // namespace photonrail::pip
