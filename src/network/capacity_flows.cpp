#include "network/capacity_flows.hpp"

namespace photonrail::network {

namespace {

constexpr double kMaxServed = 1e9;        // bytes; beyond, counting starts again, so that sums keep 1e-7 of a byte
constexpr std::uint32_t kCountFrom = 64;  // bound flows of long paths; below half as many they are not counted any more

}  // namespace

// All flows that are bound to a capacity have the same rate, its level. In place of what each has left, the capacity counts
// the bytes that each of its flows has been served since counting began, and a flow notes the count at which it ends. A
// change of the level then costs one addition, and the order of the ends never changes (virtual time, as in fair queueing).
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

// A path of two capacities, as nearly all are, has the other one noted beside the flow: passing a level on needs no
// look at the flow then.
void CapacityFlows::bind(HopSlot slot, double remaining) {
  const Hop& hop = flows_.hop(slot);
  Flow& flow = flows_[hop.flow];
  Capacity& capacity = capacities_[hop.capacity];
  flow.bottleneck = slot;
  ++flows_on_[hop.capacity];
  const CapacityId other = flow.hops == 2 ? flows_.hop(2 * flow.first_hop + 1 - slot).capacity : kNone;
  if (flow.hops != 2) bind_long_path(capacity, slot);
  heap_insert(capacity.bound, BoundFlow{capacity.served + remaining, slot, other},
              [this](const BoundFlow& b, std::uint32_t position) { flows_.set_position(b.slot, position); });
}

void CapacityFlows::unbind(HopSlot slot) {
  const Hop& hop = flows_.hop(slot);
  Capacity& capacity = capacities_[hop.capacity];
  --flows_on_[hop.capacity];
  if (flows_[hop.flow].hops != 2) unbind_long_path(capacity, slot);
  heap_remove(capacity.bound, hop.position,
              [this](const BoundFlow& b, std::uint32_t position) { flows_.set_position(b.slot, position); });
}

// Counting costs a search in a table for each hop of a flow that comes or goes, so that it pays with many flows only.
void CapacityFlows::bind_long_path(Capacity& capacity, HopSlot slot) {
  const auto count = [&](HopSlot counted) {
    const Hop& here = flows_.hop(counted);
    for (const Hop& crossed : flows_.hops_of(flows_[here.flow])) {
      if (crossed.capacity != here.capacity) capacity.crossings.add(crossed.capacity);
    }
  };
  ++capacity.long_paths;
  ++long_paths_;
  if (!capacity.counted && capacity.long_paths > kCountFrom) {
    capacity.counted = true;
    for (const BoundFlow& flow : capacity.bound) {
      if (flow.other == kNone) count(flow.slot);
    }
  }
  if (capacity.counted) count(slot);
}

void CapacityFlows::unbind_long_path(Capacity& capacity, HopSlot slot) {
  --capacity.long_paths;
  --long_paths_;
  if (!capacity.counted) return;
  if (capacity.long_paths < kCountFrom / 2) {
    capacity.counted = false;
    capacity.crossings.clear();
    return;
  }
  const Hop& here = flows_.hop(slot);
  for (const Hop& crossed : flows_.hops_of(flows_[here.flow])) {
    if (crossed.capacity != here.capacity) capacity.crossings.remove(crossed.capacity);
  }
}

double CapacityFlows::unsent(HopSlot slot, double level) const {
  const Hop& hop = flows_.hop(slot);
  const Capacity& capacity = capacities_[hop.capacity];
  const double served = capacity.served + level * static_cast<double>((engine_.now() - capacity.since).count());
  return std::max(0.0, capacity.bound[hop.position].finish - served);
}

}  // namespace photonrail::network
