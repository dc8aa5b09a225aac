// The part of Network that solves rates.
#include "network/network.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <span>

namespace photonrail {

namespace {

constexpr double kSlack = 1e-12;      // of a capacity or a rate: closer than this is equal
constexpr int kMostRounds = 12;       // of flows that join; after that all that are connected do
constexpr std::uint32_t kResum = 64;  // changes of a sum, beyond one a flow, before it is summed afresh

bool clearly_above(double a, double b) { return a > b + kSlack * b; }

}  // namespace

void Network::settle(std::uint64_t) {
  settle_scheduled_ = false;
  if (dirty_.empty()) return;
  ++mark_;
  moved_.clear();
  old_rates_.clear();
  free_dirty();
  for (int round = 0;; ++round) {
    prepare();
    fill();
    if (round == kMostRounds) {
      move_component();
      prepare();
      fill();
    }
    if (!upset()) break;
  }
  commit();
  flows_solved_ += moved_.size();
}

// Who must be solved at the least: flows that are new, and those whose bottleneck changed.
void Network::free_dirty() {
  for (const FlowId id : fresh_) move(id);
  fresh_.clear();
  for (const CapacityId id : dirty_) {
    Capacity& capacity = capacities_[id];
    capacity.dirty = false;
    if (capacity.changes > capacity.flows.size() + kResum) sum_up(capacity);
    while (capacity.bound != kNone) move(capacity.bound);
    // A capacity that shrank below what flows with other bottlenecks take of it.
    if (clearly_above(capacity.used, capacity.rate)) {
      for (const FlowId flow : capacity.flows) move(flow);
    }
  }
  dirty_.clear();
}

void Network::sum_up(Capacity& capacity) {
  capacity.used = capacity.fastest = 0.0;
  for (const FlowId id : capacity.flows) {
    capacity.used += flows_[id].rate;
    capacity.fastest = std::max(capacity.fastest, flows_[id].rate);
  }
  capacity.changes = 0;
}

// The flow takes part in the solution: it has no bottleneck until it is given one.
void Network::move(FlowId id) {
  Flow& flow = flows_[id];
  if (flow.mark == mark_) return;
  flow.mark = mark_;
  if (flow.bottleneck != kNoHop) unbind(id);
  moved_.push_back(id);
  old_rates_.push_back(flow.rate);
}

// Everything that shares a capacity with something that shares ... with a moved flow.
void Network::move_component() {
  for (std::size_t next = 0; next < moved_.size(); ++next) {
    const Path path = flows_[moved_[next]].path;
    for (const CapacityId hop : path.hops()) {
      for (const FlowId flow : capacities_[hop].flows) move(flow);
    }
  }
}

void Network::bind(FlowId id) {
  Flow& flow = flows_[id];
  Capacity& capacity = capacities_[flow.path.hops()[flow.bottleneck]];
  flow.bound_before = kNone;
  flow.bound_after = capacity.bound;
  if (capacity.bound != kNone) flows_[capacity.bound].bound_before = id;
  capacity.bound = id;
}

void Network::unbind(FlowId id) {
  Flow& flow = flows_[id];
  Capacity& capacity = capacities_[flow.path.hops()[flow.bottleneck]];
  (flow.bound_before == kNone ? capacity.bound : flows_[flow.bound_before].bound_after) = flow.bound_after;
  if (flow.bound_after != kNone) flows_[flow.bound_after].bound_before = flow.bound_before;
  flow.bottleneck = kNoHop;
}

// What the flows that stay leave to those that move.
void Network::prepare() {
  around_.clear();
  ++round_mark_;
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    Flow& flow = flows_[moved_[i]];
    flow.rate = -1.0;  // not frozen yet
    for (const CapacityId hop : flow.path.hops()) {
      Capacity& capacity = capacities_[hop];
      if (capacity.mark != round_mark_) {
        capacity.mark = round_mark_;
        capacity.left = capacity.rate - capacity.used;
        capacity.unfrozen = 0;
        capacity.fastest_moved = 0.0;
        capacity.new_level = -1.0;
        around_.push_back(hop);
      }
      capacity.left += old_rates_[i];
      ++capacity.unfrozen;
    }
  }
}

void Network::push_candidate(CapacityId id) {
  const Capacity& capacity = capacities_[id];
  heap_.push_back({fair_share(capacity), id});
  std::push_heap(heap_.begin(), heap_.end(), later_candidate);
}

// Progressive filling: the capacity with the least fair share is the bottleneck of its flows, and so on with the rest.
void Network::fill() {
  heap_.clear();
  for (const CapacityId id : around_) {
    heap_.push_back({fair_share(capacities_[id]), id});
  }
  std::make_heap(heap_.begin(), heap_.end(), later_candidate);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later_candidate);
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    const Capacity& capacity = capacities_[candidate.capacity];
    if (capacity.unfrozen == 0) continue;
    // Shares only grow while flows freeze: an entry that is too low is put back with the present share.
    if (fair_share(capacity) > candidate.share) {
      push_candidate(candidate.capacity);
    } else {
      freeze(candidate.capacity, candidate.share);
    }
  }
}

// The flows through a bottleneck that have no rate yet get its fair share.
void Network::freeze(CapacityId bottleneck, double rate) {
  capacities_[bottleneck].new_level = rate;
  for (const FlowId flow_id : capacities_[bottleneck].flows) {
    Flow& flow = flows_[flow_id];
    if (flow.rate >= 0.0) continue;
    flow.rate = rate;
    const auto hops = flow.path.hops();
    for (std::size_t h = 0; h < hops.size(); ++h) {
      Capacity& capacity = capacities_[hops[h]];
      if (hops[h] == bottleneck) flow.bottleneck = static_cast<std::uint8_t>(h);
      capacity.left -= rate;
      capacity.fastest_moved = std::max(capacity.fastest_moved, rate);
      --capacity.unfrozen;
    }
  }
}

// Whether the solution takes the bottleneck of a flow that stayed. Those flows move.
bool Network::upset() {
  const std::size_t before = moved_.size();
  for (const CapacityId id : around_) upset_on(id);
  if (moved_.size() == before) return false;
  for (std::size_t i = 0; i < before; ++i) flows_[moved_[i]].bottleneck = kNoHop;
  return true;
}

void Network::upset_on(CapacityId id) {
  Capacity& capacity = capacities_[id];
  const bool full = capacity.left <= kSlack * capacity.rate;
  if (capacity.bound != kNone) {  // flows that stayed: they are the fastest here, at the old level
    const bool other_level = capacity.new_level >= 0.0 && (clearly_above(capacity.new_level, capacity.level) ||
                                                           clearly_above(capacity.level, capacity.new_level));
    if (full && !other_level && !clearly_above(capacity.fastest_moved, capacity.level)) return;
    while (capacity.bound != kNone) move(capacity.bound);
    return;
  }
  if (capacity.new_level < 0.0 || !clearly_above(capacity.fastest, capacity.new_level)) return;
  // A new bottleneck: no flow may be faster here. The bound may be old, so that it is made anew.
  capacity.fastest = 0.0;
  for (const FlowId flow_id : capacity.flows) {
    if (flows_[flow_id].mark == mark_) continue;
    if (clearly_above(flows_[flow_id].rate, capacity.new_level)) {
      move(flow_id);
    } else {
      capacity.fastest = std::max(capacity.fastest, flows_[flow_id].rate);
    }
  }
}

void Network::commit() {
  for (const CapacityId id : around_) {
    Capacity& capacity = capacities_[id];
    capacity.used = capacity.rate - capacity.left;
    capacity.fastest = std::max(capacity.fastest, capacity.fastest_moved);
    if (capacity.new_level >= 0.0) capacity.level = capacity.new_level;
    ++capacity.changes;
  }
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    bind(moved_[i]);
    apply(moved_[i], old_rates_[i]);
  }
}

// Reschedules the departure of a flow whose rate changed.
void Network::apply(FlowId id, double old_rate) {
  Flow& flow = flows_[id];
  PHOTONRAIL_CHECK(flow.rate >= 0.0);
  if (flow.rate == old_rate && flow.event) return;
  advance(flow, old_rate);
  engine_.cancel(flow.event);
  flow.event = {};
  if (flow.remaining > 0.0 && flow.rate <= 0.0) return;  // stopped: a later change will wake it
  const Duration needed = flow.remaining > 0.0 ? round_up_picoseconds(flow.remaining / flow.rate) : Duration{0};
  flow.event = engine_.schedule(engine_.now() + needed, Phase::kFinish, Action::to<&Network::left>(*this, id));
}

}  // namespace photonrail
