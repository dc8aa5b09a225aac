#include "fabric/circuit_transitions.hpp"

#include <algorithm>

namespace photonrail::fabric {

CircuitTransitions::CircuitTransitions(const RailContext& rail, RailCircuits& circuits, CircuitLinks& links,
                                       CircuitHolds& holds, const CircuitNotifier& notifier)
    : engine_(rail.engine), circuits_(circuits), links_(links), holds_(holds), notifier_(notifier) {
  const bool unnoticed = std::any_of(rail.spec.faults.begin(), rail.spec.faults.end(),
                                     [](const PortFault& fault) { return fault.detection > Duration{}; });
  if (rail.spec.optical.darkness == DarkScope::kSwitch || unnoticed) paused_since_.resize(circuits.crossbar().ports());
}

// Holders leave before the crossbar changes and are notified after it: a listener that looks at the rail must find the
// state that the notice is about.
std::uint32_t CircuitTransitions::darken(const CircuitPlan& change, bool pause) {
  const std::vector<Circuit> darkened = circuits_.crossbar().darkened_by(change);
  if (pause) holds_.detach(darkened);
  const std::uint32_t begun = circuits_.begin(change);
  for (const Circuit circuit : darkened) {
    end_pause(circuit.from);
    circuits_.touch(circuit);
    links_.refresh(circuits_.server(circuit.from));
    notifier_.changed(circuit, CircuitState::kDark);
  }
  if (pause) holds_.miss(darkened);
  return begun;
}

void CircuitTransitions::announce(std::span<const Circuit> switching) {
  for (const Circuit circuit : switching) {
    circuits_.touch(circuit);
    notifier_.changed(circuit, CircuitState::kSwitching);
  }
}

// A circuit that was re-pointed again since `begun` is not lit by this command. One whose switch is dark for another
// command at this instant is made, but paused until the switch is back.
void CircuitTransitions::light(const std::vector<Circuit>& circuits, std::uint32_t begun) {
  std::vector<Circuit> lit = circuits_.light(circuits, begun);
  std::erase_if(lit, [this](Circuit circuit) {
    if (circuits_.is_lit(circuit.from)) return false;
    paused_since_[circuit.from.index()] = engine_.now();  // its switch is dark for another command
    return true;
  });
  show_lit(lit);
}

// Circuits that carry light from now on. The links that had none before are given back to their holders at the end, when
// all circuits of this instant are there.
void CircuitTransitions::show_lit(const std::vector<Circuit>& lit) {
  std::vector<Hop> found;
  for (const Circuit circuit : lit) {
    const Hop hop = circuits_.hop(circuit);
    const Link* link = links_.find(hop);
    if (link != nullptr && link->width == 0 && std::find(found.begin(), found.end(), hop) == found.end())
      found.push_back(hop);
  }
  for (const Circuit circuit : lit) {
    circuits_.touch(circuit);
    links_.refresh(circuits_.server(circuit.from));
    notifier_.changed(circuit, CircuitState::kLit);
  }
  for (const Hop hop : found) holds_.reattach(hop);
}

void CircuitTransitions::pause(const std::vector<Circuit>& lit) {
  circuits_.switches_changed();
  for (const Circuit circuit : lit) {
    paused_since_[circuit.from.index()] = engine_.now();
    circuits_.touch(circuit);
    links_.refresh(circuits_.server(circuit.from));
    notifier_.changed(circuit, CircuitState::kDark);
    notifier_.changed(circuit, CircuitState::kSwitching);
  }
}

std::vector<std::uint64_t> CircuitTransitions::owners_without_light(const std::vector<Circuit>& circuits) const {
  std::vector<std::uint64_t> owners;
  for (const Circuit circuit : circuits) {
    const Link* link = links_.find(circuits_.hop(circuit));
    if (link == nullptr || link->width > 0) continue;
    holds_.add_owners(circuits_.hop(circuit), owners);
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  return owners;
}

void CircuitTransitions::resume(std::vector<Circuit> lit) {
  circuits_.switches_changed();
  std::erase_if(lit, [this](Circuit circuit) { return !end_pause(circuit.from); });
  show_lit(lit);
  notifier_.light_back();
}

// Returns true when the circuit that begins at the port was paused.
bool CircuitTransitions::end_pause(PortId from) {
  if (paused_since_.empty() || !paused_since_[from.index()]) return false;
  dark_port_time_ += engine_.now() - *paused_since_[from.index()];
  paused_since_[from.index()].reset();
  return true;
}

}  // namespace photonrail::fabric
