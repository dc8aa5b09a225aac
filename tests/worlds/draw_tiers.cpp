// What joins the leaves of electrical rails, and sites.
#include "photonrail/cluster/topology.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace photonrail::worlds {

namespace {

PlantSpec plant_of(const Extent& extent, const Json& cluster) {
  PlantSpec plant;
  plant.servers = extent.servers;
  plant.gpus_per_server = extent.gpus_per_server;
  plant.nic_ports = extent.ports;
  plant.rail = extent.optical ? RailKind::kOptical : RailKind::kElectrical;
  const Json& rail = cluster["rail"];
  plant.switch_radix = rail.value("radix", 64U);
  plant.oversubscription = rail.value("oversubscription", 1.0);
  plant.fewer_spines = rail.value("fewer_spines", false);
  if (rail.contains("uplinks")) plant.uplinks.count = rail["uplinks"].value("count", 0U);
  return plant;
}

Json draw_uplinks(Dice& dice, const Json& cluster) {
  Json uplinks = Json::object();
  if (dice.one_in(2)) uplinks["count"] = dice.from_to(1, 5);
  if (dice.one_in(3)) {
    const auto rate = cluster["nic"]["port_gb_per_s"].get<double>();
    const std::uint32_t count = uplinks.value("count", dice.from_to(1, 4));
    for (std::uint32_t u = 0; u < count; ++u) uplinks["gb_per_s"].push_back(rate * dice.pick<double>({1, 1, 0.5, 3}));
    uplinks["count"] = count;
  }
  uplinks["routing"] = dice.pick<std::string>({"fluid", "hash", "hash", "equal", "shares", "least_loaded"});
  if (uplinks["routing"] == "hash" && dice.one_in(2)) uplinks["hash_by"] = dice.one_in(2) ? "flow" : "message";
  return uplinks;
}

// At least one uplink has a share.
Json draw_shares(Dice& dice, std::uint32_t count) {
  std::vector<std::uint32_t> parts(count);
  parts[dice.from_to(0, count - 1)] = 1;
  for (std::uint32_t& part : parts) part += dice.from_to(0, 3);
  const double whole = std::accumulate(parts.begin(), parts.end(), 0U);
  Json shares = Json::array();
  for (const std::uint32_t part : parts) shares.push_back(part / whole);
  return shares;
}

// Any of them may cut leaves, or sites, off from each other for good.
Json draw_tier_fault(Dice& dice) {
  Json fault{{"kind", dice.one_in(2) ? "failed" : "slow"}, {"at_us", dice.pick<double>({0, 1, 5, 20, 70, 500})}};
  if (fault["kind"] == "slow") fault["rate"] = dice.pick<double>({1, 0.5, 0.25});
  if (!dice.one_in(8)) fault["lasts_us"] = dice.pick<double>({0, 1, 10, 40, 3000});
  return fault;
}

Json draw_uplink_fault(Dice& dice, const PlantSpec& plant) {
  Json fault = draw_tier_fault(dice);
  const bool leaf = dice.one_in(2);
  if (leaf) fault["leaf"] = dice.from_to(0, plant.leaves() - 1);
  if (!leaf || dice.one_in(2)) fault["uplink"] = dice.from_to(0, plant.uplink_count() - 1);
  if (dice.one_in(3)) fault["rail"] = dice.from_to(0, plant.gpus_per_server - 1);
  return fault;
}

// Servers below a leaf: sites have whole leaves. 0: none can be cut so.
std::uint32_t servers_of_leaf(const PlantSpec& plant) {
  if (!plant.two_tier()) return 1;
  return plant.ports_per_leaf() % plant.nic_ports == 0 ? plant.ports_per_leaf() / plant.nic_ports : 0;
}

Json draw_sites(Dice& dice, const PlantSpec& plant) {
  const std::uint32_t unit = servers_of_leaf(plant);
  Json sites = Json::object();
  if (unit == 0 || plant.servers <= unit) return sites;
  std::uint32_t left = plant.servers;
  while (left > unit && (sites.empty() || dice.one_in(2))) {
    const std::uint32_t most = (left - 1) / unit;
    sites["servers"].push_back(unit * dice.from_to(1, most));
    left -= sites["servers"].back().get<std::uint32_t>();
  }
  sites["servers"].push_back(left);
  sites["links"] = Json::array();
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    Json link{{"between", {a, b}}, {"gb_per_s", dice.pick<double>({1, 12.5, 50})}};
    if (!dice.one_in(3)) link["latency_us"] = dice.pick<double>({1, 30, 2000});
    sites["links"].push_back(link);
  };
  const auto count = static_cast<std::uint32_t>(sites["servers"].size());
  for (std::uint32_t site = 1; site < count; ++site) join(dice.from_to(0, site - 1), site);
  return sites;
}

}  // namespace

void draw_tiers(Dice& dice, const Extent& extent, Json& cluster) {
  Json& rail = cluster["rail"];
  if (!extent.optical && extent.servers > 1 && dice.one_in(2)) {
    rail["radix"] = dice.pick<std::uint32_t>({2, 4, 4, 8});
    if (dice.one_in(2)) rail["oversubscription"] = dice.pick<double>({1, 2, 3});
  }
  if (!extent.optical && dice.one_in(2)) rail["uplinks"] = draw_uplinks(dice, cluster);
  const PlantSpec plant = plant_of(extent, cluster);
  if (rail.contains("uplinks") && rail["uplinks"]["routing"] == "shares" && !dice.one_in(3)) {
    rail["uplinks"]["shares"] = draw_shares(dice, plant.uplink_count());
  }
  if (plant.two_tier() && dice.one_in(2)) {
    if (!rail.contains("faults")) rail["faults"] = Json::array();
    for (std::uint32_t left = dice.from_to(1, 2); left > 0; --left)
      rail["faults"].push_back(draw_uplink_fault(dice, plant));
  }
  if (!dice.one_in(3)) return;
  const Json sites = draw_sites(dice, plant);
  if (sites.empty()) return;
  if (dice.one_in(3)) {
    if (!rail.contains("faults")) rail["faults"] = Json::array();
    rail["faults"].push_back(draw_tier_fault(dice));
    rail["faults"].back()["site_link"] = dice.from_to(0, static_cast<std::uint32_t>(sites["links"].size()) - 1);
  }
  cluster["sites"] = sites;  // last: it may move what `rail` refers to
}

}  // namespace photonrail::worlds
