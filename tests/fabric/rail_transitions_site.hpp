// The parts of a rail up to CircuitTransitions, for the tests of it and of what drives it.
#pragma once

#include "fabric/circuit_transitions.hpp"
#include "fabric/rail_site.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace photonrail::fabric::test {

struct TransitionsSite {
  explicit TransitionsSite(std::uint32_t servers, std::uint32_t ports = 1,
                           const std::function<void(RailSpec&)>& change = {})
      : site(servers, ports, change),
        circuits(site.circuits()),
        links(site.context, site.capacities, circuits),
        holds(circuits, links, site.notifier),
        transitions(site.context, circuits, links, holds, site.notifier) {
    site.shared.jobs.push_back(&transitions);
  }
  [[nodiscard]] CircuitPlan changes(std::vector<Circuit> connect, std::vector<PortId> disconnect = {}) const {
    return circuits.crossbar().changes({std::move(connect), std::move(disconnect)});
  }
  /// At once, and without a trace in the listener's records.
  void connect(const std::vector<Circuit>& wanted) {
    const CircuitPlan change = changes(wanted);
    transitions.light(change.connect, transitions.darken(change, false));
    site.listener.calls.clear();
  }
  void hold(Hop hop, std::uint64_t owner) { static_cast<void>(holds.hold({&hop, 1}, owner)); }

  RailSite site;
  RailCircuits circuits;
  CircuitLinks links;
  CircuitHolds holds;
  CircuitTransitions transitions;
};

}  // namespace photonrail::fabric::test
