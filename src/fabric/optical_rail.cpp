#include "fabric/optical_rail.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

OpticalRail::OpticalRail(Engine& engine, Network& network, const Plant& plant, const RailSpec& spec, RailId id,
                         SharedRail& shared)
    : engine_(engine),
      network_(network),
      plant_(plant),
      spec_(spec),
      id_(id),
      ports_per_gpu_(plant.spec().nic_ports),
      crossbar_(plant.spec().rail_ports()),
      shared_(shared),
      switches_(shared.switches),
      faults_(crossbar_.ports(), 0),
      links_(plant.spec().servers),
      spare_(plant.spec().servers),
      is_touched_(crossbar_.ports(), false) {
  for (std::uint32_t s = 0; s < plant.spec().servers; ++s) {
    if (!shared.capacities.has_server(s)) continue;
    for (std::uint32_t p = 0; p < ports_per_gpu_; ++p)
      spare_[s].push_back(shared.capacities.nic_out(plant.gpu(s, id.value), p));
  }
  if (spec.optical.darkness == DarkScope::kSwitch) paused_since_.resize(crossbar_.ports());
  shared.jobs.push_back(this);
}

OpticalRail::Link* OpticalRail::find_link(Hop hop) {
  for (Link& link : links_[hop.from]) {
    if (link.to == hop.to) return &link;
  }
  return nullptr;
}

bool OpticalRail::direct(Hop hop) const {
  for (std::uint32_t p = hop.from * ports_per_gpu_; p < (hop.from + 1) * ports_per_gpu_; ++p) {
    if (usable(p) && server(crossbar_.transmit()[p].peer) == hop.to) return true;
  }
  return false;
}

bool OpticalRail::on_its_way(Hop hop) const {
  for (std::uint32_t p = hop.from * ports_per_gpu_; p < (hop.from + 1) * ports_per_gpu_; ++p) {
    const OpticalSwitch::Fibre& fibre = crossbar_.transmit()[p];
    if (fibre.state == CircuitState::kSwitching && server(fibre.peer) == hop.to) return true;
  }
  return false;
}

bool OpticalRail::can_join(Hop hop) const {
  const auto sound = [this](std::uint32_t at, std::uint32_t plane) {
    for (std::uint32_t p = at * ports_per_gpu_; p < (at + 1) * ports_per_gpu_; ++p) {
      if (switches_.plane(PortId{p}) == plane && !is_faulty(PortId{p})) return true;
    }
    return false;
  };
  for (std::uint32_t plane = 0; plane < spec_.planes; ++plane) {
    if (sound(hop.from, plane) && sound(hop.to, plane)) return true;
  }
  return false;
}

// The shortest way over lit circuits; the first found in the order of ports among equals.
void OpticalRail::find_way(Hop hop, std::vector<Hop>& out) {
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> reached_from(links_.size(), kNobody);
  std::vector<std::uint32_t> queue{hop.from};
  for (std::size_t next = 0; next < queue.size() && reached_from[hop.to] == kNobody; ++next) {
    for (std::uint32_t p = queue[next] * ports_per_gpu_; p < (queue[next] + 1) * ports_per_gpu_; ++p) {
      if (!usable(p)) continue;
      const std::uint32_t peer = server(crossbar_.transmit()[p].peer);
      if (peer == hop.from || reached_from[peer] != kNobody) continue;
      reached_from[peer] = queue[next];
      queue.push_back(peer);
    }
  }
  out.clear();
  if (reached_from[hop.to] == kNobody) return;
  for (std::uint32_t at = hop.to; at != hop.from; at = reached_from[at]) out.push_back({reached_from[at], at});
  std::reverse(out.begin(), out.end());
  if (most_hops_ > 0 && out.size() > most_hops_) out.clear();
}

std::span<const OpticalRail::Hop> OpticalRail::hops(Hop hop) {
  if (direct(hop)) {
    direct_ = hop;
    return {&direct_, 1};
  }
  if (most_hops_ == 0 ? !spec_.forwarding : most_hops_ == 1) return {};
  if ((waits_for_direct_ && on_its_way(hop)) || (around_faults_only_ && can_join(hop))) return {};
  const auto [entry, fresh] = ways_.try_emplace(hop);
  if (fresh) find_way(hop, entry->second);
  return entry->second;
}

std::span<const CapacityId> OpticalRail::way(std::uint32_t from, std::uint32_t to) {
  way_.clear();
  way_circuits_ = way_crossings_ = 0;
  for (const Hop hop : hops({from, to})) {
    way_.push_back(find_link(hop)->capacity);
    ++way_circuits_;
    const std::uint32_t out = switches_.pod(hop.from);
    const std::uint32_t in = switches_.pod(hop.to);
    if (out == in) continue;
    ++way_crossings_;
    if (shared_.pod_out.empty()) continue;
    way_.push_back(shared_.pod_out[out]);
    way_.push_back(shared_.pod_in[in]);
  }
  return way_;
}

std::optional<OpticalRail::HoldId> OpticalRail::hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner) {
  const std::span<const Hop> way = hops({from, to});
  if (way.empty()) return std::nullopt;
  HoldId id;
  if (free_holds_.empty()) {
    id = static_cast<HoldId>(holds_.size());
    holds_.emplace_back();
  } else {
    id = free_holds_.back();
    free_holds_.pop_back();
  }
  ++uses_;
  Hold& hold = holds_[id];
  hold.owner = owner;
  hold.hops.assign(way.begin(), way.end());
  for (const Hop hop : hold.hops) {
    ++find_link(hop)->users;
    use_ports(hop, hold);
  }
  return id;
}

// The hold takes part in all circuits of the hop that are lit now.
void OpticalRail::use_ports(Hop hop, Hold& hold) {
  for (std::uint32_t p = hop.from * ports_per_gpu_; p < (hop.from + 1) * ports_per_gpu_; ++p) {
    if (!usable(p) || server(crossbar_.transmit()[p].peer) != hop.to) continue;
    crossbar_.use(PortId{p});
    touch(PortId{p});
    hold.ports.push_back(PortId{p});
  }
}

void OpticalRail::release(HoldId id) {
  Hold& hold = holds_[id];
  for (const PortId port : hold.ports) {
    crossbar_.release(port);
    touch(port);
  }
  for (const Hop hop : hold.hops) {
    Link& link = *find_link(hop);
    --link.users;
    if (std::erase(hold.missed, hop) > 0) listener_->circuit_back(id_, hold.owner, hop.from, hop.to);
    if (link.width == 0) refresh_links(hop.from);
  }
  hold.hops.clear();
  hold.ports.clear();
  free_holds_.push_back(id);
}

void OpticalRail::touch(Circuit circuit) {
  touch(circuit.from);
  touch(circuit.to);
}

void OpticalRail::touch(PortId port) {
  if (is_touched_[port.index()]) return;
  is_touched_[port.index()] = true;
  touched_.push_back(port);
}

void OpticalRail::take_touched(std::vector<PortId>& out) {
  out = touched_;
  for (const PortId port : touched_) is_touched_[port.index()] = false;
  touched_.clear();
}

// A new link is counted at the port that begins it, if no other link is, so that ids stay close to ports.
CapacityId OpticalRail::take_capacity(std::uint32_t from, PortId port) {
  std::vector<CapacityId>& spare = spare_[from];
  if (spare.empty()) return network_.add_capacity();
  auto found = spare.begin();
  if (shared_.capacities.has_server(from)) {
    const CapacityId wanted = shared_.capacities.nic_out(plant_.gpu(from, id_.value), port.value % ports_per_gpu_);
    found = std::find(spare.begin(), spare.end(), wanted);
    if (found == spare.end()) found = spare.begin();
  }
  const CapacityId taken = *found;
  spare.erase(found);
  return taken;
}

std::int64_t OpticalRail::count(std::span<const Circuit> circuits) const {
  if (copies_.empty()) return static_cast<std::int64_t>(circuits.size());
  std::int64_t all = 0;
  for (const Circuit circuit : circuits) all += copies_[plant_.gpu(server(circuit.from), id_.value).index()];
  return all;
}

// Makes the links of a server anew from its lit circuits. A link that goes on keeps its capacity, where flows are counted.
void OpticalRail::refresh_links(std::uint32_t from) {
  std::vector<Link>& links = links_[from];
  for (Link& link : links) link.width = 0;
  for (std::uint32_t p = from * ports_per_gpu_; p < (from + 1) * ports_per_gpu_; ++p) {
    if (!is_lit(PortId{p})) continue;
    const std::uint32_t to = server(crossbar_.transmit()[p].peer);
    Link* link = find_link({from, to});
    if (link == nullptr) {
      links.push_back({to, take_capacity(from, PortId{p}), 0, 0});
      link = &links.back();
    }
    ++link->width;
  }
  std::erase_if(links, [&](const Link& link) {
    network_.set_rate(link.capacity, {plant_.spec().nic_port.bytes_per_second * link.width});
    if (link.width > 0 || link.users > 0) return false;
    spare_[from].push_back(link.capacity);
    return true;
  });
}

bool OpticalRail::disturbs(const CircuitPlan& plan) const {
  const std::vector<Circuit> darkened = crossbar_.darkened_by(crossbar_.changes(plan));
  return std::any_of(darkened.begin(), darkened.end(),
                     [this](Circuit c) { return crossbar_.transmit()[c.from.index()].in_use > 0; });
}

void OpticalRail::drain(const CircuitPlan& plan) {
  undrain();
  draining_.assign(crossbar_.ports(), false);
  for (const Circuit circuit : crossbar_.darkened_by(crossbar_.changes(plan))) {
    draining_[circuit.from.index()] = true;
    touch(circuit.from);
  }
  ways_.clear();
}

void OpticalRail::undrain() {
  for (std::size_t p = 0; p < draining_.size(); ++p) {
    if (draining_[p]) touch(PortId{p});
  }
  draining_.clear();
  ways_.clear();
}

// Of a way over several circuits all must be there: what has lost one carries nothing over the others.
bool OpticalRail::in_use() const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [](const Hold& hold) { return !hold.hops.empty() && hold.missed.empty(); });
}

Bytes OpticalRail::bytes_left(std::uint32_t from, std::uint32_t to) {
  const Link* link = find_link({from, to});
  return link == nullptr ? Bytes{} : network_.bytes_left(link->capacity);
}

// "on_dark": "pause": whoever holds a circuit that is about to go dark lets go of its port.
void OpticalRail::detach_holders(const std::vector<Circuit>& darkened) {
  for (const Circuit circuit : darkened) {
    if (crossbar_.transmit()[circuit.from.index()].in_use == 0) continue;
    for (Hold& hold : holds_) {
      const auto found = std::find(hold.ports.begin(), hold.ports.end(), circuit.from);
      if (found == hold.ports.end()) continue;
      crossbar_.release(circuit.from);
      hold.ports.erase(found);
    }
  }
}

template <class Visit>
void OpticalRail::each_holder(Hop hop, Visit&& visit) {
  for (Hold& hold : holds_) {
    if (std::find(hold.hops.begin(), hold.hops.end(), hop) != hold.hops.end()) visit(hold);
  }
}

// What the holders of links make of darkened circuits: one that has others left goes on with them; one that has none stands
// still, and its holders want it back.
void OpticalRail::miss_links(const std::vector<Circuit>& darkened) {
  std::vector<Hop> hops;
  for (const Circuit circuit : darkened) hops.push_back({server(circuit.from), server(circuit.to)});
  std::sort(hops.begin(), hops.end());
  hops.erase(std::unique(hops.begin(), hops.end()), hops.end());
  for (const Hop hop : hops) {
    const Link* link = find_link(hop);
    if (link == nullptr) continue;
    each_holder(hop, [&](Hold& hold) {
      if (has_port(hold, hop)) return;  // others are left, be they dark with their switch
      if (link->width > 0) return use_ports(hop, hold);
      if (std::find(hold.missed.begin(), hold.missed.end(), hop) != hold.missed.end()) return;
      hold.missed.push_back(hop);
      listener_->circuit_missed(id_, hold.owner, hop.from, hop.to);
    });
  }
}

// The servers are joined again: what waited goes on by itself, and the holders hold the new circuits.
void OpticalRail::reattach_holders(Hop hop) {
  if (find_link(hop)->width == 0) return;
  each_holder(hop, [&](Hold& hold) {
    if (!has_port(hold, hop)) use_ports(hop, hold);
    if (std::erase(hold.missed, hop) > 0) listener_->circuit_back(id_, hold.owner, hop.from, hop.to);
  });
}

bool OpticalRail::has_port(const Hold& hold, Hop hop) const {
  return std::any_of(hold.ports.begin(), hold.ports.end(), [&](PortId port) {
    return server(port) == hop.from && server(crossbar_.transmit()[port.index()].peer) == hop.to;
  });
}

}  // namespace photonrail
