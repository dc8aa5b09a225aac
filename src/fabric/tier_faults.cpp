#include "fabric/tier_faults.hpp"

namespace photonrail::fabric {

TierFaults::TierFaults(const Parts& parts) : parts_(parts), active_(parts.faults) {
  active_.schedule<&TierFaults::begin, &TierFaults::end>(parts_.engine, *this,
                                                         [](const PortFault& fault) { return !fault.of_ports(); });
}

void TierFaults::begin(std::uint64_t index) {
  active_.begin(index);
  change_rates(parts_.faults[index]);
}

void TierFaults::end(std::uint64_t index) {
  active_.end(index);
  change_rates(parts_.faults[index]);
}

double TierFaults::share(RailId rail, std::uint32_t leaf, std::uint32_t uplink) const {
  return active_.share([&](const PortFault& fault) {
    return fault.of_uplinks() && fault.rail.value_or(rail) == rail && fault.leaf.value_or(leaf) == leaf &&
           fault.uplink.value_or(uplink) == uplink;
  });
}

// Without a fault the capacity of a leaf has its rate to the last bit, however the rates of its uplinks add up.
void TierFaults::change_rates(const PortFault& changed) {
  if (changed.site_link) return change_link(*changed.site_link);
  const PlantSpec& plant = parts_.plant.spec();
  parts_.capacities.each_leaf([&](RailId rail, std::uint32_t leaf) {
    if (changed.rail.value_or(rail) != rail || changed.leaf.value_or(leaf) != leaf) return;
    Bandwidth rate = plant.leaf_rate();
    for (std::uint32_t u = 0; u < plant.uplink_count(); ++u) {
      const double left = share(rail, leaf, u);
      if (parts_.routes != nullptr) parts_.routes->set_share(rail, leaf, u, left);
      if (left < 1.0) rate.bytes_per_second -= (1.0 - left) * plant.uplink_rate(u).bytes_per_second;
    }
    if (parts_.routes != nullptr) return;
    if (rate.bytes_per_second < 1e-9 * plant.leaf_rate().bytes_per_second) rate = {};
    parts_.network.set_rate(parts_.capacities.leaf_up(rail, leaf), rate);
    parts_.network.set_rate(parts_.capacities.leaf_down(rail, leaf), rate);
  });
  if (parts_.routes != nullptr) parts_.routes->settle_faults();
}

void TierFaults::change_link(std::uint32_t link) {
  const double left = active_.share([link](const PortFault& fault) { return fault.site_link == link; });
  for (const SiteLinks::Direction direction : {2 * link, 2 * link + 1}) {
    parts_.network.set_rate(parts_.sites->capacity(direction),
                            {parts_.sites->link(direction).rate.bytes_per_second * left});
  }
}

}  // namespace photonrail::fabric
