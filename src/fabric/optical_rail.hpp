// One rail's optical circuit switches, driven in time, as a job has them: circuits go dark, switch, light up; operations
// hold the circuits that they use; parallel circuits between two GPUs act as one link of their summed rate.
//
// The rail is built from parts, each the only writer of its state. A part knows only parts above it in this list:
//
//   RailSwitches        of all jobs: the queue, the delays and the darkness of each switch
//   RailCircuits        the crossbar, draining, touched ports; reads RailSwitches
//   CircuitLinks        lit circuits as capacities of the network; reads RailCircuits
//   CircuitHolds        which operations hold or miss which circuits; changes RailCircuits and CircuitLinks (use counts)
//   PortFaults          faulty ports, circuits that faults took; reads RailCircuits
//   RailRoutes          direct and forwarded ways; reads RailCircuits, CircuitLinks, PortFaults
//   CircuitTransitions  going dark, being lit, pauses; changes RailCircuits, CircuitLinks, CircuitHolds
//   SwitchCommands      commands and their parts in time; drives RailSwitches, CircuitTransitions
//   FaultTimeline       faults in time; drives PortFaults, CircuitTransitions
//   MeshAdmission       of switches that block: which circuits of a plan have room; drives CircuitTransitions of other jobs
//   PlanRules           which plans are legal, whose ports are whose; reads RailSwitches
//
// All notify the listener through CircuitNotifier. OpticalRail owns them, hands its calls on, and has no state of its own.
#pragma once

#include "fabric/circuit_holds.hpp"
#include "fabric/circuit_links.hpp"
#include "fabric/circuit_listener.hpp"
#include "fabric/circuit_transitions.hpp"
#include "fabric/fault_timeline.hpp"
#include "fabric/mesh_admission.hpp"
#include "fabric/plan_rules.hpp"
#include "fabric/port_faults.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"
#include "fabric/rail_routes.hpp"
#include "fabric/shared_fabric.hpp"
#include "fabric/switch_commands.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::fabric {

class OpticalRail {
 public:
  using HoldId = CircuitHolds::Id;

  /// References must outlive the rail, and so must `shared`, which learns of the job.
  OpticalRail(const RailContext& rail, SharedRail& shared);
  OpticalRail(const OpticalRail&) = delete;  // its parts and the engine's events refer to it

  /// The listener is notified of circuits. It must outlive the rail. Faults of ports are scheduled now.
  void attach(CircuitListener& listener);

  /// Takes, for each GPU of the plant, for how many one stands. Without it each is one. It must outlive the rail.
  void set_copies(std::span<const std::uint32_t> copies);

  /// Takes, of one of several jobs and by server, whether its port is the job's. Circuits of others are refused, and not
  /// seen.
  void set_servers(std::vector<bool> servers) { rules_.set_servers(std::move(servers)); }
  /// Empty: all.
  [[nodiscard]] const std::vector<bool>& servers() const { return rules_.servers(); }

  /// That send commands to the rail's switches.
  [[nodiscard]] std::uint32_t jobs() const { return static_cast<std::uint32_t>(shared_.jobs.size()); }

  [[nodiscard]] const device::OpticalSwitch& crossbar() const { return circuits_.crossbar(); }

  /// The capacities on the way from one server to another, or empty: one hop, or several with forwarding. Valid until the
  /// next call.
  [[nodiscard]] std::span<const topology::CapacityId> way(std::uint32_t from, std::uint32_t to) {
    return routes_.way({from, to});
  }
  /// Describes the way that way() gave last: circuits, and those of them that lead to another pod.
  [[nodiscard]] RailRoutes::Length way_length() const { return routes_.length(); }

  /// Holds the circuits of the way from `from` to `to` until release(); nullopt when there is none. Circuits that drain are
  /// no way.
  [[nodiscard]] std::optional<HoldId> hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner);
  /// The servers to which hold() would succeed from a server, one for each circuit. REQUIRES: !forwards().
  template <class Visit>
  void each_peer(std::uint32_t from, Visit&& visit) const {
    for (std::uint32_t p = circuits_.first_port(from); p < circuits_.first_port(from + 1); ++p) {
      if (circuits_.usable(p)) visit(circuits_.peer_server(p));
    }
  }
  [[nodiscard]] bool forwards() const { return routes_.forwards(); }
  void release(HoldId hold) {
    holds_.release(hold);
    if (mesh_) mesh_->notify_others();
  }
  /// Releases a hold that came to nothing, because other circuits of the operation were not there: it is no use.
  void withdraw(HoldId hold) { holds_.withdraw(hold); }

  struct Command {
    std::uint32_t id = 0;
    CircuitPlan change;            ///< what really changes
    std::optional<Time> usable{};  ///< when all its circuits can be used, where the switches have no queue
  };
  /// Describes how a plan is carried out.
  struct Terms {
    Duration before{};            ///< until the switch begins
    Duration after{};             ///< from lit until operations may use the circuits
    bool preempt = false;         ///< circuits in use may be darkened, as with "on_dark": "pause"
    std::optional<Time> since{};  ///< the plan was to be carried out then, on a rail that no operation used meanwhile
    bool again = false;           ///< the plan is restorable(): it displaces nothing that is not in the way of an operation
  };
  /// Carries out a plan: what it darkens is unusable at once. The switches have the command `before` later; when they come
  /// to it, the new circuits take switching, settling and link bring-up, and are usable `after` later. Circuits to or from
  /// a faulty port, or in the place of one that is, are left out. nullopt: nothing to change. Throws ControllerError.
  std::optional<Command> apply(const CircuitPlan& plan, const Terms& terms);

  /// Circuits of earlier plans that a fault took or refused and that no later plan displaced, whose ports are repaired, and
  /// which darken no circuit in use; circuits that wait for room in a mesh. To be lit again by apply().
  [[nodiscard]] CircuitPlan restorable() const;

  /// Null: the rail's switches do not block.
  [[nodiscard]] MeshAdmission* mesh() const { return mesh_.get(); }

  /// Returns true when an operation holds a circuit that the plan would darken. Throws ControllerError.
  [[nodiscard]] bool disturbs(const CircuitPlan& plan) const { return circuits_.disturbs(plan); }
  /// No operation gets hold of the circuits that the plan would darken, until apply() or undrain().
  void drain(const CircuitPlan& plan) { circuits_.drain(plan); }
  void undrain() { circuits_.undrain(); }
  [[nodiscard]] bool draining(PortId from) const { return circuits_.draining(from); }
  [[nodiscard]] bool drains() const { return circuits_.drains(); }

  /// The rules of forwarding.
  [[nodiscard]] RailRoutes& routes() { return routes_; }

  /// Which operations hold or miss which circuits.
  [[nodiscard]] const CircuitHolds& holds() const { return holds_; }
  /// Bytes left of the messages from a server to another.
  [[nodiscard]] Bytes bytes_left(std::uint32_t from, std::uint32_t to) const { return links_.bytes_left({from, to}); }

  /// Lit, and no switch on the way is dark as a whole. `port`: of the transmit side.
  [[nodiscard]] bool is_lit(PortId port) const { return circuits_.is_lit(port); }
  [[nodiscard]] bool is_faulty(PortId port) const { return faults_.is_faulty(port); }
  /// Returns what has been wrong with ports so far, each a line for people.
  [[nodiscard]] std::vector<std::string> faults() const { return timeline_.lines(); }

  /// Ports whose state changed since the last call, without duplicates.
  void take_touched(std::vector<PortId>& out) { circuits_.take_touched(out); }

  [[nodiscard]] const LongTime& dark_port_time() const { return transitions_.dark_port_time(); }

 private:
  RailContext rail_;
  SharedRail& shared_;
  CircuitNotifier notifier_;
  RailCircuits circuits_;
  CircuitLinks links_;
  CircuitHolds holds_;
  PortFaults faults_;
  RailRoutes routes_;
  CircuitTransitions transitions_;
  SwitchCommands commands_;
  FaultTimeline timeline_;
  PlanRules rules_;
  std::unique_ptr<MeshAdmission> mesh_;
};

}  // namespace photonrail::fabric
