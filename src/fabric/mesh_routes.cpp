#include "fabric/mesh_routes.hpp"

#include "core/counted.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::fabric {

namespace {

constexpr std::size_t kMaxKnown = 20'000;  // answers; then all are forgotten

}  // namespace

std::unique_ptr<BlockingSwitch> switch_of(const ClusterSpec& cluster) {
  const RailSpec& rail = cluster.rail;
  const std::uint32_t needed = 2 * cluster.servers * (cluster.nic.ports / rail.planes);
  return make_blocking_switch(*rail.optical.pip, rail.optical.ports == 0 ? needed : rail.optical.ports);
}

LightReach reach_of_circuits(const BlockingSwitch& mesh) {
  return mesh.reach([](std::uint32_t a, std::uint32_t b) { return a % 2 != b % 2 && a / 2 != b / 2; });
}

MeshRoutes::MeshRoutes(const ClusterSpec& cluster) : MeshRoutes(cluster, switch_of(cluster)) {}

MeshRoutes::MeshRoutes(const ClusterSpec& cluster, std::unique_ptr<const BlockingSwitch> of_plane)
    : planes_(cluster.rail.planes),
      ports_per_gpu_(cluster.nic.ports),
      budget_db_(cluster.nic.optical_budget_db),
      switch_(std::move(of_plane)) {}

std::uint32_t MeshRoutes::add(MeshAdmission& job) {
  jobs_.push_back(&job);
  return static_cast<std::uint32_t>(jobs_.size()) - 1;
}

std::uint32_t MeshRoutes::fibre(PortId port, bool receive) const {
  const std::uint32_t of_plane = ports_per_gpu_ / planes_;
  const std::uint32_t local = port.value / ports_per_gpu_ * of_plane + port.value % ports_per_gpu_ / planes_;
  return 2 * local + (receive ? 1 : 0);
}

FibrePair MeshRoutes::ends(Circuit circuit) const {
  const auto [a, b] = std::minmax({fibre(circuit.from, false), fibre(circuit.to, true)});
  return {a, b};
}

std::optional<std::vector<MeshWay>> MeshRoutes::find(std::span<const Circuit> circuits, std::span<const MeshWay> taken) {
  std::vector<FibrePair> pairs;
  std::vector<LightWay> routes;
  Key key;
  for (const Circuit circuit : circuits) {
    pairs.push_back(ends(circuit));
    key.insert(key.end(), {pairs.back().a, pairs.back().b});
  }
  key.push_back(~0U);
  for (const MeshWay& way : taken) {
    routes.push_back(way.route);
    key.insert(key.end(), way.route.waveguides.begin(), way.route.waveguides.end());
  }
  auto known = known_.find(key);
  if (known == known_.end()) {
    if (known_.size() >= kMaxKnown) known_.clear();
    known = known_.emplace(std::move(key), switch_->route(pairs, routes)).first;
  }
  if (!known->second) return std::nullopt;
  std::vector<MeshWay> found;
  for (std::size_t i = 0; i < circuits.size(); ++i) found.push_back({circuits[i], (*known->second)[i], 0});
  return found;
}

bool MeshRoutes::bright(std::span<const MeshWay> ways) {
  if (budget_db_ == 0.0) return true;
  std::vector<LightWay> routes;
  Key key;
  for (const MeshWay& way : ways) {
    routes.push_back(way.route);
    key.insert(key.end(), way.route.waveguides.begin(), way.route.waveguides.end());
    key.push_back(~0U);
  }
  auto known = bright_.find(key);
  if (known == bright_.end()) {
    if (bright_.size() >= kMaxKnown) bright_.clear();
    known = bright_.emplace(std::move(key), switch_->bright(routes, budget_db_)).first;
  }
  return known->second;
}

}  // namespace photonrail::fabric
