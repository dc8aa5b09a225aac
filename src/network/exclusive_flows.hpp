// Flows that share no capacity of their path. The end of such a flow is known when it starts, one event delivers it, and
// its capacities forget it lazily. What its channel sends next along the same path is known as well, and costs one event
// too.
#pragma once

#include "engine/engine.hpp"
#include "network/arrivals.hpp"
#include "network/channels.hpp"
#include "network/flow_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

class ExclusiveFlows {
 public:
  /// What an exclusive flow is built from. All must outlive the object. `rates`: of the capacities, bytes per picosecond.
  struct Parts {
    engine::Engine& engine;
    FlowTable& flows;
    Channels& channels;
    Arrivals& arrivals;
    const std::vector<double>& rates;
  };
  explicit ExclusiveFlows(const Parts& parts) : parts_(parts) {}

  void resize(std::size_t capacities) { occupants_.resize(capacities, kNone); }

  /// The flow that has the capacity to itself and has not left, or kNone.
  [[nodiscard]] FlowId occupant(CapacityId id) {
    FlowId& flow = occupants_[id];
    if (flow != kNone && parts_.flows[flow].left_at <= parts_.engine.now()) flow = kNone;
    return flow;
  }
  /// The flow that had the capacity to itself last and has not arrived, or kNone.
  [[nodiscard]] FlowId last_occupant(CapacityId id) const { return occupants_[id]; }
  /// Whether no exclusive flow is on the path of the channel's last flow but that one, the new path is the same, and all
  /// its capacities have a rate: what stands still has no end that could be known.
  [[nodiscard]] bool can_follow(ChannelId channel, const Path& path) const;

  /// REQUIRES: no other flow has one of the capacities between `begin` and its end, and all have a rate.
  void start(FlowId id, Time begin);
  /// The same, of one part alone: a flow of several parts on the capacity gives way to one for each of them, which still
  /// arrive together, in order. Makes room for hops.
  [[nodiscard]] FlowId sole_occupant(CapacityId id);
  /// The flow, and those that its channel would send after it, are exclusive no longer: those to come wait in the channel.
  /// Returns the flow that is sending, with what it has left, or kNone.
  [[nodiscard]] FlowId withdraw(FlowId id);

  /// Bytes per picosecond.
  [[nodiscard]] double rate(const Flow& flow) const;
  [[nodiscard]] double unsent(const Flow& flow) const;

 private:
  void arrived(std::uint64_t first);
  void take_apart(FlowId id);
  void part_from(FlowId id);

  Parts parts_;
  std::vector<FlowId> occupants_;  // by capacity: the exclusive flow that holds it, the last of its channel; may have left
};

}  // namespace photonrail::network
