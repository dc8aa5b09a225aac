#include "fabric/tier_checks.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "core/printed.hpp"
#include "fabric/site_links.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace photonrail {

using core::Field;
using core::field;

void fabric::require_uplinks(const RailSpec& rail) {
  const UplinkSpec& uplinks = rail.uplinks;
  require(uplinks.count <= UplinkSpec::kMax && uplinks.rates.size() <= UplinkSpec::kMax, field("rail.uplinks.count"),
          "a leaf has at most " + std::to_string(UplinkSpec::kMax) + " uplinks");
  require(uplinks.count == 0 || uplinks.rates.empty() || uplinks.count == uplinks.rates.size(), field("rail.uplinks.rates"),
          "has " + core::counted(uplinks.rates.size(), "rate") + " for " + core::counted(uplinks.count, "uplink"),
          "one rate for each uplink of a leaf, or no {rail.uplinks.count}");
  for (const Bandwidth rate : uplinks.rates) {
    require(rate.bytes_per_second > 0.0 && std::isfinite(rate.bytes_per_second), field("rail.uplinks.rates"),
            "must be finite numbers above 0");
  }
}

void fabric::require_shares(const ClusterSpec& cluster) {
  const UplinkSpec& uplinks = cluster.rail.uplinks;
  if (uplinks.shares.empty()) return;
  const Field where = field("rail.uplinks.shares");
  require(uplinks.routing == UplinkRouting::kShares, where, "only routing \"shares\" has them", "remove them");
  const PlantSpec plant = cluster.plant();
  if (plant.two_tier() || uplinks.count > 0 || !uplinks.rates.empty()) {
    require(
        uplinks.shares.size() == plant.uplink_count(), where,
        "has " + core::counted(uplinks.shares.size(), "share") + " for " + core::counted(plant.uplink_count(), "uplink"),
        "one share for each uplink of a leaf");
  }
  double sum = 0.0;
  for (const double share : uplinks.shares) {
    require(share >= 0.0 && share <= 1.0, where, "must be numbers from 0 to 1, not " + core::printed("%g", share),
            "0 for an uplink that no message takes");
    sum += share;
  }
  constexpr double kRounding = 1e-9;  // of decimals such as 0.1
  require(std::abs(sum - 1.0) <= kRounding, where, "add up to " + core::printed("%.10g", sum),
          "shares that add up to 1, or none for those of the rates");
}

void fabric::require_uplink_fault(const ClusterSpec& cluster, std::size_t i) {
  const PortFault& fault = cluster.rail.faults[i];
  if (!fault.of_uplinks()) return;
  const Field where = fault.leaf ? field("rail.faults[].leaf", i) : field("rail.faults[].uplink", i);
  require(cluster.rail.kind == RailKind::kElectrical, where, "uplinks of leaves are on electrical rails", "remove it");
  const PlantSpec plant = cluster.plant();
  require(plant.two_tier(), where, "the rail is one switch, which has no uplinks",
          "remove it, or a {rail.switch_radix} below " + std::to_string(plant.rail_ports()));
  require(!fault.server && !fault.port && !fault.plane, where, "an uplink belongs to no server",
          "give leaf and uplink, or {rail.faults[].server}");
  require(!fault.leaf || *fault.leaf < plant.leaves(), field("rail.faults[].leaf", i),
          "a rail has " + std::to_string(plant.leaves()) + " leaves, numbered from 0");
  require(!fault.uplink || *fault.uplink < plant.uplink_count(), field("rail.faults[].uplink", i),
          "a leaf has " + core::counted(plant.uplink_count(), "uplink") + ", numbered from 0");
}

void fabric::require_link_fault(const ClusterSpec& cluster, std::size_t i) {
  const PortFault& fault = cluster.rail.faults[i];
  if (!fault.site_link) return;
  const Field where = field("rail.faults[].site_link", i);
  require(*fault.site_link < cluster.sites.links.size(), where,
          "there are " + core::counted(cluster.sites.links.size(), "link") + " between sites, numbered from 0");
  require(!fault.of_uplinks() && !fault.server && !fault.rail && !fault.port && !fault.plane, where,
          "a link between sites belongs to all rails and to no server", "give it alone");
  require(fault.kind != PortFault::Kind::kStuck && fault.detection == Duration{}, where,
          "a link between sites fails or is slow at once", "\"failed\" or \"slow\", without \"detection\"");
}

namespace {

void require_link(const SitesSpec& sites, std::size_t i) {
  const SiteLink& link = sites.links[i];
  require(std::max(link.a, link.b) < sites.servers.size(), field("sites.links[].between", i),
          "there are " + core::counted(sites.servers.size(), "site") + ", numbered from 0");
  require(link.a != link.b, field("sites.links[].between", i), "joins a site to itself", "the numbers of two sites");
  require(link.rate.bytes_per_second > 0.0 && std::isfinite(link.rate.bytes_per_second), field("sites.links[].rate", i),
          "must be a finite number above 0");
  require(link.latency >= Duration{}, field("sites.links[].latency", i), "must not be negative");
  for (std::size_t j = 0; j < i; ++j) {
    require(std::minmax(link.a, link.b) != std::minmax(sites.links[j].a, sites.links[j].b),
            field("sites.links[].between", i), "these two sites are joined already", "one link with the rate of both");
  }
}

}  // namespace

void fabric::require_sites(const ClusterSpec& cluster) {
  const SitesSpec& sites = cluster.sites;
  const Field servers = field("sites.servers");
  if (sites.servers.empty()) {
    return require(sites.links.empty(), servers, "is missing: links join sites", "the servers of each site");
  }
  require(sites.servers.size() <= SitesSpec::kMax, servers,
          "are more than the " + std::to_string(SitesSpec::kMax) + " sites that can be simulated");
  std::uint64_t sum = 0;
  for (const std::uint32_t each : sites.servers) {
    require(each > 0, servers, "a site has no server", "1 or more for each");
    sum += each;
  }
  require(sum == cluster.servers, servers,
          "add up to " + std::to_string(sum) + ", and the cluster has " + core::counted(cluster.servers, "server"),
          "numbers that add up to {servers}");
  for (std::size_t i = 0; i < sites.links.size(); ++i) require_link(sites, i);
  if (const auto parted = SiteLinks::parted(sites)) {
    throw core::FieldError(
        field("sites.links"),
        "no link leads from site " + std::to_string(parted->first) + " to site " + std::to_string(parted->second),
        "links that join all sites");
  }
  const PlantSpec plant = cluster.plant();
  if (!plant.two_tier()) return;
  std::uint64_t port = 0;
  for (std::size_t site = 0; site + 1 < sites.servers.size(); ++site) {
    port += std::uint64_t{sites.servers[site]} * plant.nic_ports;
    require(port % plant.ports_per_leaf() == 0, servers,
            "a leaf of " + core::counted(plant.ports_per_leaf(), "port") + " would have servers of sites " +
                std::to_string(site) + " and " + std::to_string(site + 1),
            "sites of whole leaves, or another {rail.switch_radix}");
  }
}

}  // namespace photonrail
