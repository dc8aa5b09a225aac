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
  /// Holds what an exclusive flow is built from. All must outlive the object. `rates`: of the capacities, bytes per
  /// picosecond.
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
    const FlowId flow = occupants_[id];
    if (flow == kNone || parts_.flows[flow].left_at > parts_.engine.now()) return flow;
    if (parts_.flows[flow].parts > 1) stop_standing(flow);
    return occupants_[id] = kNone;
  }
  /// The flow that had the capacity to itself last and has not arrived, or kNone.
  [[nodiscard]] FlowId last_occupant(CapacityId id) const {
    const FlowId flow = occupants_[id];
    return flow != kNone && parts_.flows[flow].state == FlowState::kStanding ? kNone : flow;
  }
  /// Returns true when no exclusive flow is on the path of the channel's last flow but that one, the new path is the same,
  /// and all its capacities have a rate: what stands still has no end that could be known.
  [[nodiscard]] bool can_follow(ChannelId channel, const Path& path) const;

  /// REQUIRES: no other flow has one of the capacities between `begin` and its end, and all have a rate.
  void start(FlowId id, Time begin);

  /// A flow of several parts that keeps its path when it has arrived, until another flow wants one of its capacities or one
  /// of them gets another rate: the next message of the same path finds it without a look at the capacities.
  struct Standing {
    FlowId flow = kNone;
    std::uint32_t serial = 0;
    double rate = 0.0;  ///< bytes per picosecond
  };
  /// start() at once, of a flow that stands from then on. REQUIRES: it has several parts.
  [[nodiscard]] Standing start_standing(FlowId id);
  [[nodiscard]] bool stands(const Standing& standing) const {
    if (standing.flow == kNone) return false;
    const Flow& flow = parts_.flows[standing.flow];
    return flow.state == FlowState::kStanding && flow.bottleneck == standing.serial;
  }
  /// Starts the next message now. REQUIRES: stands(), and the path has the same capacities.
  void start_again(const Standing& standing, const Path& path, Bytes bytes, std::uint64_t tag);
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
  void stop_standing(FlowId id);
  void part_from(FlowId id);

  Parts parts_;
  std::vector<FlowId> occupants_;  // by capacity: the exclusive flow that holds it, the last of its channel; may have left
  std::uint32_t standings_ = 0;    // so far
};

}  // namespace photonrail::network
