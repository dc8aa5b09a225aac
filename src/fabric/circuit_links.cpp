#include "fabric/circuit_links.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::fabric {

CircuitLinks::CircuitLinks(const RailContext& rail, const CapacityMap& capacities, const RailCircuits& circuits)
    : rail_(rail), capacities_(capacities), circuits_(circuits), links_(circuits.servers()), spare_(circuits.servers()) {
  for (std::uint32_t s = 0; s < circuits.servers(); ++s) {
    if (!capacities.has_server(s)) continue;
    for (std::uint32_t p = 0; p < circuits.ports_per_gpu(); ++p)
      spare_[s].push_back(capacities.nic_out(rail.plant.gpu(s, rail.id.value), p));
  }
}

Link& CircuitLinks::at(Hop hop) {
  const auto found =
      std::find_if(links_[hop.from].begin(), links_[hop.from].end(), [hop](const Link& link) { return link.to == hop.to; });
  PHOTONRAIL_CHECK(found != links_[hop.from].end());
  return *found;
}

// A new link is counted at the port that begins it, if no other link is, so that ids stay close to ports.
CapacityId CircuitLinks::take_capacity(std::uint32_t from, PortId port) {
  std::vector<CapacityId>& spare = spare_[from];
  if (spare.empty()) return rail_.network.add_capacity();
  auto found = spare.begin();
  if (capacities_.has_server(from)) {
    const GpuId gpu = rail_.plant.gpu(from, rail_.id.value);
    const CapacityId wanted = capacities_.nic_out(gpu, port.value % circuits_.ports_per_gpu());
    found = std::find(spare.begin(), spare.end(), wanted);
    if (found == spare.end()) found = spare.begin();
  }
  const CapacityId taken = *found;
  spare.erase(found);
  return taken;
}

void CircuitLinks::refresh(std::uint32_t from) {
  std::vector<Link>& links = links_[from];
  for (Link& link : links) {
    link.width = 0;
    link.ports = 0.0;
  }
  for (std::uint32_t p = circuits_.first_port(from); p < circuits_.first_port(from + 1); ++p) {
    if (!circuits_.is_lit(PortId{p})) continue;
    const std::uint32_t to = circuits_.peer_server(p);
    auto link = std::find_if(links.begin(), links.end(), [to](const Link& l) { return l.to == to; });
    if (link == links.end()) link = links.insert(link, {to, take_capacity(from, PortId{p}), 0, 0, 0.0});
    ++link->width;
    link->ports += circuits_.rate(p);
  }
  std::erase_if(links, [&](const Link& link) {
    rail_.network.set_rate(link.capacity, {rail_.plant.spec().nic_port.bytes_per_second * link.ports});
    if (link.width > 0 || link.users > 0) return false;
    spare_[from].push_back(link.capacity);
    return true;
  });
}

Bytes CircuitLinks::bytes_left(Hop hop) const {
  const Link* link = find(hop);
  return link == nullptr ? Bytes{} : rail_.network.bytes_left(link->capacity);
}

}  // namespace photonrail::fabric
