#include "device/optical_switch.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::device {

namespace {

std::string text(PortId port) { return std::to_string(port.value); }

std::string text(Circuit circuit) { return "from port " + text(circuit.from) + " to port " + text(circuit.to); }

void require_port(PortId port, std::uint32_t ports) {
  if (port.index() < ports) return;
  throw ControllerError("the plan names port " + text(port) + ", but the rail has ports 0 to " + std::to_string(ports - 1));
}

// Sorts, because a table by port would make a plan of two circuits cost as much as the switch is large.
void require_distinct(std::vector<PortId> named, const char* side) {
  std::sort(named.begin(), named.end());
  const auto twice = std::adjacent_find(named.begin(), named.end());
  if (twice == named.end()) return;
  throw ControllerError("the plan is not a matching: it names the " + std::string(side) + " side of port " + text(*twice) +
                        " twice");
}

}  // namespace

OpticalSwitch::OpticalSwitch(std::uint32_t ports) : transmit_(ports), receive_(ports) {}

CircuitPlan OpticalSwitch::changes(const CircuitPlan& plan) const {
  CircuitPlan change;
  std::vector<PortId> from = plan.disconnect;
  std::vector<PortId> to;
  for (const Circuit circuit : plan.connect) {
    require_port(circuit.from, ports());
    require_port(fibre_of(circuit.to), ports());
    from.push_back(circuit.from);
    to.push_back(fibre_of(circuit.to));
    if (transmit_[circuit.from.index()].peer != circuit.to) change.connect.push_back(circuit);
  }
  for (const PortId port : plan.disconnect) {
    require_port(port, ports());
    if (!transmit_[port.index()].peer.is_none()) change.disconnect.push_back(port);
  }
  require_distinct(std::move(from), "transmit");
  require_distinct(std::move(to), "receive");
  return change;
}

std::vector<Circuit> OpticalSwitch::darkened_by(const CircuitPlan& change) const {
  std::vector<Circuit> darkened;
  const auto take_transmit = [&](PortId from) {
    const PortId peer = transmit_[from.index()].peer;
    if (!peer.is_none()) darkened.push_back({from, peer});
  };
  for (const PortId from : change.disconnect) take_transmit(from);
  for (const Circuit circuit : change.connect) {
    take_transmit(circuit.from);
    const PortId peer = receive_[fibre_of(circuit.to).index()].peer;
    if (!peer.is_none()) take_transmit(peer);
  }
  std::sort(darkened.begin(), darkened.end());  // two fibres may take the same circuit
  darkened.erase(std::unique(darkened.begin(), darkened.end()), darkened.end());
  return darkened;
}

std::uint32_t OpticalSwitch::begin(const CircuitPlan& change) {
  const std::vector<Circuit> darkened = darkened_by(change);
  for (const Circuit circuit : darkened) {
    const std::uint32_t users = transmit_[circuit.from.index()].in_use;
    if (users == 0) continue;
    throw ControllerError("the circuit " + text(circuit) + " would go dark while " + std::to_string(users) +
                          (users == 1 ? " operation uses it" : " operations use it"));
  }
  for (const Circuit circuit : darkened) darken(circuit.from);
  ++begun_;
  for (const Circuit circuit : change.connect) {
    transmit_[circuit.from.index()] = {circuit.to, CircuitState::kSwitching, 0, begun_};
    receive_[fibre_of(circuit.to).index()] = {circuit.from, CircuitState::kSwitching, 0, begun_};
  }
  return begun_;
}

void OpticalSwitch::darken(PortId from) {
  Fibre& fibre = transmit_[from.index()];
  receive_[fibre_of(fibre.peer).index()] = {};
  fibre = {};
}

std::vector<Circuit> OpticalSwitch::light(const std::vector<Circuit>& circuits, std::uint32_t begun) {
  std::vector<Circuit> lit;
  for (const Circuit circuit : circuits) {
    Fibre& fibre = transmit_[circuit.from.index()];
    if (fibre.peer != circuit.to || fibre.begun != begun) continue;
    fibre.state = CircuitState::kLit;
    receive_[fibre_of(circuit.to).index()].state = CircuitState::kLit;
    lit.push_back(circuit);
  }
  return lit;
}

void OpticalSwitch::release(PortId from) {
  Fibre& fibre = transmit_[from.index()];
  PHOTONRAIL_CHECK(fibre.in_use > 0);
  --fibre.in_use;
}

}  // namespace photonrail::device
