#include "fabric/plan_rules.hpp"

#include "photonrail/error.hpp"

#include <string>

namespace photonrail::fabric {

void PlanRules::require_joinable(const CircuitPlan& plan) const {
  if (!folded_) require_two_ends(plan);
  require_planes(plan);
}

void PlanRules::require_two_ends(const CircuitPlan& plan) const {
  for (const Circuit circuit : plan.connect) {
    if (server(circuit.from) != server(circuit.to)) continue;
    throw ControllerError("the plan joins server " + std::to_string(server(circuit.from)) + " to itself");
  }
}

void PlanRules::require_planes(const CircuitPlan& plan) const {
  for (const Circuit circuit : plan.connect) {
    const std::uint32_t from = switches_.plane(circuit.from);
    const std::uint32_t to = switches_.plane(circuit.to);
    if (from == to) continue;
    throw ControllerError("no circuit can join port " + std::to_string(circuit.from.value) + " on plane " +
                          std::to_string(from) + " to port " + std::to_string(circuit.to.value) + " on plane " +
                          std::to_string(to));
  }
}

void PlanRules::require_own(const CircuitPlan& plan) const {
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

}  // namespace photonrail::fabric
