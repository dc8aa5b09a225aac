// Devices: passive. They say how long something takes or in which state they are; they never schedule.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
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

  friend bool operator==(const GpuSpec&, const GpuSpec&) = default;
};

/// GPUs that differ from ClusterSpec::gpu: by one factor, or by a model of their own.
struct UnlikeGpus {
  std::vector<std::uint32_t> servers{};
  std::vector<std::uint32_t> gpus{};  ///< local indices; empty: all of these servers
  /// Computations on them take 1 / speed of the time on their GPU, those whose time is given too; from 0.001 to 1,000.
  double speed = 1.0;
  double memory_gb = 0.0;  ///< 1e9 bytes; 0: as their GPU
  /// Their GPU; none: ClusterSpec::gpu. It times FLOPs and bytes. A time that is given stays as it is: a training job has
  /// those of each rank's own GPU (TrainingSpec::operators_of_ranks).
  std::optional<GpuSpec> gpu{};
};

/// The fibres of a switch that are dark while it re-points: those that it re-points, or all.
enum class DarkScope : std::uint8_t { kPorts, kSwitch };

/// A mesh of programmable photonics in a switch's place (photonrail/pip/pip_switch.hpp): it blocks. Its ports are fibres:
/// of NIC port p of a plane, 2 p is the transmit and 2 p + 1 the receive fibre, evenly around the rim.
struct PipMeshSpec {
  static constexpr std::uint32_t kMaxHexagons = 64;  ///< a side
  static constexpr double kMinCellLossDb = 0.01;
  static constexpr double kMaxLossDb = 20.0;
  static constexpr double kMinCrosstalkDb = -100.0;
  static constexpr double kMaxCrosstalkDb = -3.0;

  std::uint32_t rows = 1;  ///< hexagons, 1 to kMaxHexagons
  std::uint32_t columns = 1;
  double cell_loss_db = 0.25;   ///< of one pass of a cell, from kMinCellLossDb to kMaxLossDb
  double port_loss_db = 1.0;    ///< between a fibre and the mesh, each time, 0 to kMaxLossDb
  double crosstalk_db = -30.0;  ///< of a cell: leaked / passed power, from kMinCrosstalkDb to kMaxCrosstalkDb
};

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
  Duration batching{};               ///< it collects commands for so long, from the first on, and carries them out as one
  Duration command_gap{};            ///< from the beginning of one command to that of the next at least: 1 / command rate
  double insertion_loss_db = 0.0;    ///< of one pass, at its worst; 0: unknown
  std::optional<PipMeshSpec> pip{};  ///< none: a crossbar, which joins any matching of its ports

  /// The switch's share of a reconfiguration that switches for so long, without a queue.
  [[nodiscard]] ReconfigurationDelays delays(Duration switching) const { return {{}, switching, settle, link_up, {}}; }
  /// Switching, settling and link bring-up.
  [[nodiscard]] Duration typical() const { return delays(reconfiguration.typical()).total(); }
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

}  // namespace photonrail
