// The network of a cluster as far as its price goes, and the words for it.
#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/study/cost.hpp"

#include <cmath>

namespace photonrail {

namespace {

using core::field;

bool amount(double x) { return x >= 0.0 && std::isfinite(x); }

}  // namespace

std::string_view name(CostRule rule) { return rule == CostRule::kPhysical ? "physical" : "opus_artifact"; }

std::string_view name(NetworkFabric fabric) {
  switch (fabric) {
    case NetworkFabric::kFatTree:
      return "fat_tree";
    case NetworkFabric::kRailOptimised:
      return "rail_optimised";
    case NetworkFabric::kRailOnly:
      return "rail_only";
    case NetworkFabric::kPhotonicRail:
      break;
  }
  return "photonic_rail";
}

std::vector<NetworkFabric> priced_fabrics(CostRule rule) {
  using enum NetworkFabric;
  if (rule == CostRule::kOpusArtifact) return {kFatTree, kRailOptimised, kPhotonicRail};
  return {kFatTree, kRailOptimised, kRailOnly, kPhotonicRail};
}

void Pricing::validate() const {
  const auto priced = [](const PricedItem& item) { return amount(item.usd) && amount(item.watts); };
  require(catalogue.port.bytes_per_second > 0.0 && std::isfinite(catalogue.port.bytes_per_second), field("catalogue.port"),
          "must be a finite number above 0");
  require(catalogue.gpus_per_server > 0, field("catalogue.gpus_per_server"), "must be 1 or more");
  require(priced(catalogue.electrical_switch), field("catalogue.electrical_switch"),
          "its price and its power must be 0 or more");
  require(priced(catalogue.optical_switch), field("catalogue.optical_switch"), "its price and its power must be 0 or more");
  require(priced(catalogue.transceiver), field("catalogue.transceiver"), "its price and its power must be 0 or more");
  require(priced(catalogue.fibre_pair), field("catalogue.fibre_pair"), "its price and its power must be 0 or more");
  require(catalogue.electrical_switch.ports >= 4, field("catalogue.electrical_switch.ports"), "must be 4 or more");
  require(catalogue.optical_switch.ports >= 4, field("catalogue.optical_switch.ports"),
          "must be 4 or more: a circuit takes two");
  require(amount(catalogue.spare_share) && catalogue.spare_share <= 1.0, field("catalogue.spare_share"),
          "must be from 0 to 1");
  require(amount(catalogue.gpu_idle_share) && catalogue.gpu_idle_share <= 1.0, field("catalogue.gpu_idle_share"),
          "must be from 0 to 1");
}

NetworkShape network_shape(const ClusterSpec& cluster) {
  NetworkShape shape;
  shape.servers = cluster.servers;
  shape.gpus_per_server = cluster.gpus_per_server;
  shape.nic_ports = cluster.nic.ports;
  shape.nic_port = cluster.nic.per_port;
  if (cluster.rail.kind == RailKind::kOptical) {
    shape.pods = cluster.rail.pods;
    shape.optical = cluster.rail.optical;
    shape.planes = cluster.rail.planes;
  } else {
    shape.radix = cluster.rail.switch_radix;
    shape.oversubscription = cluster.rail.oversubscription;
    shape.fewer_spines = cluster.rail.fewer_spines;
  }
  return shape;
}

NetworkShape network_shape(const PriceCatalogue& catalogue, std::uint32_t gpus) {
  NetworkShape shape;
  shape.gpus_per_server = catalogue.gpus_per_server;
  shape.servers = gpus / catalogue.gpus_per_server;
  if (gpus == 0 || gpus % catalogue.gpus_per_server != 0) {
    throw ConfigError("gpus",
                      core::counted(gpus, "GPU") + " cannot fill servers of " + std::to_string(catalogue.gpus_per_server),
                      "a multiple of " + std::to_string(catalogue.gpus_per_server) + ", or another catalogue");
  }
  return shape;
}

NetworkFabric fabric_of(const ClusterSpec& cluster, CostRule rule) {
  if (cluster.rail.kind == RailKind::kOptical) return NetworkFabric::kPhotonicRail;
  return rule == CostRule::kPhysical ? NetworkFabric::kRailOnly : NetworkFabric::kRailOptimised;
}

}  // namespace photonrail
