// The shared flows of each capacity: those that it limits, in the order in which they end, and the others.
//
// Flows of one bottleneck run at one rate whatever becomes of it, so that they end in the order of what they have left. A
// capacity keeps them in that order by the bytes that it will have served to each of its flows when they end (virtual time,
// as in fair queueing), and a new level leaves this order as it is: it changes only the time when the first of them ends.
#pragma once

#include "engine/engine.hpp"
#include "network/crossing_counts.hpp"
#include "network/flow_table.hpp"
#include "network/indexed_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

/// A flow at its bottleneck.
struct BoundFlow {
  double finish;  ///< it ends when its capacity has served so many bytes
  HopSlot slot;
  CapacityId other;  ///< the other capacity of a path of two; kNone: look at the hops

  bool operator<(const BoundFlow& b) const { return finish < b.finish; }
};

/// A flow at another capacity than its bottleneck.
struct CrossingFlow {
  HopSlot slot;
  CapacityId bottleneck;  ///< kNone: it has none yet
};

/// Picoseconds by which sums of rates and of bytes may be wrong. An end that is so close behind a whole picosecond is taken
/// to be there: many ends are whole, and which of two equal flows would be a picosecond late is no property of the job.
inline constexpr double kNoise = 1e-4;

/// `level`: the present rate of the capacity's bound flows, bytes per picosecond.
class CapacityFlows {
 public:
  /// Both must outlive the object.
  CapacityFlows(const engine::Engine& engine, FlowTable& flows) : engine_(engine), flows_(flows) {}

  void resize(std::size_t capacities) {
    capacities_.resize(capacities);
    flows_on_.resize(capacities);
  }

  /// A heap: the flow that ends first is in front.
  [[nodiscard]] const std::vector<BoundFlow>& bound(CapacityId id) const { return capacities_[id].bound; }
  [[nodiscard]] const std::vector<CrossingFlow>& others(CapacityId id) const { return capacities_[id].others; }
  /// Returns what the bound flows of long paths, of other than two capacities, cross. Null where they are too few to be
  /// counted.
  [[nodiscard]] const CrossingCounts* crossings(CapacityId id) const {
    return capacities_[id].counted ? &capacities_[id].crossings : nullptr;
  }
  /// The number of bound flows with a path of two capacities.
  [[nodiscard]] std::size_t pairs(CapacityId id) const { return capacities_[id].bound.size() - capacities_[id].long_paths; }
  /// Returns true when the paths of all flows that are bound have two capacities.
  [[nodiscard]] bool only_pairs() const { return long_paths_ == 0; }
  [[nodiscard]] bool empty(CapacityId id) const { return flows_on_[id] == 0; }

  void add_other(HopSlot slot, CapacityId bottleneck);
  void drop_other(HopSlot slot);
  /// The flow at `slot` has another bottleneck, or kNone.
  void set_bottleneck(HopSlot slot, CapacityId bottleneck) {
    const Hop& hop = flows_.hop(slot);
    capacities_[hop.capacity].others[hop.position].bottleneck = bottleneck;
  }

  /// Counts what the capacity has served until now. REQUIRES: `level` was the same since it last did.
  void advance(CapacityId id, double level) {
    if (capacities_[id].since != engine_.now()) count_served(id, level);
  }
  /// The hop becomes the bottleneck of its flow, which has so many bytes left. REQUIRES: advance() at this instant.
  void bind(HopSlot slot, double remaining);
  void unbind(HopSlot slot);
  /// The bytes that a bound flow has left. REQUIRES: advance() at this instant.
  [[nodiscard]] double remaining(HopSlot slot) const;
  /// The same at any time. Without a trace: looking at a flow must not change how its bytes are summed up.
  [[nodiscard]] double unsent(HopSlot slot, double level) const;
  /// When the first of the bound flows ends, if the level stays. REQUIRES: there is one; no new level since advance().
  [[nodiscard]] Time first_end(CapacityId id, double level) const;

 private:
  struct Capacity {
    Time since{};         // when `served` was up to date
    double served = 0.0;  // bytes to each flow that was bound here all the time
    std::vector<BoundFlow> bound;
    std::vector<CrossingFlow> others;
    CrossingCounts crossings;
    std::uint32_t long_paths = 0;  // bound flows with a path of other than two capacities
    bool counted = false;          // these are in `crossings`
  };

  void count_served(CapacityId id, double level);
  void bind_long_path(Capacity& capacity, HopSlot slot);
  void unbind_long_path(Capacity& capacity, HopSlot slot);

  const engine::Engine& engine_;
  FlowTable& flows_;
  std::vector<Capacity> capacities_;
  std::uint64_t long_paths_ = 0;         // bound flows with a path of other than two capacities
  std::vector<std::uint32_t> flows_on_;  // by capacity: bound and others; every message asks, and most find none
};

inline void CapacityFlows::add_other(HopSlot slot, CapacityId bottleneck) {
  std::vector<CrossingFlow>& others = capacities_[flows_.hop(slot).capacity].others;
  flows_.set_position(slot, static_cast<std::uint32_t>(others.size()));
  others.push_back({slot, bottleneck});
  ++flows_on_[flows_.hop(slot).capacity];
}

inline void CapacityFlows::drop_other(HopSlot slot) {
  const Hop& hop = flows_.hop(slot);
  std::vector<CrossingFlow>& others = capacities_[hop.capacity].others;
  const std::uint32_t position = hop.position;
  others[position] = others.back();
  flows_.set_position(others[position].slot, position);
  others.pop_back();
  --flows_on_[hop.capacity];
}

inline double CapacityFlows::remaining(HopSlot slot) const {
  const Hop& hop = flows_.hop(slot);
  const Capacity& capacity = capacities_[hop.capacity];
  return std::max(0.0, capacity.bound[hop.position].finish - capacity.served);
}

inline Time CapacityFlows::first_end(CapacityId id, double level) const {
  const Capacity& capacity = capacities_[id];
  const double bytes = capacity.bound.front().finish - capacity.served;
  if (bytes <= 0.0) return capacity.since;
  if (level <= 0.0) return Time::never();  // stopped: a later change will wake it
  return capacity.since + round_up_picoseconds(bytes / level - kNoise);
}

}  // namespace photonrail::network
