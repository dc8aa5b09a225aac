#include "cost/clos.hpp"

#include "core/field.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::cost {

namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

// Returns the cables up of a leaf with `down` ports down. The slack forgives 6 / 1.2 = 5.000000000000001.
std::uint64_t uplinks(std::uint64_t down, double oversubscription) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(down) / oversubscription * (1.0 - 1e-12)));
}

// PlantSpec::ports_per_leaf() of two tiers.
std::uint64_t ports_down(std::uint64_t radix, const LeafRule& leaf) {
  const double o = leaf.fewer_spines ? 1.0 : leaf.oversubscription;
  const auto down = static_cast<std::uint64_t>(static_cast<double>(radix) * (o / (1.0 + o)) * (1.0 + 1e-12));
  return std::clamp<std::uint64_t>(down, 1, radix - 1);
}

struct Leaves {
  std::uint64_t switches = 0;
  std::uint64_t uplinks = 0;
};

// Returns the leaves of one network, filled one after another: whole groups where they fit, else leaves for each group
// alone.
Leaves first_tier(const Endpoints& e, std::uint64_t down, double oversubscription) {
  const bool share = e.ports <= down;
  const std::uint64_t unit = share ? down / e.ports * e.ports : down;  // ports of a full leaf
  const std::uint64_t filled = share ? e.groups * e.ports : e.ports;   // ports of what fills leaves in a row
  const std::uint64_t times = share ? 1 : e.groups;
  return {times * ceil_div(filled, unit),
          times * (filled / unit * uplinks(unit, oversubscription) + uplinks(filled % unit, oversubscription))};
}

}  // namespace

Wiring folded_clos(const Endpoints& e, std::uint64_t radix, const LeafRule& leaf) {
  Wiring wiring;
  const std::uint64_t ports = e.groups * e.ports;
  if (ports <= radix) {
    wiring.stages.push_back({ceil_div(e.networks, radix / ports), ports * e.networks});
    return wiring;
  }
  if (radix < 4)
    throw core::FieldError(core::field("cluster.rail.switch_radix"), "switches of fewer than 4 ports make no tree",
                           "4 or more");
  const Leaves leaves = first_tier(e, ports_down(radix, leaf), leaf.oversubscription);
  const auto add = [&](std::uint64_t switches, std::uint64_t used) {
    wiring.stages.push_back({switches * e.networks, used * e.networks});
  };
  add(leaves.switches, ports + leaves.uplinks);
  const std::uint64_t links = leaves.uplinks;
  wiring.links = links * e.networks;
  // Every unit below must reach every switch of the top tier: tiers of half down, half up until there are few enough.
  for (std::uint64_t units = leaves.switches; units > radix; units = ceil_div(units, radix / 2)) {
    add(ceil_div(links, radix / 2), 2 * links);
    wiring.links += links * e.networks;
  }
  add(ceil_div(links, radix), links);
  return wiring;
}

Wiring optical_clos(std::uint64_t networks, std::uint64_t circuits, std::uint64_t ports) {
  const std::uint64_t half = ports / 2;
  Wiring wiring;
  while (circuits > half) {
    if (half < 2) {
      throw core::FieldError(core::field("cluster.rail.optical.ports"),
                             "switches of so few ports cannot be joined to a larger one", "4 or more");
    }
    const std::uint64_t outer = ceil_div(circuits, half);
    const std::uint64_t middle = ceil_div(circuits, outer);  // the inputs of an outer switch
    // Each side: inputs or outputs of the rail, and a fibre from every outer switch to every middle crossbar.
    wiring.stages.push_back({2 * outer * networks, 2 * (circuits + outer * middle) * networks});
    wiring.links += outer * middle * networks;
    networks *= middle;
    circuits = outer;
  }
  wiring.stages.push_back({ceil_div(networks, half / circuits), 2 * circuits * networks});
  return wiring;
}

}  // namespace photonrail::cost
