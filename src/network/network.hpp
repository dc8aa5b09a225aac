// Flows with max-min fair rates over every capacity on their path. The parts: FlowTable, Channels, ExclusiveFlows for flows
// that share nothing, SharedFlows with the LevelSolver for those that do (and, where asked for,
// EpochFlows), Arrivals. Network decides with which of them a flow
// is. When another flow wants one of the capacities of an exclusive flow, what is being sent is turned into a shared flow,
// and what its channel was to send later waits.
//
// Leaves out: packets, congestion control and its convergence, losses, the delay between the two ends of a path (a flow
// holds all capacities of its path at the same time).
#pragma once

#include "engine/engine.hpp"
#include "network/arrivals.hpp"
#include "network/channels.hpp"
#include "network/delivery_listener.hpp"
#include "network/exclusive_flows.hpp"
#include "network/flow_table.hpp"
#include "network/path.hpp"
#include "network/shared_flows.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace photonrail::network {

class Network {
 public:
  using ChannelId = network::ChannelId;
  static constexpr std::uint32_t kNone = network::kNone;

  /// Limit on the adaptations of a capacity in one solve; beyond it all levels are filled anew.
  static constexpr std::uint8_t kMaxVisits = 100;

  /// `engine` must outlive the network. `accuracy`: flows of a crowd may end up to this share of their duration too early
  /// or too late (EpochFlows); 0: exact. REQUIRES: 0 <= accuracy < 1, max_visits < 255.
  explicit Network(engine::Engine& engine, double accuracy = 0.0, std::uint8_t max_visits = kMaxVisits);
  Network(const Network&) = delete;  // its parts know each other
  Network& operator=(const Network&) = delete;

  /// Sets the listener for deliveries. It must outlive the network. REQUIRES: nothing has been posted.
  void attach(DeliveryListener& listener) { arrivals_.attach(listener); }

  /// Grows the table of capacities to `count`; new ones have rate 0.
  void resize(std::size_t count);
  /// One more, of rate 0.
  [[nodiscard]] CapacityId add_capacity();
  /// Flows on the capacity get their new share within this instant. Rate 0 stops them.
  void set_rate(CapacityId capacity, Bandwidth rate);

  /// Puts messages that have a marked capacity before them, in flight or waiting in their channels, on other paths with
  /// what they have left. `blocked`: the marks, by capacity; beyond its end is none. `change`: replaces the path of a
  /// message that has so many bytes left, or returns false and leaves it.
  void divert(const std::vector<std::uint8_t>& blocked, const std::function<bool(Path&, Bytes left)>& change);

  /// A channel sends one message at a time, in the order of posting.
  [[nodiscard]] ChannelId open_channel() { return channels_.open(); }
  /// REQUIRES: all its messages have been delivered.
  void close_channel(ChannelId channel) { channels_.close(channel); }

  /// Sends `bytes` along `path`; `tag` comes back to the listener. kNone: starts at once, beside everything else.
  /// REQUIRES: no capacity stands on the path twice.
  void post(ChannelId channel, const Path& path, Bytes bytes, std::uint64_t tag);
  /// Sends a message of `bytes` along each part of the path at once, with tags from `tag` on. The events are those of one
  /// post() for each part. While no other flow shares their capacities, all parts cost as much as one. `standing` is the
  /// caller's memory of this path from its last call: while it is valid, a call costs less still. REQUIRES: rate_of_parts()
  /// is not 0, and path.parts <= kMaxParts.
  using Standing = ExclusiveFlows::Standing;
  void post_parts(const Path& path, Bytes bytes, std::uint64_t tag, Standing& standing);
  static constexpr std::uint32_t kMaxParts = 1024;
  /// The rate that the parts of the path have each when they are alone; 0 when they do not all have the same. `standing`:
  /// of post_parts(); while it is valid, it has the answer.
  [[nodiscard]] Bandwidth rate_of_parts(const Path& path, const Standing& standing = {}) const;
  /// The rate of a flow that is alone on the path; 0 when one of its capacities stands still.
  [[nodiscard]] Bandwidth rate_alone(const Path& path) const;
  /// Reserves room for messages that will be posted at once.
  void expect(std::size_t messages) { flows_.reserve(messages); }

  /// Returns what the messages on a capacity have still to send, those that wait behind them in their channels included.
  [[nodiscard]] Bytes bytes_left(CapacityId capacity) const;

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t flows_solved() const { return shared_.flows_solved(); }
  /// Returns what was not exact.
  [[nodiscard]] const EpochFlows& epochs() const { return shared_.epochs(); }

  /// Tag and rate in bytes per second of each flow that is sending, in the order of their tags, for tests. Settles first.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> rates();

 private:
  void start(FlowId id);
  [[nodiscard]] bool alone(const Flow& flow);
  /// Takes a flow that has the capacity to itself to those that share.
  void share_occupant(CapacityId id);
  void share(FlowId id);
  void pump(ChannelId channel);
  void wake(std::uint64_t channel);
  void depart_now(std::uint64_t) { depart(shared_.take_leaving()); }
  void depart_in_epoch(std::uint64_t) { depart(shared_.take_ended()); }
  void depart(const std::vector<FlowId>& leaving);
  [[nodiscard]] double unsent(const Flow& flow) const;
  [[nodiscard]] double unsent_of_channel(ChannelId id) const;

  engine::Engine& engine_;
  std::vector<double> rates_;  // by capacity, bytes per picosecond
  FlowTable flows_;
  Channels channels_;
  Arrivals arrivals_;
  ExclusiveFlows exclusive_;
  SharedFlows shared_;
  std::uint64_t messages_ = 0;
};

}  // namespace photonrail::network
