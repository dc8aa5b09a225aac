#include "fabric/rail_circuits.hpp"

#include <algorithm>

namespace photonrail::fabric {

RailCircuits::RailCircuits(const PlantSpec& plant, const RailSpec& spec, const RailSwitches& switches)
    : switches_(switches),
      whole_switch_(spec.optical.darkness == DarkScope::kSwitch),
      ports_per_gpu_(plant.nic_ports),
      crossbar_(plant.rail_ports()),
      is_touched_(crossbar_.ports(), false) {}

std::vector<Circuit> RailCircuits::lit_on(std::uint32_t which) const {
  std::vector<Circuit> lit;
  for (std::uint32_t p = 0; p < crossbar_.ports(); ++p) {
    const PortId peer = crossbar_.transmit()[p].peer;
    if (!is_lit(PortId{p})) continue;
    if (switches_.of(PortId{p}) == which || switches_.of(peer) == which) lit.push_back({PortId{p}, peer});
  }
  return lit;
}

std::vector<Circuit> RailCircuits::lit_at(PortId port) const {
  std::vector<Circuit> lit;
  const PortId peer = crossbar_.transmit()[port.index()].peer;
  const PortId source = crossbar_.receive()[port.index()].peer;
  if (!peer.is_none() && is_lit(port)) lit.push_back({port, peer});
  if (!source.is_none() && source != port && is_lit(source)) lit.push_back({source, port});
  return lit;
}

void RailCircuits::begin_blind(PortId port) {
  blind_.resize(crossbar_.ports(), 0);
  ++blind_[port.index()];
  ++version_;
}

void RailCircuits::end_blind(PortId port) {
  --blind_[port.index()];
  ++version_;
}

void RailCircuits::set_rate(PortId port, double share) {
  if (rates_.empty()) rates_.resize(crossbar_.ports(), 1.0);
  rates_[port.index()] = share;
}

std::uint32_t RailCircuits::begin(const CircuitPlan& change) {
  const std::uint32_t begun = crossbar_.begin(change);
  ++version_;
  return begun;
}

std::vector<Circuit> RailCircuits::light(const std::vector<Circuit>& circuits, std::uint32_t begun) {
  ++version_;
  return crossbar_.light(circuits, begun);
}

bool RailCircuits::disturbs(const CircuitPlan& plan) const {
  const std::vector<Circuit> darkened = crossbar_.darkened_by(crossbar_.changes(plan));
  return std::any_of(darkened.begin(), darkened.end(),
                     [this](Circuit c) { return crossbar_.transmit()[c.from.index()].in_use > 0; });
}

void RailCircuits::drain(const CircuitPlan& plan) {
  undrain();
  draining_.assign(crossbar_.ports(), false);
  for (const Circuit circuit : crossbar_.darkened_by(crossbar_.changes(plan))) {
    draining_[circuit.from.index()] = true;
    touch(circuit.from);
  }
  ++version_;
}

void RailCircuits::undrain() {
  for (std::size_t p = 0; p < draining_.size(); ++p) {
    if (draining_[p]) touch(PortId{p});
  }
  draining_.clear();
  ++version_;
}

void RailCircuits::touch(Circuit circuit) {
  touch(circuit.from);
  touch(fibre_of(circuit.to));
}

void RailCircuits::touch(PortId port) {
  if (is_touched_[port.index()]) return;
  is_touched_[port.index()] = true;
  touched_.push_back(port);
}

void RailCircuits::take_touched(std::vector<PortId>& out) {
  out = touched_;
  for (const PortId port : touched_) is_touched_[port.index()] = false;
  touched_.clear();
}

}  // namespace photonrail::fabric
