// Bills of materials by either rule.
#include "core/field.hpp"
#include "cost/clos.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace photonrail {

namespace {

using core::field;
using core::FieldError;
using cost::Endpoints;
using cost::Wiring;

constexpr double kMostLanes = 1e6;

template <class Member>
double sum(const std::vector<BillLine>& lines, Member member) {
  return std::accumulate(lines.begin(), lines.end(), 0.0, [&](double s, const BillLine& line) { return s + line.*member; });
}

// Lines of installed things and their spares.
class Draft {
 public:
  explicit Draft(double spare_share) : spare_share_(spare_share) {}

  void things(const char* what, const PricedItem& item, std::uint64_t count) { add({what, 0, 0, 0, count}, item); }

  void switches(const char* what, const PricedItem& item, const Wiring& wiring) {
    for (const cost::Stage& stage : wiring.stages) {
      add({what, ++tier_, item.ports, stage.ports_used, stage.switches}, item);
    }
  }

  std::vector<BillLine> take() { return std::move(lines_); }

 private:
  void add(BillLine line, const PricedItem& item) {
    line.spares = static_cast<std::uint64_t>(std::ceil(static_cast<double>(line.count) * spare_share_ * (1.0 - 1e-12)));
    line.usd = static_cast<double>(line.count + line.spares) * item.usd;
    line.power_w = static_cast<double>(line.count) * item.watts;
    lines_.push_back(std::move(line));
  }

  double spare_share_;
  std::uint32_t tier_ = 0;
  std::vector<BillLine> lines_;
};

// The same switch with another number of ports: price and power in proportion.
PricedItem scaled(PricedItem item, std::uint32_t ports) {
  const double by = static_cast<double>(ports) / item.ports;
  item.ports = ports;
  item.usd *= by;
  item.watts *= by;
  return item;
}

PricedItem electrical_switch(const NetworkShape& shape, const PriceCatalogue& catalogue) {
  return shape.radix == 0 ? catalogue.electrical_switch : scaled(catalogue.electrical_switch, shape.radix);
}

PricedItem optical_switch(const NetworkShape& shape, const PriceCatalogue& catalogue) {
  PricedItem item = catalogue.optical_switch;
  if (!shape.optical) return item;
  const OpticalSwitchSpec& given = *shape.optical;
  if (given.pip && (given.usd_per_port == 0.0 || given.power_w == 0.0)) {
    throw FieldError(field("cluster.rail.optical.pip"), "catalogues have no price of a mesh of programmable photonics",
                     "give the switch a usd_per_port and a power_w");
  }
  if (given.ports > 0) item = scaled(item, given.ports);
  if (given.pip && given.ports == 0) item.ports = 2 * shape.servers * (shape.nic_ports / std::max(shape.planes, 1U));
  if (given.usd_per_port > 0.0) item.usd = given.usd_per_port * item.ports;
  if (given.power_w > 0.0) item.watts = given.power_w;
  return item;
}

// Ports of the catalogue that carry a NIC port. They are switched alike, so that each is a network of its own.
std::uint64_t lanes(const NetworkShape& shape, const PriceCatalogue& catalogue) {
  const double ratio = shape.nic_port.bytes_per_second / catalogue.port.bytes_per_second;
  core::require(ratio <= kMostLanes, field("cluster.nic.per_port"), "is more than a million of the catalogue's ports",
                "a rate that can be built");
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(ratio * (1.0 - 1e-12))));
}

// A mesh for each rail and plane: circuits of two rails would take each other's room.
Wiring meshes(std::uint64_t count, std::uint64_t circuits) { return {{{count, 2 * circuits * count}}, 0}; }

// Both at once, stage by stage.
Wiring beside(Wiring a, const Wiring& b) {
  a.stages.resize(std::max(a.stages.size(), b.stages.size()));
  for (std::size_t s = 0; s < b.stages.size(); ++s) {
    a.stages[s].switches += b.stages[s].switches;
    a.stages[s].ports_used += b.stages[s].ports_used;
  }
  a.links += b.links;
  return a;
}

// Holds what is above the switches of pods.
struct PodLayer {
  Wiring wiring;
  std::uint64_t uplinks = 0;       // fibre pairs between the pods' switches and the layer, of all rails
  std::uint64_t transceivers = 0;  // at the layer's ends of them
};

PodLayer optical_layer(const NetworkShape& shape, std::uint64_t rails, std::uint64_t planes, std::uint32_t ports) {
  const std::uint64_t in_plane = shape.nic_ports / planes;
  const std::uint64_t pods = (shape.servers + shape.pods.servers - 1) / shape.pods.servers;
  const std::uint64_t crossbars = rails * planes * shape.pods.servers * in_plane;  // one for each uplink of a pod
  return {cost::optical_clos(crossbars, pods, ports), rails * shape.servers * shape.nic_ports, 0};
}

PodLayer electrical_layer(const NetworkShape& shape, std::uint64_t rails, const PriceCatalogue& catalogue) {
  const auto uplinks = [&](std::uint64_t servers) {
    const double ports = static_cast<double>(servers * shape.nic_ports) / shape.pods.oversubscription;
    return static_cast<std::uint64_t>(std::ceil(ports * (1.0 - 1e-12)));
  };
  const std::uint64_t full = shape.servers / shape.pods.servers;
  const std::uint64_t of_rail = full * uplinks(shape.pods.servers) + uplinks(shape.servers % shape.pods.servers);
  PodLayer layer{cost::folded_clos({rails, 1, of_rail}, catalogue.electrical_switch.ports, {}), rails * of_rail, 0};
  layer.transceivers = layer.uplinks + 2 * layer.wiring.links;  // light passes the pods' switches as it is
  return layer;
}

std::vector<BillLine> of_pods(const NetworkShape& shape, const PriceCatalogue& catalogue, std::uint64_t planes,
                              Draft draft) {
  const PricedItem ocs = optical_switch(shape, catalogue);
  const std::uint64_t rails = lanes(shape, catalogue) * shape.gpus_per_server;
  const std::uint64_t in_plane = shape.nic_ports / planes;
  const std::uint64_t rest = shape.servers % shape.pods.servers;  // servers of one more pod
  // A NIC port takes a circuit of its pod's switch, and its uplink another one.
  Wiring first = cost::optical_clos(rails * planes * (shape.servers / shape.pods.servers),
                                    2 * shape.pods.servers * in_plane, ocs.ports);
  if (rest > 0) first = beside(first, cost::optical_clos(rails * planes, 2 * rest * in_plane, ocs.ports));
  const bool optical = shape.pods.layer == PodSpec::Layer::kOptical;
  const PodLayer layer =
      optical ? optical_layer(shape, rails, planes, ocs.ports) : electrical_layer(shape, rails, catalogue);
  const std::uint64_t nic_links = rails * shape.servers * shape.nic_ports;
  draft.switches("optical switch", ocs, first);
  draft.switches(optical ? "optical switch" : "electrical switch", optical ? ocs : catalogue.electrical_switch,
                 layer.wiring);
  draft.things("transceiver", catalogue.transceiver, nic_links + layer.transceivers);
  draft.things("fibre pair", catalogue.fibre_pair, nic_links + layer.uplinks + first.links + layer.wiring.links);
  return draft.take();
}

std::vector<BillLine> physical(NetworkFabric fabric, const NetworkShape& shape, const PriceCatalogue& catalogue) {
  const std::uint64_t width = lanes(shape, catalogue);
  const std::uint64_t rails = shape.gpus_per_server;
  const std::uint64_t rail_ports = std::uint64_t{shape.servers} * shape.nic_ports;
  const std::uint64_t nic_links = width * rails * rail_ports;
  Draft draft(catalogue.spare_share);
  if (fabric == NetworkFabric::kPhotonicRail) {
    const PricedItem ocs = optical_switch(shape, catalogue);
    const std::uint64_t planes = std::clamp<std::uint64_t>(shape.planes, 1, shape.nic_ports);
    if (shape.pods.servers > 0) return of_pods(shape, catalogue, planes, std::move(draft));
    const std::uint64_t in_plane = (shape.nic_ports + planes - 1) / planes;  // ports of a NIC, at most
    const bool mesh = shape.optical && shape.optical->pip;
    const Wiring wiring = mesh ? meshes(width * rails * planes, shape.servers * in_plane)
                               : cost::optical_clos(width * rails * planes, shape.servers * in_plane, ocs.ports);
    draft.switches(mesh ? "programmable mesh" : "optical switch", ocs, wiring);
    draft.things("transceiver", catalogue.transceiver, nic_links);
    draft.things("fibre pair", catalogue.fibre_pair, nic_links + wiring.links);
    return draft.take();
  }
  const Endpoints ends = fabric == NetworkFabric::kFatTree         ? Endpoints{width, 1, rails * rail_ports}
                         : fabric == NetworkFabric::kRailOptimised ? Endpoints{width, rails, rail_ports}
                                                                   : Endpoints{width * rails, 1, rail_ports};
  const PricedItem item = electrical_switch(shape, catalogue);
  const Wiring wiring = cost::folded_clos(ends, item.ports, {shape.oversubscription, shape.fewer_spines});
  draft.switches("electrical switch", item, wiring);
  draft.things("transceiver", catalogue.transceiver, 2 * (nic_links + wiring.links));
  draft.things("fibre pair", catalogue.fibre_pair, nic_links + wiring.links);
  return draft.take();
}

std::uint64_t artifact_fat_tree_ports(std::uint64_t gpus) {
  const auto k = static_cast<std::uint64_t>(std::llround(std::cbrt(4.0 * static_cast<double>(gpus))));
  return k * (k * k + k * k / 4);
}

std::uint64_t artifact_rail_ports(std::uint64_t servers, std::uint64_t gpus_per_server) {
  const auto k = static_cast<std::uint64_t>(std::llround(std::sqrt(4.0 * static_cast<double>(servers))));
  const std::uint64_t a_rail = 2 * (servers / (k / 2));
  return k * (a_rail * gpus_per_server + gpus_per_server * servers / k);
}

std::vector<BillLine> opus_artifact(NetworkFabric fabric, const NetworkShape& shape, const PriceCatalogue& catalogue) {
  Draft draft(0.0);
  const std::uint64_t gpus = shape.gpus();
  if (fabric == NetworkFabric::kPhotonicRail) {
    const bool of_pods = shape.pods.servers > 0;
    if (of_pods || (shape.optical && shape.optical->pip)) {
      throw FieldError(field(of_pods ? "cluster.rail.pods" : "cluster.rail.optical.pip"),
                       "the rule opus_artifact counts ports of crossbars, one a rail", "the rule physical");
    }
    draft.things("optical switch port", scaled(catalogue.optical_switch, 1), 2 * gpus);
    draft.things("transceiver", catalogue.transceiver, gpus);
    return draft.take();
  }
  if (fabric == NetworkFabric::kRailOnly) {
    throw ConfigError("", "the rule opus_artifact has no rail_only", "rail_optimised, or the rule physical");
  }
  const std::uint64_t ports = fabric == NetworkFabric::kFatTree ? artifact_fat_tree_ports(gpus)
                                                                : artifact_rail_ports(shape.servers, shape.gpus_per_server);
  draft.things("electrical switch port", scaled(catalogue.electrical_switch, 1), ports);
  draft.things("transceiver", catalogue.transceiver, gpus + (catalogue.artifact_switch_transceivers ? ports : 0));
  return draft.take();
}

}  // namespace

double Bill::usd() const { return sum(lines, &BillLine::usd); }
double Bill::power_w() const { return sum(lines, &BillLine::power_w); }

Bill bill_of_materials(NetworkFabric fabric, const NetworkShape& shape, const Pricing& pricing) {
  pricing.validate();
  const bool artifact = pricing.rule == CostRule::kOpusArtifact;
  return {fabric, (artifact ? opus_artifact : physical)(fabric, shape, pricing.catalogue)};
}

std::vector<FabricCost> cost_of_fabrics(const NetworkShape& shape, const Pricing& pricing) {
  std::vector<FabricCost> rows;
  for (const NetworkFabric fabric : priced_fabrics(pricing.rule)) {
    const Bill bill = bill_of_materials(fabric, shape, pricing);
    rows.push_back({fabric, shape.gpus(), bill.usd(), bill.power_w()});
  }
  return rows;
}

namespace {

// 0: unknown of some.
double mean_gpu_power_w(const ClusterSpec& cluster) {
  if (!cluster.has_other_models()) return cluster.gpu.power_w;
  double sum = 0.0;
  for (const std::uint32_t number : cluster.unlike_of_gpus()) {
    const double power_w = cluster.gpu_model(number).power_w;
    if (power_w <= 0.0) return 0.0;
    sum += power_w;
  }
  return sum / cluster.gpus();
}

}  // namespace

CostSummary cost_of(const ClusterSpec& cluster, const Pricing& pricing, Duration step, std::uint64_t ranks,
                    double utilisation) {
  CostSummary summary;
  summary.catalogue = pricing.catalogue.name;
  summary.rule = pricing.rule;
  summary.bill = bill_of_materials(fabric_of(cluster, pricing.rule), network_shape(cluster), pricing);
  const double seconds = to_seconds(step);
  summary.network_energy_per_step_j = summary.bill.power_w() * seconds;
  if (const double power_w = mean_gpu_power_w(cluster); power_w > 0.0) {
    const double idle = pricing.catalogue.gpu_idle_share;
    const double computing = static_cast<double>(ranks) * utilisation;  // GPUs, on average
    const double share = idle * cluster.gpus() + (1.0 - idle) * computing;
    summary.gpu_energy_per_step_j = power_w * share * seconds;
  }
  return summary;
}

}  // namespace photonrail
