#include "fabric/routing.hpp"

#include "core/checked.hpp"
#include "fabric/uplinks.hpp"

#include <algorithm>

namespace photonrail::fabric {

using core::checked_product;
using core::checked_sum;
using network::Path;

std::unique_ptr<RailRouting> make_rail_routing(const ClusterSpec& spec, const topology::Plant& plant,
                                               const SharedFabric& shared, const CircuitRouting::Rails& rails) {
  if (spec.rail.kind == RailKind::kOptical) return std::make_unique<CircuitRouting>(spec, rails);
  return std::make_unique<LeafRouting>(spec, plant, shared);
}

bool ServerRouting::add_way(GpuId from, GpuId to, Path& path) {
  const CapacityMap& capacities = shared_.capacities();
  if (plant_.grid() == nullptr) {
    path.add(capacities.scale_up_out(from));
    path.add(capacities.scale_up_in(to));
    path.latency = checked_sum(path.latency, spec_.least_latency());
    return true;
  }
  const std::uint32_t server = plant_.server_of(from);
  const auto add = [&](const topology::GridLink& link) {
    path.add(capacities.scale_up_link(plant_.gpu(server, link.from), link.slot));
    path.latency = checked_sum(path.latency, latency_of(spec_, link));
  };
  LinkFaults* const faults = shared_.link_faults();
  const LinkFaults::Way* const detour =
      faults == nullptr ? nullptr : faults->detour(server, plant_.local_of(from), plant_.local_of(to));
  if (detour != nullptr) {
    std::for_each(detour->begin(), detour->end(), add);
  } else {
    plant_.grid()->route(plant_.local_of(from), plant_.local_of(to), add);
  }
  return true;
}

// GPUs that share a NIC have its ports on the first of their rails.
bool LeafRouting::add_way(const RailCrossing& crossing, Path& path) {
  const CapacityMap& capacities = shared_.capacities();
  const RailId rail{crossing.rail.value / spec_.nic.gpus * spec_.nic.gpus};
  const GpuId out = plant_.gpu(crossing.from, rail.value);
  const GpuId in = plant_.gpu(crossing.to, rail.value);
  const std::uint32_t from_leaf = plant_.leaf_of(out, 0);
  const std::uint32_t to_leaf = plant_.leaf_of(in, 0);
  const bool over_uplinks = from_leaf != to_leaf && uplinks_bind(plant_.spec());
  path.latency = checked_sum(path.latency, spec_.nic.latency);
  path.add(capacities.nic_out(out, 0));
  if (over_uplinks) path.add(capacities.leaf_up(rail, from_leaf));
  if (const SiteLinks* const sites = shared_.sites()) {
    const std::uint32_t here = plant_.server_of(out);
    const std::uint32_t there = plant_.server_of(in);
    for (const SiteLinks::Direction link : sites->way(here, there)) path.add(sites->capacity(link));
    path.latency = checked_sum(path.latency, sites->latency(here, there));
  }
  if (over_uplinks) path.add(capacities.leaf_down(rail, to_leaf));
  if (from_leaf != to_leaf) path.latency = checked_sum(path.latency, spec_.rail.tier_latency);
  path.add(capacities.nic_in(in, 0));
  return true;
}

bool CircuitRouting::add_way(const RailCrossing& crossing, Path& path) {
  OpticalRail& rail = *rails_[crossing.rail.index()];
  const std::span<const CapacityId> hops = rail.way(crossing.from, crossing.to);
  if (hops.empty()) return false;
  for (const CapacityId hop : hops) path.add(hop);
  const RailRoutes::Length length = rail.way_length();
  const Duration pods = checked_product(spec_.rail.pods.latency, length.crossings);
  const Duration nics = checked_product(spec_.nic.latency, length.circuits);
  path.latency = checked_sum(checked_sum(path.latency, nics), checked_sum(pods, length.between_sites));
  return true;
}

}  // namespace photonrail::fabric
