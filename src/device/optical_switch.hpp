// The crossbar of an optical circuit switch.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::device {

/// The crossbar of an OCS: a partial matching of inputs (transmit fibres) to outputs (receive fibres), and how many
/// operations use each circuit. It has no clock: its owner sets when a circuit goes dark and when it is lit.
class OpticalSwitch {
 public:
  struct Fibre {
    PortId peer = PortId::none();  ///< the other end of the circuit that this fibre is in; a receive side with its sheet
    CircuitState state = CircuitState::kDark;
    std::uint32_t in_use = 0;  ///< operations with bytes on the circuit; counted on the transmit side only
    std::uint32_t begun = 0;   ///< the begin() that made the circuit
    bool used = false;         ///< an operation has used the circuit and given it back; counted as in_use
  };

  explicit OpticalSwitch(std::uint32_t ports);  ///< `ports` NIC ports: so many inputs and so many outputs

  [[nodiscard]] std::uint32_t ports() const { return static_cast<std::uint32_t>(transmit_.size()); }
  [[nodiscard]] const std::vector<Fibre>& transmit() const { return transmit_; }
  [[nodiscard]] const std::vector<Fibre>& receive() const { return receive_; }
  [[nodiscard]] bool is_lit(Circuit c) const {
    return transmit_[c.from.index()].peer == c.to && transmit_[c.from.index()].state == CircuitState::kLit;
  }

  /// The part of `plan` that differs from the present circuits. Throws ControllerError unless the plan is a matching on
  /// ports that exist.
  [[nodiscard]] CircuitPlan changes(const CircuitPlan& plan) const;

  /// The circuits that `change` would darken: those on a fibre that it takes.
  [[nodiscard]] std::vector<Circuit> darkened_by(const CircuitPlan& change) const;

  /// Darkens what `change` takes and puts its new circuits into kSwitching. REQUIRES: `change` came from changes().
  /// Returns a number for light(). Throws ControllerError, naming the circuit, when one that would go dark is in use.
  std::uint32_t begin(const CircuitPlan& change);

  /// Lights those of `circuits` that the begin() numbered `begun` made: one that a later begin() took, or took and made
  /// again, is left alone. Returns what was lit.
  std::vector<Circuit> light(const std::vector<Circuit>& circuits, std::uint32_t begun);

  void use(PortId from) { ++transmit_[from.index()].in_use; }
  void release(PortId from);
  void mark_used(PortId from) { transmit_[from.index()].used = true; }

 private:
  void darken(PortId from);

  std::vector<Fibre> transmit_;
  std::vector<Fibre> receive_;
  std::uint32_t begun_ = 0;
};

}  // namespace photonrail::device
