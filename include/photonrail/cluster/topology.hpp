// The physical plant: which devices there are and which fibres join them. Ids are arithmetic, so that a plant of a
// million GPUs costs nothing; the Boost graph behind the export is made on demand from the same ids.
#pragma once

#include "photonrail/cluster/scale_up.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>

namespace photonrail {

enum class RailKind : std::uint8_t { kElectrical, kOptical };

/// Holds what the plant is made of.
struct PlantSpec {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t nic_ports = 1;
  Bandwidth nic_port;  ///< each direction
  Bandwidth scale_up;  ///< each direction: see ScaleUpSpec::per_gpu
  ScaleUpShape shape{};
  RailKind rail = RailKind::kElectrical;
  std::uint32_t switch_radix = 64;  ///< electrical: ports of one rail switch
  double oversubscription = 1.0;    ///< electrical, two tiers: bandwidth down / bandwidth up of a leaf; >= 1
  std::uint32_t planes = 1;         ///< optical: NIC port p ends on plane p % planes; a divisor of nic_ports
  std::uint32_t pod_servers = 0;    ///< optical: servers of a pod, which has switches of its own; 0: no pods
  bool optical_pods = false;        ///< pods are joined by circuit switches, not by packet switches

  [[nodiscard]] std::uint32_t gpus() const { return servers * gpus_per_server; }
  [[nodiscard]] std::uint32_t rail_ports() const { return servers * nic_ports; }
  /// A rail of more ports than one switch has needs leaves and spines.
  [[nodiscard]] bool two_tier() const { return rail == RailKind::kElectrical && rail_ports() > switch_radix; }
  /// NIC ports below one leaf: radix x o / (1 + o), at least 1; all of the rail's ports with one tier.
  [[nodiscard]] std::uint32_t ports_per_leaf() const;
  [[nodiscard]] std::uint32_t leaves() const;  ///< per rail
};

/// The plant as Graphviz: servers as clusters, a node per GPU, NIC port, scale-up fabric, rail switch or OCS; an edge
/// per cable, labelled with its rate each way. A torus or a ring has links between GPUs and no scale-up fabric.
[[nodiscard]] std::string to_graphviz(const PlantSpec& spec);

/// Devices and cables, counted by walking the graph.
struct PlantSummary {
  std::size_t gpus = 0;
  std::size_t nic_ports = 0;
  std::size_t scale_up_fabrics = 0;
  std::size_t electrical_switches = 0;
  std::size_t optical_switches = 0;
  std::size_t cables = 0;
  bool connected = false;  ///< every GPU reaches every GPU of its rail
};
/// Counts of the graph that `photonrail validate --graphviz` draws.
[[nodiscard]] PlantSummary summarize(const PlantSpec& spec);

}  // namespace photonrail
