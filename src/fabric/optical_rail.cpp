#include "fabric/optical_rail.hpp"

#include <algorithm>

namespace photonrail::fabric {

OpticalRail::OpticalRail(const RailContext& rail, SharedRail& shared)
    : rail_(rail),
      shared_(shared),
      notifier_(rail.id),
      circuits_(rail.plant.spec(), rail.spec, shared.switches),
      links_(rail, shared.capacities, circuits_),
      holds_(circuits_, links_, notifier_),
      faults_(circuits_),
      routes_({rail.spec, shared, circuits_, links_, faults_}),
      transitions_(rail, circuits_, links_, holds_, notifier_),
      commands_(rail, shared, circuits_, transitions_, notifier_),
      timeline_(rail, circuits_, faults_, transitions_, notifier_),
      rules_(shared.switches, circuits_.ports_per_gpu()) {
  shared.jobs.push_back(&transitions_);
  if (shared.mesh == nullptr) return;
  mesh_ = std::make_unique<MeshAdmission>(*shared.mesh,
                                          MeshAdmission::Parts{rail.id, circuits_, faults_, transitions_, notifier_});
}

void OpticalRail::attach(CircuitListener& listener) {
  notifier_.attach(listener);
  timeline_.schedule();
}

void OpticalRail::set_copies(std::span<const std::uint32_t> copies) {
  commands_.set_copies(copies);
  if (!copies.empty()) rules_.set_folded();
}

std::optional<OpticalRail::HoldId> OpticalRail::hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner) {
  const std::span<const Hop> way = routes_.hops({from, to});
  if (way.empty()) return std::nullopt;
  return holds_.hold(way, owner);
}

// The way of a command, in an order that matters. What the plan asks for is checked first and refused as a fault of the
// controller. Then the plan shrinks to what changes and what can be made: fibres that a fault holds, and on a switch that
// blocks, circuits without room, are taken out; they wait in their parts. Only then circuits go dark, after which the
// command travels to the switches. Nothing is left half done when a check throws.
std::optional<OpticalRail::Command> OpticalRail::apply(const CircuitPlan& plan, const Terms& terms) {
  rules_.require_joinable(plan);
  Command command;
  command.change = circuits_.crossbar().changes(plan);
  rules_.require_own(plan);
  faults_.displace_lost(plan);
  faults_.refuse(command.change);
  if (mesh_) mesh_->admit(plan, command.change, terms.again);
  if (circuits_.drains()) circuits_.undrain();
  if (command.change.connect.empty() && command.change.disconnect.empty()) return std::nullopt;
  const bool pause = rail_.spec.on_dark == OnDark::kPause || terms.preempt;
  const std::uint32_t begun = transitions_.darken(command.change, pause);
  transitions_.announce(command.change.connect);
  const Time reached = terms.since.value_or(rail_.engine.now()) + terms.before;
  const SentCommand sent = commands_.send(command.change, begun, {reached, terms.after});
  command.id = sent.id;
  command.usable = sent.usable;
  if (mesh_) mesh_->notify_others();
  return command;
}

// A circuit that a fault took may be among those that wait for room.
CircuitPlan OpticalRail::restorable() const {
  CircuitPlan plan = faults_.restorable();
  if (!mesh_) return plan;
  for (const Circuit circuit : mesh_->retry().connect) {
    const bool taken =
        std::any_of(plan.connect.begin(), plan.connect.end(), [circuit](Circuit c) { return share_fibre(c, circuit); });
    if (!taken) plan.connect.push_back(circuit);
  }
  return plan;
}

}  // namespace photonrail::fabric
