// The part of Network that solves rates: progressive filling over the component that a change reaches.
#include "network/network.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

void Network::settle(std::uint64_t) {
  settle_scheduled_ = false;
  if (dirty_.empty()) return;
  collect_component();
  old_rates_.resize(part_flows_.size());
  for (std::size_t i = 0; i < part_flows_.size(); ++i) {
    Flow& flow = flows_[part_flows_[i]];
    advance(flow);
    old_rates_[i] = flow.rate;
    flow.rate = -1.0;  // not frozen yet
  }
  fill();
  for (std::size_t i = 0; i < part_flows_.size(); ++i) apply(part_flows_[i], old_rates_[i]);
  flows_solved_ += part_flows_.size();
}

// Everything that shares a capacity with something that shares ... with a dirty one. Nothing else can change its rate.
void Network::collect_component() {
  ++mark_;
  part_capacities_.clear();
  part_flows_.clear();
  for (const CapacityId id : dirty_) {
    capacities_[id].dirty = false;
    if (capacities_[id].mark == mark_ || capacities_[id].flows.empty()) continue;
    capacities_[id].mark = mark_;
    part_capacities_.push_back(id);
  }
  dirty_.clear();
  for (std::size_t next = 0; next < part_capacities_.size(); ++next) {
    for (const FlowId flow_id : capacities_[part_capacities_[next]].flows) {
      Flow& flow = flows_[flow_id];
      if (flow.mark == mark_) continue;
      flow.mark = mark_;
      part_flows_.push_back(flow_id);
      for (const CapacityId hop : flow.path.hops()) {
        if (capacities_[hop].mark == mark_) continue;
        capacities_[hop].mark = mark_;
        part_capacities_.push_back(hop);
      }
    }
  }
}

void Network::push_candidate(CapacityId id) {
  const Capacity& capacity = capacities_[id];
  heap_.push_back({capacity.left / capacity.unfrozen, id});
  std::push_heap(heap_.begin(), heap_.end(), [](const Candidate& a, const Candidate& b) {
    return a.share != b.share ? a.share > b.share : a.capacity > b.capacity;
  });
}

void Network::fill() {
  heap_.clear();
  for (const CapacityId id : part_capacities_) {
    Capacity& capacity = capacities_[id];
    capacity.left = capacity.rate;
    capacity.unfrozen = static_cast<std::uint32_t>(capacity.flows.size());
    if (capacity.unfrozen > 0) push_candidate(id);
  }
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), [](const Candidate& a, const Candidate& b) {
      return a.share != b.share ? a.share > b.share : a.capacity > b.capacity;
    });
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    const Capacity& capacity = capacities_[candidate.capacity];
    // A capacity is pushed again whenever its share changes; older entries are out of date.
    if (capacity.unfrozen == 0 || capacity.left / capacity.unfrozen != candidate.share) continue;
    freeze(candidate.capacity, candidate.share);
  }
}

// The flows through a bottleneck that have no rate yet get its fair share.
void Network::freeze(CapacityId bottleneck, double rate) {
  for (const FlowId flow_id : capacities_[bottleneck].flows) {
    Flow& flow = flows_[flow_id];
    if (flow.rate >= 0.0) continue;
    flow.rate = rate;
    for (const CapacityId hop : flow.path.hops()) {
      Capacity& capacity = capacities_[hop];
      capacity.left = std::max(0.0, capacity.left - rate);
      --capacity.unfrozen;
      if (hop != bottleneck && capacity.unfrozen > 0) push_candidate(hop);
    }
  }
}

// Reschedules the departure of a flow whose rate changed.
void Network::apply(FlowId id, double old_rate) {
  Flow& flow = flows_[id];
  PHOTONRAIL_CHECK(flow.rate >= 0.0);
  if (flow.rate == old_rate && flow.event) return;
  engine_.cancel(flow.event);
  flow.event = {};
  if (flow.remaining > 0.0 && flow.rate <= 0.0) return;  // stopped: a later change will wake it
  const Duration needed = flow.remaining > 0.0 ? round_up_picoseconds(flow.remaining / flow.rate) : Duration{0};
  flow.event = engine_.schedule(engine_.now() + needed, Phase::kFinish, Action::to<&Network::left>(*this, id));
}

}  // namespace photonrail
