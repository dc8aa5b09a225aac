// Devices: passive. They say how long something takes or in which state they are; they never schedule.
#pragma once

#include "photonrail/circuit.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/random.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// A GPU as a roofline (Williams, Waterman and Patterson, CACM 2009).
/// Leaves out: kernel launch, occupancy, cache, clock and power limits; all of them are in `compute_efficiency`.
struct GpuSpec {
  std::string name = "custom";
  double peak_tflops = 989.0;       ///< dense, at the job's precision; 1e12 operations per second
  double memory_gb_per_s = 4800.0;  ///< 1e9 bytes per second
  double memory_gb = 141.0;         ///< capacity, 1e9 bytes; 0: unknown
  double compute_efficiency = 1.0;  ///< share of the peak that kernels reach, in (0, 1]
  double power_w = 0.0;             ///< while it computes; 0: unknown. For the energy of a step (cost.hpp)
  bool efficiency_assumed = true;   ///< the default efficiency: jobs that compute at 1 get a warning; false: it was chosen

  /// flops / min(efficiency x peak, memory bandwidth x flops / memory_bytes), rounded up. `memory_bytes` 0: no memory
  /// bound. No flops: memory_bytes / memory bandwidth.
  [[nodiscard]] Duration compute_time(double flops, Bytes memory_bytes) const;
};

/// What carries no light while a switch re-points: the fibres that it re-points, or all of its fibres.
enum class DarkScope : std::uint8_t { kPorts, kSwitch };

/// An optical circuit switch: ports, and how long it takes to re-point.
struct OpticalSwitchSpec {
  std::string name = "custom";
  std::uint32_t ports = 0;  ///< 0: as many as the rail needs. A NIC port takes two: its transmit and its receive fibre
  DelayDistribution reconfiguration{};  ///< switching, without link bring-up
  Duration link_up{};                   ///< link bring-up after switching
  double power_w = 0.0;
  double usd_per_port = 0.0;
  Duration settle{};  ///< between switching and link bring-up
  DarkScope darkness = DarkScope::kPorts;
  Duration batching{};             ///< it collects commands for so long, from the first on, and carries them out as one
  Duration command_gap{};          ///< from the beginning of one command to that of the next at least: 1 / command rate
  double insertion_loss_db = 0.0;  ///< of one pass, at its worst; 0: unknown

  /// Switching, settling and link bring-up, without a queue.
  [[nodiscard]] Duration typical() const { return reconfiguration.typical() + settle + link_up; }
};

/// Where a value of a preset comes from, and what it does not say.
struct GpuPreset {
  std::string_view key;
  std::string_view note;
  GpuSpec spec;
};
struct OpticalSwitchPreset {
  std::string_view key;
  std::string_view note;
  OpticalSwitchSpec spec;
};

[[nodiscard]] const std::vector<GpuPreset>& gpu_presets();
[[nodiscard]] const std::vector<OpticalSwitchPreset>& optical_switch_presets();
/// Both throw ConfigError that lists what is known.
[[nodiscard]] const GpuSpec& gpu_preset(std::string_view key);
[[nodiscard]] const OpticalSwitchSpec& optical_switch_preset(std::string_view key);

/// The crossbar of an OCS: a partial matching of inputs (transmit fibres) to outputs (receive fibres), and how many
/// operations use each circuit. It has no clock: its owner sets when a circuit goes dark and when it is lit.
class OpticalSwitch {
 public:
  struct Fibre {
    PortId peer = PortId::none();  ///< the other end of the circuit that this fibre is in
    CircuitState state = CircuitState::kDark;
    std::uint32_t in_use = 0;  ///< operations with bytes on the circuit; counted on the transmit side only
    std::uint32_t begun = 0;   ///< the begin() that made the circuit
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

 private:
  void darken(PortId from);

  std::vector<Fibre> transmit_;
  std::vector<Fibre> receive_;
  std::uint32_t begun_ = 0;
};

}  // namespace photonrail
