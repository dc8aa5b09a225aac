// Bills of materials by either rule.
#include "cost/clos.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace photonrail {

namespace {

using cost::Endpoints;
using cost::Wiring;

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
    std::uint32_t tier = 0;
    for (const cost::Stage& stage : wiring.stages) {
      add({what, ++tier, item.ports, stage.ports_used, stage.switches}, item);
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
  if (given.ports > 0) item = scaled(item, given.ports);
  if (given.usd_per_port > 0.0) item.usd = given.usd_per_port * item.ports;
  if (given.power_w > 0.0) item.watts = given.power_w;
  return item;
}

// Ports of the catalogue that carry a NIC port. They are switched alike, so that each is a network of its own.
std::uint64_t lanes(const NetworkShape& shape, const PriceCatalogue& catalogue) {
  const double ratio = shape.nic_port.bytes_per_second / catalogue.port.bytes_per_second;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(ratio * (1.0 - 1e-12))));
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
    const std::uint64_t in_plane = (shape.nic_ports + planes - 1) / planes;  // ports of a NIC, at most
    const Wiring wiring = cost::optical_clos(width * rails * planes, shape.servers * in_plane, ocs.ports);
    draft.switches("optical switch", ocs, wiring);
    draft.things("transceiver", catalogue.transceiver, nic_links);
    draft.things("fibre pair", catalogue.fibre_pair, nic_links + wiring.links);
    return draft.take();
  }
  const Endpoints ends = fabric == NetworkFabric::kFatTree         ? Endpoints{width, 1, rails * rail_ports}
                         : fabric == NetworkFabric::kRailOptimised ? Endpoints{width, rails, rail_ports}
                                                                   : Endpoints{width * rails, 1, rail_ports};
  const PricedItem item = electrical_switch(shape, catalogue);
  const Wiring wiring = cost::folded_clos(ends, item.ports, shape.oversubscription);
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

CostSummary cost_of(const ClusterSpec& cluster, const Pricing& pricing, Duration step, std::uint64_t ranks,
                    double utilisation) {
  CostSummary summary;
  summary.catalogue = pricing.catalogue.name;
  summary.rule = pricing.rule;
  summary.bill = bill_of_materials(fabric_of(cluster, pricing.rule), network_shape(cluster), pricing);
  const double seconds = to_seconds(step);
  summary.network_energy_per_step_j = summary.bill.power_w() * seconds;
  if (cluster.gpu.power_w > 0.0) {
    const double idle = pricing.catalogue.gpu_idle_share;
    const double computing = static_cast<double>(ranks) * utilisation;  // GPUs, on average
    const double share = idle * cluster.gpus() + (1.0 - idle) * computing;
    summary.gpu_energy_per_step_j = cluster.gpu.power_w * share * seconds;
  }
  return summary;
}

}  // namespace photonrail
