#include "fabric/mesh_routes.hpp"

#include "core/counted.hpp"
#include "pip/router.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace photonrail::fabric {

namespace {

constexpr int kRounds = 40;                // of negotiation: nearly all that is routed at all is so within 30
constexpr std::size_t kMaxKnown = 20'000;  // answers; then all are forgotten

}  // namespace

pip::PipMesh mesh_of(const ClusterSpec& cluster) {
  const RailSpec& rail = cluster.rail;
  const std::uint32_t needed = 2 * cluster.servers * (cluster.nic.ports / rail.planes);
  return {rail.optical.pip->rows, rail.optical.pip->columns, rail.optical.ports == 0 ? needed : rail.optical.ports};
}

pip::PortReach reach_of_circuits(const ClusterSpec& cluster) {
  return pip::port_reach(mesh_of(cluster),
                         [](std::uint32_t a, std::uint32_t b) { return a % 2 != b % 2 && a / 2 != b / 2; });
}

pip::PipOptics optics_of(const PipMeshSpec& spec) { return {spec.cell_loss_db, spec.port_loss_db, spec.crosstalk_db}; }

double loss_of_way_db(const PipMeshSpec& spec, std::uint32_t cells) {
  const double leak = 10.0 * std::log10(1.0 + std::pow(10.0, spec.crosstalk_db / 10.0));
  return 2.0 * spec.port_loss_db + cells * (spec.cell_loss_db + leak);
}

MeshRoutes::MeshRoutes(const ClusterSpec& cluster)
    : planes_(cluster.rail.planes),
      ports_per_gpu_(cluster.nic.ports),
      budget_db_(cluster.nic.optical_budget_db),
      mesh_(mesh_of(cluster)),
      spec_(*cluster.rail.optical.pip) {}

std::uint32_t MeshRoutes::add(MeshAdmission& job) {
  jobs_.push_back(&job);
  return static_cast<std::uint32_t>(jobs_.size()) - 1;
}

std::uint32_t MeshRoutes::fibre(PortId port, bool receive) const {
  const std::uint32_t of_plane = ports_per_gpu_ / planes_;
  const std::uint32_t local = port.value / ports_per_gpu_ * of_plane + port.value % ports_per_gpu_ / planes_;
  return 2 * local + (receive ? 1 : 0);
}

pip::PortPair MeshRoutes::ends(Circuit circuit) const {
  const auto [a, b] = std::minmax({fibre(circuit.from, false), fibre(circuit.to, true)});
  return {a, b};
}

std::optional<std::vector<MeshWay>> MeshRoutes::find(std::span<const Circuit> circuits, std::span<const MeshWay> taken) {
  std::vector<pip::PortPair> pairs;
  std::vector<pip::PipRoute> routes;
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
    known = known_.emplace(std::move(key), pip::route_within(mesh_, pairs, routes, kRounds)).first;
  }
  if (!known->second) return std::nullopt;
  std::vector<MeshWay> found;
  for (std::size_t i = 0; i < circuits.size(); ++i) found.push_back({circuits[i], (*known->second)[i], 0});
  return found;
}

bool MeshRoutes::bright(std::span<const MeshWay> ways) {
  if (budget_db_ == 0.0) return true;
  std::vector<pip::PipRoute> routes;
  Key key;
  for (const MeshWay& way : ways) {
    routes.push_back(way.route);
    key.insert(key.end(), way.route.waveguides.begin(), way.route.waveguides.end());
    key.push_back(~0U);
  }
  auto known = bright_.find(key);
  if (known == bright_.end()) {
    if (bright_.size() >= kMaxKnown) bright_.clear();
    const bool enough = pip::within_budget(mesh_, routes, optics_of(spec_), budget_db_);
    known = bright_.emplace(std::move(key), enough).first;
  }
  return known->second;
}

double MeshRoutes::loss_db(std::uint32_t cells) const { return loss_of_way_db(spec_, cells); }

std::string MeshRoutes::describe() const {
  return "mesh of " + std::to_string(mesh_.rows()) + "x" + std::to_string(mesh_.columns()) + " hexagons";
}

}  // namespace photonrail::fabric
