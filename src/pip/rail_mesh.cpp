#include "pip/rail_mesh.hpp"

#include "pip/reach.hpp"
#include "pip/router.hpp"

#include <cmath>

namespace photonrail::pip {

namespace {

constexpr int kRounds = 40;  // of negotiation: nearly all that is routed at all is so within 30

std::vector<PipRoute> routes_of(std::span<const fabric::LightWay> ways) {
  std::vector<PipRoute> routes;
  for (const fabric::LightWay& way : ways) routes.push_back({{way.ends.a, way.ends.b}, way.waveguides});
  return routes;
}

fabric::FibrePair fibres(PortPair pair) { return {pair.a, pair.b}; }

}  // namespace

RailMesh::RailMesh(const PipMeshSpec& spec, std::uint32_t fibres)
    : mesh_(spec.rows, spec.columns, fibres), optics_{spec.cell_loss_db, spec.port_loss_db, spec.crosstalk_db} {
  static_assert(PipMesh::kMaxHexagons == PipMeshSpec::kMaxHexagons);
}

std::optional<std::vector<fabric::LightWay>> RailMesh::route(std::span<const fabric::FibrePair> pairs,
                                                             std::span<const fabric::LightWay> taken) const {
  std::vector<PortPair> ends;
  for (const fabric::FibrePair pair : pairs) ends.push_back({pair.a, pair.b});
  auto routes = route_within(mesh_, ends, routes_of(taken), kRounds);
  if (!routes) return std::nullopt;
  std::vector<fabric::LightWay> ways;
  for (PipRoute& route : *routes) ways.push_back({fibres(route.ends), std::move(route.waveguides)});
  return ways;
}

bool RailMesh::bright(std::span<const fabric::LightWay> ways, double budget_db) const {
  return within_budget(mesh_, routes_of(ways), optics_, budget_db);
}

double RailMesh::loss_db(std::uint32_t cells) const {
  const double leak = 10.0 * std::log10(1.0 + std::pow(10.0, optics_.crosstalk_db / 10.0));
  return 2.0 * optics_.port_loss_db + cells * (optics_.cell_loss_db + leak);
}

fabric::LightReach RailMesh::reach(bool (*wanted)(std::uint32_t, std::uint32_t)) const {
  const PortReach of = port_reach(mesh_, wanted);
  return {fibres(of.farthest), of.cells, fibres(of.apart), of.unjoined};
}

std::string RailMesh::describe() const {
  return "mesh of " + std::to_string(mesh_.rows()) + "x" + std::to_string(mesh_.columns()) + " hexagons";
}

}  // namespace photonrail::pip
