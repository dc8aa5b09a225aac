#include "fabric/optical_rail.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

OpticalRail::OpticalRail(Engine& engine, Network& network, const Plant& plant, const RailSpec& spec, RailId id,
                         std::uint64_t seed)
    : engine_(engine),
      network_(network),
      plant_(plant),
      spec_(spec),
      id_(id),
      ports_per_gpu_(plant.spec().nic_ports),
      crossbar_(plant.spec().rail_ports()),
      random_(seed, "reconfiguration of rail " + std::to_string(id.value)),
      leader_(crossbar_.ports(), PortId::none()),
      is_touched_(crossbar_.ports(), false) {}

CapacityId OpticalRail::capacity(PortId port) const {
  return plant_.nic_out(plant_.gpu(server(port), id_.value), port.value % ports_per_gpu_);
}

// The leading port of the lit circuits that join two servers, or none.
PortId OpticalRail::direct(std::uint32_t from, std::uint32_t to) const {
  for (std::uint32_t p = from * ports_per_gpu_; p < (from + 1) * ports_per_gpu_; ++p) {
    const OpticalSwitch::Fibre& fibre = crossbar_.transmit()[p];
    if (fibre.state == OpticalSwitch::State::kLit && server(fibre.peer) == to) return leader_[p];
  }
  return PortId::none();
}

// The shortest way over lit circuits; the first found in the order of ports among equals.
void OpticalRail::find_way(std::uint32_t from, std::uint32_t to, std::vector<PortId>& out) const {
  const std::uint32_t servers = crossbar_.ports() / ports_per_gpu_;
  std::vector<PortId> reached_by(servers, PortId::none());
  std::vector<std::uint32_t> queue{from};
  for (std::size_t next = 0; next < queue.size() && reached_by[to].is_none(); ++next) {
    for (std::uint32_t p = queue[next] * ports_per_gpu_; p < (queue[next] + 1) * ports_per_gpu_; ++p) {
      const OpticalSwitch::Fibre& fibre = crossbar_.transmit()[p];
      if (fibre.state != OpticalSwitch::State::kLit) continue;
      const std::uint32_t peer = server(fibre.peer);
      if (peer == from || !reached_by[peer].is_none()) continue;
      reached_by[peer] = leader_[p];
      queue.push_back(peer);
    }
  }
  out.clear();
  if (reached_by[to].is_none()) return;
  for (std::uint32_t at = to; at != from; at = server(reached_by[at])) out.push_back(reached_by[at]);
  std::reverse(out.begin(), out.end());
}

std::span<const PortId> OpticalRail::way(std::uint32_t from, std::uint32_t to) {
  const PortId leader = direct(from, to);
  if (!leader.is_none()) {
    way_.assign(1, leader);
    return way_;
  }
  if (!spec_.forwarding) return {};
  const auto [entry, fresh] = ways_.try_emplace({from, to});
  if (fresh) find_way(from, to, entry->second);
  return entry->second;
}

std::optional<OpticalRail::HoldId> OpticalRail::hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner) {
  const std::span<const PortId> hops = way(from, to);
  if (hops.empty()) return std::nullopt;
  HoldId id;
  if (free_holds_.empty()) {
    id = static_cast<HoldId>(holds_.size());
    holds_.emplace_back();
  } else {
    id = free_holds_.back();
    free_holds_.pop_back();
  }
  Hold& hold = holds_[id];
  hold.owner = owner;
  for (const PortId hop : hops) {
    const std::uint32_t begin = server(hop) * ports_per_gpu_;
    for (std::uint32_t p = begin; p < begin + ports_per_gpu_; ++p) {
      if (leader_[p] != hop || crossbar_.transmit()[p].state != OpticalSwitch::State::kLit) continue;
      crossbar_.use(PortId{p});
      touch(PortId{p});
      hold.ports.push_back(PortId{p});
    }
  }
  return id;
}

void OpticalRail::release(HoldId id) {
  for (const PortId port : holds_[id].ports) {
    crossbar_.release(port);
    touch(port);
  }
  holds_[id].ports.clear();
  holds_[id].lost.clear();
  free_holds_.push_back(id);
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

// The lit circuits from one server to each of its peers become one link each. It keeps the port that led it, because flows
// that are on their way are counted there; a new link is led by its first port.
void OpticalRail::refresh_links(std::uint32_t from) {
  const std::uint32_t begin = from * ports_per_gpu_;
  const std::uint32_t end = begin + ports_per_gpu_;
  const auto& transmit = crossbar_.transmit();
  const auto lit = [&](std::uint32_t p) { return transmit[p].state == OpticalSwitch::State::kLit; };
  const std::vector<PortId> before(leader_.begin() + begin, leader_.begin() + end);
  for (std::uint32_t p = begin; p < end; ++p) leader_[p] = PortId::none();
  for (std::uint32_t p = begin; p < end; ++p) {
    if (!lit(p) || !leader_[p].is_none()) continue;
    std::uint32_t leader = p;
    std::uint32_t width = 0;
    for (std::uint32_t q = p; q < end; ++q) {
      if (!lit(q) || server(transmit[q].peer) != server(transmit[p].peer)) continue;
      ++width;
      if (before[q - begin] == PortId{q}) leader = q;
    }
    for (std::uint32_t q = p; q < end; ++q) {
      if (lit(q) && server(transmit[q].peer) == server(transmit[p].peer)) leader_[q] = PortId{leader};
    }
    network_.set_rate(capacity(PortId{leader}), {plant_.spec().nic_port.bytes_per_second * width});
  }
}

std::optional<OpticalRail::Command> OpticalRail::apply(const CircuitPlan& plan, Duration before, Duration after) {
  Command command;
  command.change = crossbar_.changes(plan);
  if (command.change.connect.empty() && command.change.disconnect.empty()) return std::nullopt;
  const std::vector<Circuit> darkened = crossbar_.darkened_by(command.change);
  const bool pause = spec_.on_dark == OnDark::kPause;
  if (pause) park(darkened);
  const std::uint32_t begun = crossbar_.begin(command.change, pause);
  ways_.clear();
  for (const Circuit circuit : darkened) {
    touch(circuit.from);
    touch(circuit.to);
    refresh_links(server(circuit.from));
    listener_->circuit_changed(id_, circuit, CircuitListener::State::kDark);
  }
  for (const Circuit circuit : command.change.connect) {
    touch(circuit.from);
    touch(circuit.to);
    listener_->circuit_changed(id_, circuit, CircuitListener::State::kSwitching);
  }
  const Duration switching = spec_.optical.reconfiguration.draw(random_) + spec_.optical.link_up;
  dark_port_time_ += switching * static_cast<std::int64_t>(command.change.connect.size());
  command.id = static_cast<std::uint32_t>(commands_.size());
  command.usable = engine_.now() + before + switching + after;
  commands_.push_back({command.change.connect, begun});
  engine_.schedule(command.usable, Phase::kFinish, Action::to<&OpticalRail::light>(*this, command.id));
  return command;
}

void OpticalRail::light(std::uint64_t command) {
  Switching switching = std::move(commands_[command]);
  ways_.clear();
  for (const Circuit circuit : crossbar_.light(switching.circuits, switching.begun)) {
    touch(circuit.from);
    touch(circuit.to);
    refresh_links(server(circuit.from));
    listener_->circuit_changed(id_, circuit, CircuitListener::State::kLit);
    resume_parked(server(circuit.from), server(circuit.to));
  }
  listener_->command_done(id_, static_cast<std::uint32_t>(command));
}

// Takes the bytes off circuits that are about to go dark in use; whoever holds them loses them.
void OpticalRail::park(const std::vector<Circuit>& darkened) {
  for (const Circuit circuit : darkened) {
    if (crossbar_.transmit()[circuit.from.index()].in_use == 0) continue;
    const CapacityId id = capacity(leader_[circuit.from.index()]);
    std::vector<Network::FlowId> flows;
    network_.suspend(id, flows);
    auto& parked = parked_[{server(circuit.from), server(circuit.to)}];
    for (const Network::FlowId flow : flows) parked.push_back({flow, id});
    for (Hold& hold : holds_) {
      const auto found = std::find(hold.ports.begin(), hold.ports.end(), circuit.from);
      if (found == hold.ports.end()) continue;
      crossbar_.release(circuit.from);
      hold.ports.erase(found);
      hold.lost.emplace_back(server(circuit.from), server(circuit.to));
      listener_->circuit_lost(id_, hold.owner, server(circuit.from), server(circuit.to));
    }
  }
}

// The bytes go on, and the operations hold the new circuit.
void OpticalRail::resume_parked(std::uint32_t from, std::uint32_t to) {
  const auto found = parked_.find({from, to});
  if (found == parked_.end()) return;
  const PortId leader = direct(from, to);
  for (const Parked& parked : found->second) network_.resume(parked.flow, parked.capacity, capacity(leader));
  parked_.erase(found);
  for (Hold& hold : holds_) {
    const auto lost = std::find(hold.lost.begin(), hold.lost.end(), Hop{from, to});
    if (lost == hold.lost.end()) continue;
    hold.lost.erase(lost);
    hold.ports.push_back(leader);
    crossbar_.use(leader);
    touch(leader);
  }
}

}  // namespace photonrail
