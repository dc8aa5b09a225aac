#include "fabric/rail_routes.hpp"

#include "core/checked.hpp"

#include <algorithm>

namespace photonrail::fabric {

bool RailRoutes::direct(Hop hop) const {
  const RailCircuits& circuits = from_.circuits;
  for (std::uint32_t p = circuits.first_port(hop.from); p < circuits.first_port(hop.from + 1); ++p) {
    if (circuits.usable(p) && circuits.peer_server(p) == hop.to) return true;
  }
  return false;
}

bool RailRoutes::on_its_way(Hop hop) const {
  const RailCircuits& circuits = from_.circuits;
  for (std::uint32_t p = circuits.first_port(hop.from); p < circuits.first_port(hop.from + 1); ++p) {
    const device::OpticalSwitch::Fibre& fibre = circuits.crossbar().transmit()[p];
    if (fibre.state == CircuitState::kSwitching && circuits.server(fibre.peer) == hop.to) return true;
  }
  return false;
}

// Returns true when both servers have a sound port on a common plane.
bool RailRoutes::can_join(Hop hop) const {
  const RailCircuits& circuits = from_.circuits;
  const auto sound = [&](std::uint32_t at, std::uint32_t plane) {
    for (std::uint32_t p = circuits.first_port(at); p < circuits.first_port(at + 1); ++p) {
      if (from_.shared.switches.plane(PortId{p}) == plane && !from_.faults.is_faulty(PortId{p})) return true;
    }
    return false;
  };
  for (std::uint32_t plane = 0; plane < from_.spec.planes; ++plane) {
    if (sound(hop.from, plane) && sound(hop.to, plane)) return true;
  }
  return false;
}

// Breadth first: the shortest way over lit circuits; the first found in the order of ports among equals.
void RailRoutes::find_way(Hop hop, std::vector<Hop>& out) const {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const RailCircuits& circuits = from_.circuits;
  std::vector<std::uint32_t> reached_from(circuits.servers(), kNone);
  std::vector<std::uint32_t> queue{hop.from};
  for (std::size_t next = 0; next < queue.size() && reached_from[hop.to] == kNone; ++next) {
    for (std::uint32_t p = circuits.first_port(queue[next]); p < circuits.first_port(queue[next] + 1); ++p) {
      if (!circuits.usable(p)) continue;
      const std::uint32_t peer = circuits.peer_server(p);
      if (peer == hop.from || reached_from[peer] != kNone) continue;
      reached_from[peer] = queue[next];
      queue.push_back(peer);
    }
  }
  out.clear();
  if (reached_from[hop.to] == kNone) return;
  for (std::uint32_t at = hop.to; at != hop.from; at = reached_from[at]) out.push_back({reached_from[at], at});
  std::reverse(out.begin(), out.end());
  if (most_hops_ > 0 && out.size() > most_hops_) out.clear();
}

// Ways over several circuits are kept until any circuit of the rail changes. A direct circuit is looked up each time, which
// is cheaper than finding it in a table.
std::span<const Hop> RailRoutes::hops(Hop hop) {
  if (direct(hop)) {
    direct_ = hop;
    return {&direct_, 1};
  }
  if (!forwards()) return {};
  if ((waits_for_direct_ && on_its_way(hop)) || (around_faults_only_ && can_join(hop))) return {};
  if (found_at_ != from_.circuits.version()) found_.clear();
  found_at_ = from_.circuits.version();
  const auto [entry, fresh] = found_.try_emplace(hop);
  if (fresh) find_way(hop, entry->second);
  return entry->second;
}

// The capacities of the way in order, into memory that the next call overwrites: one for each circuit, which its users
// share, those of links between sites, and where pods are joined by packet switches, those of the uplinks.
std::span<const CapacityId> RailRoutes::way(Hop hop) {
  const SharedRail& shared = from_.shared;
  // A way over several circuits may leave a pod, or cross a link between sites, twice; its message takes one share of it.
  const auto cross = [this](CapacityId shared_by_many) {
    if (std::find(way_.begin(), way_.end(), shared_by_many) == way_.end()) way_.push_back(shared_by_many);
  };
  way_.clear();
  length_ = {};
  for (const Hop part : hops(hop)) {
    way_.push_back(from_.links.find(part)->capacity);
    ++length_.circuits;
    if (shared.sites != nullptr) {
      for (const SiteLinks::Direction link : shared.sites->way(part.from, part.to)) cross(shared.sites->capacity(link));
      length_.between_sites = core::checked_sum(length_.between_sites, shared.sites->latency(part.from, part.to));
    }
    const std::uint32_t out = shared.switches.pod(part.from);
    const std::uint32_t in = shared.switches.pod(part.to);
    if (out == in) continue;
    ++length_.crossings;
    if (shared.pod_out.empty()) continue;
    cross(shared.pod_out[out]);
    cross(shared.pod_in[in]);
  }
  return way_;
}

}  // namespace photonrail::fabric
