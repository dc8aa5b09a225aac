// Which ports are faulty, and which circuits faults took or refused. A circuit that ends on a faulty port can be neither
// made nor taken by a command.
#pragma once

#include "fabric/rail_circuits.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::fabric {

class PortFaults {
 public:
  /// `circuits` must outlive the object.
  explicit PortFaults(const RailCircuits& circuits) : circuits_(circuits), faults_(circuits.crossbar().ports(), 0) {}

  /// A fault of the port begins or ends; several may overlap.
  void begin(PortId port) { ++faults_[port.index()]; }
  void end(PortId port) { --faults_[port.index()]; }
  [[nodiscard]] bool is_faulty(PortId port) const { return faults_[port.index()] > 0; }
  /// No command can change the circuit that begins at the port: one of its ends is faulty.
  [[nodiscard]] bool is_fixed(PortId from) const;
  /// No command can make the circuit: it, or one in its place, ends on a faulty port.
  [[nodiscard]] bool is_refused(Circuit circuit) const;

  /// Takes out of `change` what cannot be done for faulty ports. The circuits among it are lost.
  void refuse(CircuitPlan& change);
  /// A fault took or refused the circuit. What a later plan wanted of a fibre, and was refused, stays what is wanted of it.
  void lose(Circuit circuit);
  /// A plan's word on a fibre replaces what earlier plans wanted of it.
  void displace_lost(const CircuitPlan& plan);
  /// The lost circuits whose ports are repaired, and which darken no circuit in use.
  [[nodiscard]] CircuitPlan restorable() const;

 private:
  const RailCircuits& circuits_;
  std::vector<std::uint32_t> faults_;  // by port: how many it has now
  std::vector<Circuit> lost_;          // wanted by plans, and taken or refused by faults; no two share a fibre
};

}  // namespace photonrail::fabric
