// The circuits of one job on one rail: the crossbar, which transmit ports drain, and which ports changed since the last
// look. Passive: the other parts of the rail change it; it schedules nothing and notifies nothing.
#pragma once

#include "device/optical_switch.hpp"
#include "fabric/circuit_listener.hpp"
#include "fabric/rail_switches.hpp"
#include "photonrail/cluster.hpp"
#include "topology/plant.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace photonrail::fabric {

/// The two cannot be there at once.
[[nodiscard]] inline bool share_fibre(Circuit a, Circuit b) { return a.from == b.from || fibre_of(a.to) == fibre_of(b.to); }

class RailCircuits {
 public:
  /// All are dark. `switches` must outlive the object.
  RailCircuits(const PlantSpec& plant, const RailSpec& spec, const RailSwitches& switches);

  [[nodiscard]] const device::OpticalSwitch& crossbar() const { return crossbar_; }
  [[nodiscard]] std::uint32_t servers() const { return crossbar_.ports() / ports_per_gpu_; }
  [[nodiscard]] std::uint32_t ports_per_gpu() const { return ports_per_gpu_; }
  /// The ports of a server are first_port(server) to first_port(server + 1) - 1.
  [[nodiscard]] std::uint32_t first_port(std::uint32_t server) const { return server * ports_per_gpu_; }
  [[nodiscard]] std::uint32_t server(PortId port) const { return port.value / ports_per_gpu_; }
  [[nodiscard]] Hop hop(Circuit circuit) const { return {server(circuit.from), server(circuit.to)}; }
  /// The server at the other end of the circuit that begins at the port. REQUIRES: there is a circuit.
  [[nodiscard]] std::uint32_t peer_server(std::uint32_t port) const { return server(crossbar_.transmit()[port].peer); }

  /// Lit, no switch on the way is dark as a whole, and no end is blind. `port`: of the transmit side.
  [[nodiscard]] bool is_lit(PortId port) const {
    const device::OpticalSwitch::Fibre& fibre = crossbar_.transmit()[port.index()];
    const auto is_blind = [this](PortId end) { return !blind_.empty() && blind_[end.index()] > 0; };
    if (fibre.state != CircuitState::kLit || is_blind(port) || is_blind(fibre.peer)) return false;
    return !whole_switch_ || (!switches_.is_dark(switches_.of(port)) && !switches_.is_dark(switches_.of(fibre.peer)));
  }
  /// Lit, and an operation may take it.
  [[nodiscard]] bool usable(std::uint32_t port) const { return is_lit(PortId{port}) && !draining(PortId{port}); }
  /// The lit circuits with an end on the switch.
  [[nodiscard]] std::vector<Circuit> lit_on(std::uint32_t which) const;
  /// The lit circuits with an end on the port.
  [[nodiscard]] std::vector<Circuit> lit_at(PortId port) const;

  /// A port that failed, and the control plane does not know it yet: the crossbar joins it as ever, without light. Several
  /// such faults may overlap.
  void begin_blind(PortId port);
  void end_blind(PortId port);

  /// From now on the port has this share of its rate.
  void set_rate(PortId port, double share);
  /// Returns the rate of a circuit that begins at the port, by the slower of its ends. REQUIRES: there is a circuit.
  [[nodiscard]] double rate(std::uint32_t port) const {
    return rates_.empty() ? 1.0 : std::min(rates_[port], rates_[crossbar_.transmit()[port].peer.index()]);
  }

  /// Darkens what `change` takes, and returns the number for light(). REQUIRES and throws: as OpticalSwitch::begin.
  std::uint32_t begin(const CircuitPlan& change);
  /// OpticalSwitch::light.
  std::vector<Circuit> light(const std::vector<Circuit>& circuits, std::uint32_t begun);
  void use(PortId from) { crossbar_.use(from); }
  /// `used`: something was sent over the circuit.
  void release(PortId from, bool used) {
    if (used) crossbar_.mark_used(from);
    crossbar_.release(from);
  }

  /// Returns true when an operation holds a circuit that the plan would darken. Throws ControllerError.
  [[nodiscard]] bool disturbs(const CircuitPlan& plan) const;
  /// No operation gets hold of the circuits that the plan would darken, until undrain().
  void drain(const CircuitPlan& plan);
  void undrain();
  [[nodiscard]] bool draining(PortId from) const { return !draining_.empty() && draining_[from.index()]; }
  [[nodiscard]] bool drains() const { return !draining_.empty(); }

  /// The state of the port changed.
  void touch(PortId port);
  void touch(Circuit circuit);
  /// Ports touched since the last call, without duplicates, in the order of their first touch.
  void take_touched(std::vector<PortId>& out);

  /// Differs from an earlier value when circuits that forwarding may use came or went in between.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Switches went dark or came back as a whole.
  void switches_changed() { ++version_; }

 private:
  const RailSwitches& switches_;
  bool whole_switch_;  // DarkScope::kSwitch
  std::uint32_t ports_per_gpu_;
  device::OpticalSwitch crossbar_;
  std::vector<bool> draining_;        // by transmit port; empty: none
  std::vector<std::uint32_t> blind_;  // by port: faults that are not known; empty: there was none
  std::vector<double> rates_;         // by port: share of its rate; empty: all have all of it
  std::vector<PortId> touched_;
  std::vector<bool> is_touched_;  // by port
  std::uint64_t version_ = 0;
};

}  // namespace photonrail::fabric
