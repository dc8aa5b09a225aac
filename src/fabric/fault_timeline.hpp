// The faults of ports that the cluster's description says, at their times: ports fail, get stuck or slow, and are repaired.
// A fault with a detection time has its effect on light at once, and on the control plane once it is detected.
#pragma once

#include "fabric/active_faults.hpp"
#include "fabric/circuit_listener.hpp"
#include "fabric/circuit_transitions.hpp"
#include "fabric/port_faults.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::fabric {

class FaultTimeline {
 public:
  /// All must outlive the object.
  FaultTimeline(const RailContext& rail, RailCircuits& circuits, PortFaults& faults, CircuitTransitions& transitions,
                const CircuitNotifier& notifier)
      : rail_(rail),
        circuits_(circuits),
        faults_(faults),
        transitions_(transitions),
        notifier_(notifier),
        slow_(rail.spec.faults) {}

  /// Schedules the faults of this rail. To be called once, at time 0.
  void schedule();

  /// Returns what has been wrong with ports so far, each a line for people.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  [[nodiscard]] bool concerns(const PortFault& fault, PortId at) const;
  template <class Visit>
  void each_port(const PortFault& fault, Visit&& visit) const;
  void strike(std::uint64_t index);  // light is gone, and the control plane does not know it
  void pass(std::uint64_t index);    // repaired before it was detected
  void detect(std::uint64_t index);
  void begin(std::uint64_t index);  // known from the first moment on, or from now on
  void end(std::uint64_t index);
  void fail(PortId port);
  void slow_down(std::uint64_t index);
  void speed_up(std::uint64_t index);
  void change_rates(const PortFault& changed);

  RailContext rail_;
  RailCircuits& circuits_;
  PortFaults& faults_;
  CircuitTransitions& transitions_;
  const CircuitNotifier& notifier_;
  ActiveFaults slow_;  // those that slow ports
};

}  // namespace photonrail::fabric
