// The cost is what the network of a cluster costs and draws: a bill of materials from prices and watts that come as data,
// and the energy of a step. Pure functions. GPUs and servers are the same under every network and are not on the bill.
#pragma once

#include "photonrail/cluster.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// One thing that can be bought.
struct PricedItem {
  std::string name;
  std::uint32_t ports = 1;
  double usd = 0.0;    ///< each
  double watts = 0.0;  ///< each, all the time
  std::string source;  ///< where both come from
};

/// Prices and watts of one generation of the network: `photonrail.catalogue/1` as a value.
struct PriceCatalogue {
  std::string name;
  std::string note;
  Bandwidth port = Bandwidth::from_gb_per_s(50);  ///< of a switch port and a transceiver, each direction
  std::uint32_t gpus_per_server = 8;              ///< where no cluster says it
  PricedItem electrical_switch;
  PricedItem optical_switch;  ///< a circuit takes two of its ports
  PricedItem transceiver;
  PricedItem fibre_pair;  ///< a cable: one fibre each way
  /// kOpusArtifact: electrical fabrics have a transceiver on every switch port besides one a GPU.
  bool artifact_switch_transceivers = true;
  double spare_share = 0.0;  ///< spares over what is installed, rounded up; kPhysical only
  std::string spare_source;
  double gpu_idle_share = 0.0;  ///< of a GPU's power, while it does not compute
  std::string gpu_idle_source;
};

enum class CostRule : std::uint8_t {
  kPhysical,     ///< whole switches by their radix and tiers, both ends of every link, spares
  kOpusArtifact  ///< as published with Opus (arXiv 2602.12521): formulas for port counts, no limits of switches
};

/// The network that joins the GPUs of different servers. All but kPhotonicRail are electrical.
enum class NetworkFabric : std::uint8_t {
  kFatTree,        ///< any GPU to any GPU
  kRailOptimised,  ///< leaves by rail, and tiers above that join the rails
  kRailOnly,       ///< every rail alone: what RailKind::kElectrical simulates
  kPhotonicRail    ///< every rail alone, of optical circuit switches
};
[[nodiscard]] std::string_view name(CostRule rule);
[[nodiscard]] std::string_view name(NetworkFabric fabric);
/// Returns what the rule can price.
[[nodiscard]] std::vector<NetworkFabric> priced_fabrics(CostRule rule);

struct Pricing {
  PriceCatalogue catalogue;
  CostRule rule = CostRule::kPhysical;

  /// Throws ConfigError whose `where` is the field, "catalogue.port".
  void validate() const;
};

/// Holds what of a cluster its network depends on.
struct NetworkShape {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t nic_ports = 1;    ///< of a GPU
  Bandwidth nic_port{};           ///< 0: the catalogue's. A faster one takes several ports of the catalogue
  std::uint32_t radix = 0;        ///< of electrical switches, at the catalogue's price a port; 0: the catalogue's
  double oversubscription = 1.0;  ///< down / up, of electrical switches next to the NICs
  bool fewer_spines = false;      ///< these keep half of their ports down, and have ports to spare
  std::uint32_t planes = 1;       ///< optical: OCSs side by side among which the NIC's ports are dealt out
  /// Where its ports, price and power are given they go before the catalogue's; a mesh (`pip`) has none there.
  std::optional<OpticalSwitchSpec> optical{};
  PodSpec pods{};  ///< optical: servers that share a switch of their own, and what joins these

  [[nodiscard]] std::uint64_t gpus() const { return std::uint64_t{servers} * gpus_per_server; }
};
[[nodiscard]] NetworkShape network_shape(const ClusterSpec& cluster);
/// Servers of the catalogue, a NIC port a GPU. Throws ConfigError unless they come out even.
[[nodiscard]] NetworkShape network_shape(const PriceCatalogue& catalogue, std::uint32_t gpus);

struct BillLine {
  std::string item;              ///< "electrical switch", "optical switch", "transceiver", "fibre pair"; "... port"
  std::uint32_t tier = 0;        ///< of switches: 1 is next to the NICs
  std::uint32_t ports = 0;       ///< of one switch
  std::uint64_t ports_used = 0;  ///< of all of them: with a fibre in
  std::uint64_t count = 0;       ///< installed
  std::uint64_t spares = 0;      ///< on the shelf: they cost, and draw nothing
  double usd = 0.0;              ///< of the line, spares among it
  double power_w = 0.0;          ///< of the line
};

struct Bill {
  NetworkFabric fabric = NetworkFabric::kFatTree;
  std::vector<BillLine> lines;

  [[nodiscard]] double usd() const;      ///< all lines, spares with them
  [[nodiscard]] double power_w() const;  ///< all lines, without spares: they are not powered
};

/// kOpusArtifact. k of a fat tree: round((4 gpus)^(1/3)), k (k^2 + floor(k^2 / 4)) ports. Rail-optimised: k = round(sqrt(4
/// servers)), 2 floor(servers / floor(k / 2)) switches a rail and floor(gpus / k) spines of k ports. Photonic: two OCS
/// ports a GPU. It prices a port of a GPU, whatever the shape's NIC is; no kRailOnly.
///
/// kPhysical. Electrical: a folded Clos network (Clos 1953; Al-Fares et al., SIGCOMM 2008) of switches of `radix` ports,
/// with as many tiers as it needs. Optical: one OCS a rail; a rail that outgrows it becomes a Clos network of three or more
/// stages that can be rearranged for any matching (Slepian and Duguid: as many middle switches as an outer one has inputs).
/// Small rails share a switch. Rails of pods: for each pod an OCS (or a Clos network) with an uplink for every NIC port, or
/// for ports / `pods.oversubscription`; above them an electrical network of the rail's uplinks, with transceivers at its
/// ends, or crossbars of one circuit a pod, one for each uplink of a pod. Meshes of programmable photonics: one for each
/// rail and plane, never shared. Throws ConfigError: what cannot be built or has no price.
[[nodiscard]] Bill bill_of_materials(NetworkFabric fabric, const NetworkShape& shape, const Pricing& pricing);

/// The fabric that a cluster of the simulator has under the rule.
[[nodiscard]] NetworkFabric fabric_of(const ClusterSpec& cluster, CostRule rule);

/// A row of a comparison.
struct FabricCost {
  NetworkFabric fabric = NetworkFabric::kFatTree;
  std::uint64_t gpus = 0;
  double usd = 0.0;
  double power_w = 0.0;
};
/// Everything that the rule can price, for the same servers and NICs; in the order of priced_fabrics().
[[nodiscard]] std::vector<FabricCost> cost_of_fabrics(const NetworkShape& shape, const Pricing& pricing);

/// Of a run.
struct CostSummary {
  std::string catalogue;
  CostRule rule = CostRule::kPhysical;
  Bill bill;
  double network_energy_per_step_j = 0.0;
  std::optional<double> gpu_energy_per_step_j;  ///< absent where the power of the GPU is unknown
};

/// `step`: mean over the run. `ranks` GPUs compute for the share `utilisation` of it, in [0, 1]; the others never. A GPU
/// draws its power (GpuSpec::power_w) while it computes and gpu_idle_share of it otherwise; the network draws all of its
/// power all the time. Leaves out: CPUs, fans, cooling, conversion losses.
[[nodiscard]] CostSummary cost_of(const ClusterSpec& cluster, const Pricing& pricing, Duration step, std::uint64_t ranks,
                                  double utilisation);

}  // namespace photonrail
