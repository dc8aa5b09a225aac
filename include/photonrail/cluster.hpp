// The cluster of a scenario: servers, GPUs, NICs, rails.
#pragma once

#include "photonrail/device.hpp"
#include "photonrail/topology.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>

namespace photonrail {

/// The scale-up fabric of a server: every GPU reaches every other through one port of its own.
struct ScaleUpSpec {
  Bandwidth per_gpu = Bandwidth::from_gb_per_s(450);  ///< each direction
  Duration latency{};
};

struct NicSpec {
  std::uint32_t ports = 1;
  Bandwidth per_port = Bandwidth::from_gb_per_s(50);  ///< each direction
  Duration latency{};                                 ///< GPU to GPU over a rail with one switch
  Duration message_overhead{};  ///< the port's gap between two messages; also paid by scale-up messages
};

/// What happens when a controller darkens a circuit that carries bytes.
enum class OnDark : std::uint8_t { kError, kPause };

struct RailSpec {
  RailKind kind = RailKind::kElectrical;
  // electrical
  std::uint32_t switch_radix = 64;
  double oversubscription = 1.0;
  Duration tier_latency{};  ///< added to a path that crosses leaf, spine and leaf
  // optical
  OpticalSwitchSpec optical{};
  bool forwarding = false;  ///< a send may hop over other GPUs of its rail where no circuit joins its ends
  OnDark on_dark = OnDark::kError;
};

/// gpu = server * gpus_per_server + local index; the GPUs of one local index share a rail.
struct ClusterSpec {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  GpuSpec gpu{};
  ScaleUpSpec scale_up{};
  NicSpec nic{};
  RailSpec rail{};

  [[nodiscard]] std::uint32_t gpus() const { return servers * gpus_per_server; }
  [[nodiscard]] PlantSpec plant() const;
  /// Throws ConfigError whose `where` is the JSON pointer below /cluster: counts and rates must be positive and finite,
  /// and the OCS must have two ports for every NIC port of the rail.
  void validate() const;
};

}  // namespace photonrail
