// The physical plant: which devices there are and which fibres join them. Ids are arithmetic, so that a plant of a
// million GPUs costs nothing; the Boost graph behind the export is made on demand from the same ids.
#pragma once

#include "photonrail/cluster/scale_up.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

enum class RailKind : std::uint8_t { kElectrical, kOptical };

/// The rule by which a message takes an uplink of its leaf. Uplink u of every leaf leads to spine u of the rail, so that a
/// message comes down over the uplink of the same number.
enum class UplinkRouting : std::uint8_t {
  kFluid,        ///< all uplinks of a leaf are one capacity each way, as if bytes spread over them ideally
  kHash,         ///< one uplink by a hash, whatever its load and its rate (equal-cost multi-path)
  kEqual,        ///< every message is divided equally over the uplinks, to the byte (packet spraying)
  kLeastLoaded,  ///< when the message leaves, the uplink whose bytes still to send take least time (adaptive routing)
  kShares        ///< every message is divided in the proportion of `UplinkSpec::shares` (weighted multi-path)
};

[[nodiscard]] std::string_view name(UplinkRouting routing);  ///< "fluid", "hash", "equal", "least_loaded", "shares"

/// The uplinks of a leaf of an electrical rail of two tiers. Every leaf has the same.
struct UplinkSpec {
  enum class HashBy : std::uint8_t { kMessage, kFlow };

  static constexpr std::uint32_t kMax = 4096;

  std::uint32_t count = 0;         ///< 0: that of `rates`, else cables of the NIC ports' rate for the leaf's bandwidth up
  std::vector<Bandwidth> rates{};  ///< by uplink, each direction; empty: equal parts of the leaf's bandwidth up
  UplinkRouting routing = UplinkRouting::kFluid;
  HashBy hash_by = HashBy::kMessage;  ///< kFlow: all messages between two NICs take the same uplink
  /// By uplink, of the bytes of a message: 0 or more, together 1; empty: in proportion to the rates. Only with kShares.
  std::vector<double> shares{};
};

/// A link between two sites, shared by all that crosses it.
struct SiteLink {
  std::uint32_t a = 0;  ///< sites
  std::uint32_t b = 0;
  Bandwidth rate = Bandwidth::from_gb_per_s(50);  ///< each direction
  Duration latency{};
};

/// The sites of a cluster. A message between sites also crosses the fewest links that lead there, with their latencies: on
/// electrical rails between the leaves, on optical ones beside its circuit.
struct SitesSpec {
  static constexpr std::size_t kMax = 64;

  std::vector<std::uint32_t> servers{};  ///< by site, which have consecutive servers; empty: one site
  std::vector<SiteLink> links{};         ///< no pair of sites twice
};

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
  bool fewer_spines = false;      ///< electrical, two tiers: leaves keep half of their ports down, and have ports to spare
  UplinkSpec uplinks{};           ///< electrical, two tiers
  bool uplinks_fail = false;      ///< electrical, two tiers: some uplink has a fault at some time
  std::uint32_t planes = 1;       ///< optical: NIC port p ends on plane p % planes; a divisor of nic_ports
  std::uint32_t pod_servers = 0;  ///< optical: servers of a pod, which has switches of its own; 0: no pods
  bool optical_pods = false;      ///< pods are joined by circuit switches, not by packet switches

  [[nodiscard]] std::uint32_t gpus() const { return servers * gpus_per_server; }
  [[nodiscard]] std::uint32_t rail_ports() const { return servers * nic_ports; }
  /// A rail of more ports than one switch has needs leaves and spines.
  [[nodiscard]] bool two_tier() const { return rail == RailKind::kElectrical && rail_ports() > switch_radix; }
  /// NIC ports below one leaf: radix x o / (1 + o), or radix / 2 with `fewer_spines`; at least 1; all of the rail's ports
  /// with one tier.
  [[nodiscard]] std::uint32_t ports_per_leaf() const;
  [[nodiscard]] std::uint32_t leaves() const;        ///< per rail
  [[nodiscard]] std::uint32_t uplink_count() const;  ///< of a leaf
  /// The rate of one uplink of a leaf, and of all of them together.
  [[nodiscard]] Bandwidth uplink_rate(std::uint32_t uplink) const;
  [[nodiscard]] Bandwidth leaf_rate() const;
  /// Messages take single uplinks: the routing is not fluid, and there are several.
  [[nodiscard]] bool routes_uplinks() const;
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
