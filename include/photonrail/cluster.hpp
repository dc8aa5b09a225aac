// The cluster of a scenario: servers, GPUs, NICs, rails.
#pragma once

#include "photonrail/cluster/device.hpp"
#include "photonrail/cluster/scale_up.hpp"
#include "photonrail/cluster/topology.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

struct NicSpec {
  std::uint32_t ports = 1;
  Bandwidth per_port = Bandwidth::from_gb_per_s(50);  ///< each direction
  Duration latency{};                                 ///< GPU to GPU over a rail with one switch
  Duration message_overhead{};     ///< the port's gap between two messages; also paid by scale-up messages
  double optical_budget_db = 0.0;  ///< loss that a transceiver pair bridges; 0: not checked
  /// Number of neighbouring GPUs of a server that share one NIC, with all its ports: messages of each rail leave and arrive
  /// over the same ports (72 GPUs with 18 NICs: 4). A divisor of the GPUs of a server; above 1 electrical rails only.
  std::uint32_t gpus = 1;
};

/// The consequence when a controller darkens a circuit that carries bytes: an error, or its messages wait for light.
enum class OnDark : std::uint8_t { kError, kPause };

/// A NIC port of an optical rail that failed (no light in or out), or is stuck: the switch can no longer re-point its
/// fibres, and the circuits that they are in stay; or is slow. What is not given is every rail, server or port: a server is
/// a NIC of each rail, a rail and a server a NIC, a rail and a plane an OCS. On electrical rails, where a message spreads
/// over all ports of its NIC, whole NICs fail (what they carry stands still) or are slow.
struct PortFault {
  /// kSlow: the port sends and receives at a share of its rate (fail-slow); its circuits can be changed as ever.
  enum class Kind : std::uint8_t { kFailed, kStuck, kSlow };

  Kind kind = Kind::kFailed;
  std::optional<RailId> rail{};
  std::optional<std::uint32_t> server{};
  std::optional<std::uint32_t> port{};   ///< of the NIC
  Time at{};                             ///< 0: from the start
  std::optional<Duration> lasts{};       ///< nothing: to the end of the run
  std::optional<std::uint32_t> plane{};  ///< the NIC's ports of this plane, where no port is given
  /// kFailed: for so long the control plane does not know it (a time-out, a heartbeat). Light is gone at once, bytes on its
  /// circuits stand still, and the controller is shown circuits that are switching. On electrical rails nothing asks.
  Duration detection{};
  /// kSlow: the share of its rate, from 1e-6 to 1. Several of one port multiply; a circuit is as fast as its slower end.
  double rate = 1.0;
  /// Electrical rails of two tiers: with one of these the fault is of uplinks, in both directions; what is not given is
  /// every rail, leaf or uplink. No server, port or plane beside them.
  std::optional<std::uint32_t> leaf{};
  std::optional<std::uint32_t> uplink{};

  /// With it the fault is of a link between sites (SitesSpec::links), in both directions, and of nothing else.
  std::optional<std::uint32_t> site_link{};

  [[nodiscard]] bool of_uplinks() const { return leaf || uplink; }
  [[nodiscard]] bool of_ports() const { return !of_uplinks() && !site_link; }
};

/// Switches smaller than the rail: each pod of so many consecutive servers has switches of its own, with as many uplinks
/// as NIC ports. `kElectrical`: packet switches join the pods; all uplinks of a pod together are a capacity each way.
/// `kOptical`: more circuit switches of the same kind join them, without blocking (a folded Clos network).
struct PodSpec {
  enum class Layer : std::uint8_t { kElectrical, kOptical };

  std::uint32_t servers = 0;  ///< 0: one switch a rail and plane
  Layer layer = Layer::kElectrical;
  double oversubscription = 1.0;  ///< electrical: bandwidth of a pod's NIC ports / bandwidth between the pods
  Duration latency{};             ///< added to a circuit between pods
};

struct RailSpec {
  RailKind kind = RailKind::kElectrical;
  // electrical
  std::uint32_t switch_radix = 64;
  double oversubscription = 1.0;
  bool fewer_spines = false;  ///< see PlantSpec
  Duration tier_latency{};    ///< added to a path that crosses leaf, spine and leaf
  UplinkSpec uplinks{};
  // optical
  OpticalSwitchSpec optical{};
  bool forwarding = false;  ///< a send may hop over other GPUs of its rail where no circuit joins its ends
  OnDark on_dark = OnDark::kError;
  std::uint32_t planes = 1;  ///< switches side by side; NIC port p is wired to plane p % planes
  PodSpec pods{};
  std::vector<PortFault> faults{};
};

/// gpu = server * gpus_per_server + local index; the GPUs of one local index share a rail.
struct ClusterSpec {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  GpuSpec gpu{};
  ScaleUpSpec scale_up{};
  NicSpec nic{};
  RailSpec rail{};
  std::vector<UnlikeGpus> unlike{};  ///< no GPU twice
  SitesSpec sites{};

  [[nodiscard]] std::uint32_t gpus() const { return servers * gpus_per_server; }
  [[nodiscard]] PlantSpec plant() const;
  /// For each GPU the number of its entry in `unlike`, from 1, or 0. Empty: none is unlike. REQUIRES: valid.
  [[nodiscard]] std::vector<std::uint32_t> unlike_of_gpus() const;
  /// The model of the GPUs with such a number, and their memory.
  [[nodiscard]] const GpuSpec& gpu_model(std::uint32_t unlike_number) const;
  [[nodiscard]] double memory_gb(std::uint32_t unlike_number) const;    ///< 1e9 bytes; 0: unknown
  [[nodiscard]] bool has_other_models() const;                          ///< whether an entry of `unlike` names its GPU
  [[nodiscard]] double peak_tflops(std::span<const GpuId> gpus) const;  ///< of all of them together
  /// Throws ConfigError whose `where` is the field, "rail.optical.ports": counts and rates must be positive and finite,
  /// the OCS must have two ports for every NIC port that is wired to it, and for every uplink, and the shape of the
  /// scale-up fabric must hold the GPUs of a server.
  void validate() const;
};

}  // namespace photonrail
