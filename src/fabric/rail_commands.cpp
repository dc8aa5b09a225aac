// What changes the circuits of an optical rail: commands of its controller, and faults of its ports.
#include "fabric/optical_rail.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

// ---- commands

std::optional<OpticalRail::Command> OpticalRail::apply(const CircuitPlan& plan, const Terms& terms) {
  require_two_ends(plan);
  require_planes(plan);
  Command command;
  command.change = crossbar_.changes(plan);
  require_own(plan);
  displace_lost(plan);
  refuse_faulty(command.change);
  if (!draining_.empty()) undrain();
  if (command.change.connect.empty() && command.change.disconnect.empty()) return std::nullopt;
  const std::uint32_t begun = darken(command.change, spec_.on_dark == OnDark::kPause || terms.preempt);
  for (const Circuit circuit : command.change.connect) {
    touch(circuit);
    listener_->circuit_changed(id_, circuit, CircuitState::kSwitching);
  }
  command.id = static_cast<std::uint32_t>(commands_.size());
  commands_.push_back({{}, begun, 0, terms.after});
  split(command.id, command.change);
  command.usable = send_parts(terms.since.value_or(engine_.now()) + terms.before);
  return command;
}

void OpticalRail::require_two_ends(const CircuitPlan& plan) const {
  if (!copies_.empty()) return;  // a server stands for several
  for (const Circuit circuit : plan.connect) {
    if (server(circuit.from) != server(circuit.to)) continue;
    throw ControllerError("the plan joins server " + std::to_string(server(circuit.from)) + " to itself");
  }
}

// Another job's controller has no say in these.
void OpticalRail::require_own(const CircuitPlan& plan) const {
  const auto require = [this](PortId port) {
    if (servers_.empty() || servers_[server(port)]) return;
    throw ControllerError("port " + std::to_string(port.value) + " belongs to server " + std::to_string(server(port)) +
                          ", whose GPU on this rail is not the job's");
  };
  for (const PortId port : plan.disconnect) require(port);
  for (const Circuit circuit : plan.connect) {
    require(circuit.from);
    require(circuit.to);
  }
}

void OpticalRail::require_planes(const CircuitPlan& plan) const {
  for (const Circuit circuit : plan.connect) {
    const std::uint32_t from = switches_.plane(circuit.from);
    const std::uint32_t to = switches_.plane(circuit.to);
    if (from == to) continue;
    throw ControllerError("no circuit can join port " + std::to_string(circuit.from.value) + " on plane " +
                          std::to_string(from) + " to port " + std::to_string(circuit.to.value) + " on plane " +
                          std::to_string(to));
  }
}

// The circuit that begins here cannot be changed.
bool OpticalRail::is_fixed(PortId from) const {
  const PortId peer = crossbar_.transmit()[from.index()].peer;
  return is_faulty(from) || (!peer.is_none() && is_faulty(peer));
}

bool OpticalRail::is_refused(Circuit circuit) const {
  const PortId source = crossbar_.receive()[circuit.to.index()].peer;
  return is_fixed(circuit.from) || is_faulty(circuit.to) || (!source.is_none() && is_faulty(source));
}

void OpticalRail::refuse_faulty(CircuitPlan& change) {
  std::erase_if(change.disconnect, [this](PortId from) { return is_fixed(from); });
  std::erase_if(change.connect, [this](Circuit circuit) {
    const bool refused = is_refused(circuit);
    if (refused) lose(circuit);
    return refused;
  });
}

// What a later plan wanted of a fibre, and was refused, stays what is wanted of it.
void OpticalRail::lose(Circuit circuit) {
  const bool displaced = std::any_of(lost_.begin(), lost_.end(),
                                     [circuit](Circuit l) { return l.from == circuit.from || l.to == circuit.to; });
  if (!displaced) lost_.push_back(circuit);
}

// What the plan says of a fibre replaces what earlier plans wanted of it.
void OpticalRail::displace_lost(const CircuitPlan& plan) {
  if (lost_.empty()) return;
  std::erase_if(lost_, [&plan](Circuit lost) {
    return std::find(plan.disconnect.begin(), plan.disconnect.end(), lost.from) != plan.disconnect.end() ||
           std::any_of(plan.connect.begin(), plan.connect.end(),
                       [lost](Circuit circuit) { return circuit.from == lost.from || circuit.to == lost.to; });
  });
}

CircuitPlan OpticalRail::restorable() const {
  CircuitPlan plan;
  const auto is_used = [this](PortId from) { return !from.is_none() && crossbar_.transmit()[from.index()].in_use > 0; };
  for (const Circuit circuit : lost_) {
    if (is_refused(circuit) || is_used(circuit.from) || is_used(crossbar_.receive()[circuit.to.index()].peer)) continue;
    plan.connect.push_back(circuit);
  }
  return plan;
}

std::uint32_t OpticalRail::darken(const CircuitPlan& change, bool pause) {
  const std::vector<Circuit> darkened = crossbar_.darkened_by(change);
  if (pause) detach_holders(darkened);
  const std::uint32_t begun = crossbar_.begin(change);
  ways_.clear();
  for (const Circuit circuit : darkened) {
    end_pause(circuit.from);
    touch(circuit);
    refresh_links(server(circuit.from));
    listener_->circuit_changed(id_, circuit, CircuitState::kDark);
  }
  if (pause) miss_links(darkened);
  return begun;
}

// Every switch on the way of a new circuit has its part of the command, and so has that of a transmit side left dark.
void OpticalRail::split(std::uint32_t command, const CircuitPlan& change) {
  split_.clear();
  for (const Circuit circuit : change.connect) {
    const std::uint32_t from = switches_.of(circuit.from);
    const std::uint32_t to = switches_.of(circuit.to);
    parts_[part_of(command, from)].circuits += count({&circuit, 1});
    if (to != from) static_cast<void>(part_of(command, to));
    commands_[command].circuits.push_back({circuit, from == to ? 1u : 2u});
  }
  for (const PortId from : change.disconnect) static_cast<void>(part_of(command, switches_.of(from)));
  commands_[command].parts = static_cast<std::uint32_t>(split_.size());
}

// When all of them are usable, if that is known.
std::optional<Time> OpticalRail::send_parts(Time reached) {
  Time usable{};
  for (const std::uint32_t part : split_) {
    if (!switches_.queue()) {
      usable = std::max(usable, carry_out(part, reached));
    } else if (reached > engine_.now()) {
      engine_.schedule(reached, Phase::kFinish, Action::to<&OpticalRail::arrive>(*this, part));
    } else {
      arrive(part);
    }
  }
  if (switches_.queue()) return std::nullopt;
  return usable;
}

std::uint32_t OpticalRail::part_of(std::uint32_t command, std::uint32_t which) {
  for (const std::uint32_t part : split_) {
    if (parts_[part].at == which) return part;
  }
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t part = free_parts_.back();
  free_parts_.pop_back();
  parts_[part] = {command, which, 0};
  split_.push_back(part);
  return part;
}

void OpticalRail::arrive(std::uint64_t part) {
  const Time begins = switches_.arrive(parts_[part].at, engine_.now());
  if (begins == engine_.now()) return begin(part);
  engine_.schedule(begins, Phase::kFinish, Action::to<&OpticalRail::begin>(*this, part));
}

void OpticalRail::begin(std::uint64_t part) {
  static_cast<void>(carry_out(static_cast<std::uint32_t>(part), engine_.now()));
}

// Returns when the circuits can be used. Of a timetable, that and the beginning may lie in the past.
Time OpticalRail::carry_out(std::uint32_t index, Time begins) {
  const Part& part = parts_[index];
  const Time lit = begins + switches_.draw(part.at, begins);
  dark_port_time_.add(lit - begins, part.circuits);
  const auto at = [this](Time time, const Action& action) {
    engine_.schedule(std::max(time, engine_.now()), Phase::kFinish, action);
  };
  if (spec_.optical.darkness == DarkScope::kSwitch) {
    if (begins > engine_.now()) {
      at(begins, Action::to<&OpticalRail::pause_switch>(*this, part.at));
    } else {
      pause_switch(part.at);
    }
    at(lit, Action::to<&OpticalRail::resume_switch>(*this, part.at));
  }
  const Time usable = lit + commands_[part.command].after;
  at(usable, Action::to<&OpticalRail::light>(*this, index));
  return usable;
}

// A circuit is lit when the last switch on its way is done with it.
void OpticalRail::light(std::uint64_t index) {
  const Part part = parts_[index];
  free_parts_.push_back(static_cast<std::uint32_t>(index));
  Switching& command = commands_[part.command];
  std::vector<Circuit> done;
  std::erase_if(command.circuits, [&](Switching::Wanted& wanted) {
    const Circuit circuit = wanted.circuit;
    if (switches_.of(circuit.from) != part.at && switches_.of(circuit.to) != part.at) return false;
    if (--wanted.switches > 0) return false;
    done.push_back(circuit);
    return true;
  });
  ways_.clear();
  std::vector<Circuit> lit = crossbar_.light(done, command.begun);
  std::erase_if(lit, [this](Circuit circuit) {
    if (is_lit(circuit.from)) return false;
    paused_since_[circuit.from.index()] = engine_.now();  // its switch is dark for another command
    return true;
  });
  show_lit(lit);
  if (--command.parts > 0) return;
  command = {};
  listener_->command_done(id_, part.command);
}

// Circuits that carry light from now on.
void OpticalRail::show_lit(const std::vector<Circuit>& lit) {
  std::vector<Hop> found;
  for (const Circuit circuit : lit) {
    const Hop hop{server(circuit.from), server(circuit.to)};
    const Link* link = find_link(hop);
    if (link != nullptr && link->width == 0 && std::find(found.begin(), found.end(), hop) == found.end())
      found.push_back(hop);
  }
  for (const Circuit circuit : lit) {
    touch(circuit);
    refresh_links(server(circuit.from));
    listener_->circuit_changed(id_, circuit, CircuitState::kLit);
  }
  for (const Hop hop : found) reattach_holders(hop);
}

// ---- switches that are dark as a whole

bool OpticalRail::is_lit(PortId port) const {
  const OpticalSwitch::Fibre& fibre = crossbar_.transmit()[port.index()];
  if (fibre.state != CircuitState::kLit) return false;
  if (spec_.optical.darkness == DarkScope::kPorts) return true;
  return !switches_.is_dark(switches_.of(port)) && !switches_.is_dark(switches_.of(fibre.peer));
}

std::vector<Circuit> OpticalRail::lit_circuits(std::uint32_t which) const {
  std::vector<Circuit> lit;
  for (std::uint32_t p = 0; p < crossbar_.ports(); ++p) {
    const PortId peer = crossbar_.transmit()[p].peer;
    if (!is_lit(PortId{p})) continue;
    if (switches_.of(PortId{p}) == which || switches_.of(peer) == which) lit.push_back({PortId{p}, peer});
  }
  return lit;
}

// The bytes of its other circuits, whosever job they are, stand still; whoever holds them keeps them.
void OpticalRail::pause_switch(std::uint64_t which) {
  const auto at = static_cast<std::uint32_t>(which);
  std::vector<std::vector<Circuit>> lit;
  for (const OpticalRail* job : shared_.jobs) lit.push_back(job->lit_circuits(at));
  switches_.go_dark(at);
  for (std::size_t j = 0; j < lit.size(); ++j) shared_.jobs[j]->pause(lit[j]);
}

void OpticalRail::pause(const std::vector<Circuit>& lit) {
  ways_.clear();
  for (const Circuit circuit : lit) {
    paused_since_[circuit.from.index()] = engine_.now();
    touch(circuit);
    refresh_links(server(circuit.from));
    listener_->circuit_changed(id_, circuit, CircuitState::kDark);
    listener_->circuit_changed(id_, circuit, CircuitState::kSwitching);
  }
}

void OpticalRail::resume_switch(std::uint64_t which) {
  const auto at = static_cast<std::uint32_t>(which);
  switches_.come_back(at);
  for (OpticalRail* job : shared_.jobs) job->resume(at);
}

void OpticalRail::resume(std::uint32_t which) {
  ways_.clear();
  std::vector<Circuit> lit = lit_circuits(which);
  std::erase_if(lit, [this](Circuit circuit) { return !end_pause(circuit.from); });
  show_lit(lit);
  listener_->light_back(id_);
}

// Whether the circuit that begins at the port was paused.
bool OpticalRail::end_pause(PortId from) {
  if (paused_since_.empty() || !paused_since_[from.index()]) return false;
  dark_port_time_ += engine_.now() - *paused_since_[from.index()];
  paused_since_[from.index()].reset();
  return true;
}

// ---- faults

void OpticalRail::attach(CircuitListener& listener) {
  listener_ = &listener;
  for (std::size_t f = 0; f < spec_.faults.size(); ++f) {
    const PortFault& fault = spec_.faults[f];
    if (fault.rail && *fault.rail != id_) continue;
    engine_.schedule(fault.at, Phase::kFinish, Action::to<&OpticalRail::begin_fault>(*this, f));
    if (!fault.lasts) continue;
    engine_.schedule(fault.at + *fault.lasts, Phase::kFinish, Action::to<&OpticalRail::end_fault>(*this, f));
  }
}

template <class Visit>
void OpticalRail::each_port(const PortFault& fault, Visit&& visit) const {
  for (std::uint32_t p = 0; p < crossbar_.ports(); ++p) {
    if (fault.server && *fault.server != p / ports_per_gpu_) continue;
    if (fault.port && *fault.port != p % ports_per_gpu_) continue;
    visit(PortId{p});
  }
}

void OpticalRail::begin_fault(std::uint64_t index) {
  const PortFault& fault = spec_.faults[index];
  each_port(fault, [&](PortId port) {
    ++faults_[port.index()];
    touch(port);
    if (fault.kind == PortFault::Kind::kFailed) fail(port);
  });
  listener_->rail_changed(id_);
}

void OpticalRail::end_fault(std::uint64_t index) {
  each_port(spec_.faults[index], [&](PortId port) {
    --faults_[port.index()];
    touch(port);
  });
  listener_->rail_changed(id_);
}

// Bytes on its circuits go on over others that join the same GPUs, now or later.
void OpticalRail::fail(PortId port) {
  CircuitPlan change;
  const PortId source = crossbar_.receive()[port.index()].peer;
  if (!crossbar_.transmit()[port.index()].peer.is_none()) change.disconnect.push_back(port);
  if (!source.is_none() && source != port) change.disconnect.push_back(source);
  for (const PortId from : change.disconnect) lose({from, crossbar_.transmit()[from.index()].peer});
  if (!change.disconnect.empty()) static_cast<void>(darken(change, true));
}

std::vector<std::string> OpticalRail::faults() const {
  std::vector<std::string> lines;
  for (const PortFault& fault : spec_.faults) {
    if ((fault.rail && *fault.rail != id_) || fault.at > engine_.now()) continue;
    const bool failed = fault.kind == PortFault::Kind::kFailed;
    const std::string at = std::to_string(to_seconds(fault.at)) + " s";
    const std::string when = fault.lasts ? std::string(failed ? " failed from " : " was stuck from ") + at + " to " +
                                               std::to_string(to_seconds(fault.at + *fault.lasts)) + " s"
                                         : (failed ? " failed at " : " is stuck since ") + at;
    lines.push_back("rail " + std::to_string(id_.value) + ": " +
                    (fault.port ? "port " + std::to_string(*fault.port) : "every port") + " of " +
                    (fault.server ? "server " + std::to_string(*fault.server) : "every server") + when);
  }
  return lines;
}

}  // namespace photonrail
