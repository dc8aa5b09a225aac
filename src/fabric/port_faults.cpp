#include "fabric/port_faults.hpp"

#include <algorithm>

namespace photonrail::fabric {

// The circuit that begins here cannot be changed.
bool PortFaults::is_fixed(PortId from) const {
  const PortId peer = circuits_.crossbar().transmit()[from.index()].peer;
  return is_faulty(from) || (!peer.is_none() && is_faulty(fibre_of(peer)));
}

bool PortFaults::is_refused(Circuit circuit) const {
  const PortId source = circuits_.crossbar().receive()[fibre_of(circuit.to).index()].peer;
  return is_fixed(circuit.from) || is_faulty(fibre_of(circuit.to)) || (!source.is_none() && is_faulty(source));
}

void PortFaults::refuse(CircuitPlan& change) {
  std::erase_if(change.disconnect, [this](PortId from) { return is_fixed(from); });
  std::erase_if(change.connect, [this](Circuit circuit) {
    const bool refused = is_refused(circuit);
    if (refused) lose(circuit);
    return refused;
  });
}

void PortFaults::lose(Circuit circuit) {
  const bool displaced = std::any_of(lost_.begin(), lost_.end(), [circuit](Circuit l) { return share_fibre(l, circuit); });
  if (!displaced) lost_.push_back(circuit);
}

void PortFaults::displace_lost(const CircuitPlan& plan) {
  if (lost_.empty()) return;
  std::erase_if(lost_, [&plan](Circuit lost) {
    return std::find(plan.disconnect.begin(), plan.disconnect.end(), lost.from) != plan.disconnect.end() ||
           std::any_of(plan.connect.begin(), plan.connect.end(),
                       [lost](Circuit circuit) { return share_fibre(circuit, lost); });
  });
}

CircuitPlan PortFaults::restorable() const {
  const device::OpticalSwitch& crossbar = circuits_.crossbar();
  CircuitPlan plan;
  const auto is_used = [&](PortId from) { return !from.is_none() && crossbar.transmit()[from.index()].in_use > 0; };
  for (const Circuit circuit : lost_) {
    if (is_refused(circuit) || is_used(circuit.from) || is_used(crossbar.receive()[fibre_of(circuit.to).index()].peer))
      continue;
    plan.connect.push_back(circuit);
  }
  return plan;
}

}  // namespace photonrail::fabric
