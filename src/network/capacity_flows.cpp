#include "network/capacity_flows.hpp"

namespace photonrail::network {

namespace {

constexpr double kMaxServed = 1e9;  // bytes; beyond, counting starts again, so that sums keep 1e-7 of a byte

}  // namespace

void CapacityFlows::count_served(CapacityId id, double level) {
  Capacity& capacity = capacities_[id];
  if (capacity.bound.empty()) {
    capacity.served = 0.0;
  } else {
    capacity.served += level * static_cast<double>((engine_.now() - capacity.since).count());
  }
  capacity.since = engine_.now();
  if (capacity.served < kMaxServed) return;
  for (BoundFlow& flow : capacity.bound) flow.finish -= capacity.served;
  capacity.served = 0.0;
}

void CapacityFlows::bind(HopSlot slot, double remaining) {
  const Hop& hop = flows_.hop(slot);
  Flow& flow = flows_[hop.flow];
  Capacity& capacity = capacities_[hop.capacity];
  flow.bottleneck = slot;
  const CapacityId other = flow.hops == 2 ? flows_.hop(2 * flow.first_hop + 1 - slot).capacity : kNone;
  heap_insert(capacity.bound, BoundFlow{capacity.served + remaining, slot, other},
              [this](const BoundFlow& b, std::uint32_t position) { flows_.set_position(b.slot, position); });
}

double CapacityFlows::unsent(HopSlot slot, double level) const {
  const Hop& hop = flows_.hop(slot);
  const Capacity& capacity = capacities_[hop.capacity];
  const double served = capacity.served + level * static_cast<double>((engine_.now() - capacity.since).count());
  return std::max(0.0, capacity.bound[hop.position].finish - served);
}

}  // namespace photonrail::network
