#include "network/level_check.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace photonrail::network {

namespace {

constexpr std::size_t kMaxFlows = 48;
constexpr double kTolerance = 1e-6;  // relative; the solver's own slack is 1e-12 for each of its steps

struct Capacity {
  double left = 0.0;     // of the rate, by the flows that are frozen
  std::size_t open = 0;  // crossings of flows that are not frozen
  double rate = 0.0;
};

/// The max-min fair rates by flow, by progressive filling as in a textbook: the capacity with the least rate for each of
/// its open flows freezes these.
std::vector<double> plain_rates(const FlowTable& flows, const std::vector<FlowId>& shared,
                                const std::vector<double>& rates) {
  std::map<CapacityId, Capacity> capacities;
  for (const FlowId id : shared) {
    for (const Hop& hop : flows.hops_of(flows[id])) {
      Capacity& capacity = capacities[hop.capacity];
      capacity.left = capacity.rate = std::max(0.0, rates[hop.capacity]);
      ++capacity.open;
    }
  }
  std::vector<double> found(shared.size(), -1.0);
  for (std::size_t open = shared.size(); open > 0;) {
    CapacityId fullest = kNone;
    double level = kUnlimited;
    for (const auto& [id, capacity] : capacities) {
      if (capacity.open == 0) continue;
      const double share = std::max(0.0, capacity.left) / static_cast<double>(capacity.open);
      if (share >= level) continue;
      level = share;
      fullest = id;
    }
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const auto hops = flows.hops_of(flows[shared[i]]);
      const bool crosses = std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.capacity == fullest; });
      if (found[i] >= 0.0 || !crosses) continue;
      found[i] = level;
      --open;
      for (const Hop& hop : hops) {
        Capacity& capacity = capacities[hop.capacity];
        capacity.left -= level;
        --capacity.open;
      }
    }
  }
  return found;
}

}  // namespace

void check_levels(const FlowTable& flows, const CapacityFlows& lists, const std::vector<double>& rates,
                  const std::vector<double>& levels) {
  std::set<FlowId> all;
  for (CapacityId id = 0; id < rates.size(); ++id) {
    for (const BoundFlow& flow : lists.bound(id)) all.insert(flows.hop(flow.slot).flow);
    for (const CrossingFlow& flow : lists.others(id)) all.insert(flows.hop(flow.slot).flow);
    if (all.size() > kMaxFlows) return;
  }
  const std::vector<FlowId> shared(all.begin(), all.end());
  const std::vector<double> expected = plain_rates(flows, shared, rates);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const Flow& flow = flows[shared[i]];
    double fastest = 0.0;  // rounding is relative to the capacities, which may be far above a rate
    for (const Hop& hop : flows.hops_of(flow)) fastest = std::max(fastest, rates[hop.capacity]);
    const double rate = flow.bottleneck == kNone ? -1.0 : levels[flows.hop(flow.bottleneck).capacity];
    if (std::abs(rate - expected[i]) <= kTolerance * expected[i] + 1e-9 * fastest) continue;
    throw InternalError("flow " + std::to_string(shared[i]) + " of " + std::to_string(shared.size()) + " has " +
                        std::to_string(rate * 1e3) + " GB/s, and its max-min fair rate is " +
                        std::to_string(expected[i] * 1e3) + " GB/s");
  }
}

}  // namespace photonrail::network
