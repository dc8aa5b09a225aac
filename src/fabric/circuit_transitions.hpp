// The moments at which circuits go dark and get light: each moves the crossbar, the links, the holds and the listener
// together, in one order. Also the pauses of circuits whose switch is dark as a whole.
#pragma once

#include "fabric/circuit_holds.hpp"
#include "fabric/circuit_links.hpp"
#include "fabric/circuit_listener.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"
#include "photonrail/core/durations.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::fabric {

class CircuitTransitions {
 public:
  /// All must outlive the object.
  CircuitTransitions(const RailContext& rail, RailCircuits& circuits, CircuitLinks& links, CircuitHolds& holds,
                     const CircuitNotifier& notifier);

  /// Circuits that `change` takes are dark now. `pause`: circuits in use too, and what they carried waits; else
  /// ControllerError. Returns the number for light().
  std::uint32_t darken(const CircuitPlan& change, bool pause);
  /// Notifies the listener of circuits that switch from now on.
  void announce(std::span<const Circuit> switching);
  /// Lights those of `circuits` that the darken() numbered `begun` made, as OpticalSwitch::light. One on a switch that is
  /// dark as a whole is paused.
  void light(const std::vector<Circuit>& circuits, std::uint32_t begun);

  /// The circuits are on a switch that went dark as a whole, or on a port that failed unnoticed. Their bytes stand still;
  /// their holds remain.
  void pause(const std::vector<Circuit>& lit);
  /// The holders of links that have no light left, of those that the circuits are of, ascending.
  [[nodiscard]] std::vector<std::uint64_t> owners_without_light(const std::vector<Circuit>& circuits) const;
  /// Ports of the server, or at the other ends of its circuits, have another rate.
  void change_rates(std::uint32_t server) { links_.refresh(server); }
  /// The switch is back: the circuits on it that were paused and have no other dark switch are lit.
  void resume(std::uint32_t which) { resume(circuits_.lit_on(which)); }
  /// An obstacle to the circuits' light is gone: those of them that were paused are lit.
  void resume(std::vector<Circuit> lit);
  /// The circuits that pause() is to be given when the switch goes dark.
  [[nodiscard]] std::vector<Circuit> lit_on(std::uint32_t which) const { return circuits_.lit_on(which); }

  /// Counts the dark time of `circuits` circuits.
  void add_dark_time(Duration each, std::int64_t circuits) { dark_port_time_ += LongTime(each).times(circuits); }
  [[nodiscard]] const LongTime& dark_port_time() const { return dark_port_time_; }

 private:
  void show_lit(const std::vector<Circuit>& lit);
  bool end_pause(PortId from);

  engine::Engine& engine_;
  RailCircuits& circuits_;
  CircuitLinks& links_;
  CircuitHolds& holds_;
  const CircuitNotifier& notifier_;
  std::vector<std::optional<Time>> paused_since_;  // by transmit port: lit but for a switch that is dark as a whole
  LongTime dark_port_time_;
};

}  // namespace photonrail::fabric
