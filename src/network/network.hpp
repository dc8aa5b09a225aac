// Flows with max-min fair rates over every capacity on their path (progressive filling; Bertsekas and Gallager, Data
// Networks, section 6.5). Rates are solved once an instant, and only for the flows that a change reaches: an allocation is
// max-min fair exactly when every flow has a bottleneck, a full capacity on which no flow is faster. A change is solved
// among the flows that lost theirs; a flow whose bottleneck that upsets joins them, until nobody is left to join.
//
// A flow that meets nobody on its path bypasses the solver: its end is known when it starts, one event delivers it, and the
// capacities forget it lazily. What its channel sends next along the same path is known as well, and costs one event too.
// When another flow wants one of the capacities, the one that is being sent is turned into a shared one, and those to come
// wait.
//
// Leaves out: packets, congestion control and its convergence, losses, the delay between the two ends of a path (a flow
// holds all capacities of its path at the same time).
#pragma once

#include "network/path.hpp"
#include "photonrail/engine.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail {

/// Told when the last byte of a message has arrived.
class DeliveryListener {
 public:
  virtual ~DeliveryListener() = default;
  virtual void delivered(std::uint64_t tag) = 0;
};

class Network {
 public:
  using FlowId = std::uint32_t;
  using ChannelId = std::uint32_t;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint8_t kNoHop = 0xff;

  /// `engine` must outlive the network.
  explicit Network(Engine& engine) : engine_(engine) {}

  /// Who is told of deliveries. It must outlive the network; nothing may be posted before.
  void attach(DeliveryListener& listener) { listener_ = &listener; }

  /// Grows the table of capacities to `count`; new ones have rate 0.
  void resize(std::size_t count) { capacities_.resize(count); }
  /// One more, of rate 0.
  [[nodiscard]] CapacityId add_capacity() {
    capacities_.emplace_back();
    return static_cast<CapacityId>(capacities_.size() - 1);
  }
  /// Flows on the capacity get their new share within this instant. Rate 0 stops them.
  void set_rate(CapacityId capacity, Bandwidth rate);

  /// A channel sends one message at a time, in the order of posting.
  [[nodiscard]] ChannelId open_channel();
  /// REQUIRES: all its messages have been delivered.
  void close_channel(ChannelId channel);

  /// Sends `bytes` along `path`; `tag` comes back to the listener. kNone: starts at once, beside everything else.
  void post(ChannelId channel, const Path& path, Bytes bytes, std::uint64_t tag);

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t flows_solved() const { return flows_solved_; }

  /// Tag and rate in bytes per second of each flow that is sending, in the order of their tags, for tests. Settles first.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> rates();

 private:
  enum class State : std::uint8_t { kFree, kExclusive, kShared, kArriving };

  struct Flow {
    Path path;
    double remaining = 0.0;  // bytes, at `updated`
    double rate = 0.0;       // bytes per picosecond
    Time updated{};          // exclusive: when its first byte leaves, which may be to come
    Time left_at{};          // exclusive: when the last byte leaves
    EventHandle event{};
    std::uint64_t tag = 0;
    ChannelId channel = kNone;
    FlowId next = kNone;  // exclusive: the next of its channel
    State state = State::kFree;
    std::uint8_t bottleneck = kNoHop;  // shared: the hop that limits it
    std::uint32_t mark = 0;            // the solve that last touched it
    FlowId bound_before = kNone;       // in its bottleneck's list of bound flows
    FlowId bound_after = kNone;
    std::vector<std::uint32_t> position;  // shared: where it stands in the list of each hop
  };
  struct Capacity {
    double rate = 0.0;          // bytes per picosecond
    FlowId occupant = kNone;    // the exclusive flow that holds it, the last of its channel, unless that one has left
    double used = 0.0;          // by all shared flows
    double level = 0.0;         // the rate of the flows whose bottleneck this is
    double fastest = 0.0;       // no flow on it is faster
    FlowId bound = kNone;       // the first flow whose bottleneck this is
    std::uint32_t changes = 0;  // of `used` since it was last summed
    bool dirty = false;
    std::vector<FlowId> flows;  // shared
    // solver:
    std::uint32_t mark = 0;  // the solve that last touched it
    std::uint32_t unfrozen = 0;
    double left = 0.0;
    double fastest_moved = 0.0;  // of the flows being solved
    double new_level = -1.0;     // -1: no flow being solved has its bottleneck here
  };
  struct Message {
    Path path;
    Bytes bytes;
    std::uint64_t tag = 0;
    std::uint32_t next = kNone;
  };
  struct Channel {
    Time free_at{};
    FlowId current = kNone;  // a shared flow that holds the channel
    FlowId first =
        kNone;  // exclusive flows that have not arrived, in order: those that left, one that sends, those to come
    FlowId last = kNone;
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    Time wake_at{-1};  // of the last wake-up that was scheduled; one that comes too early does nothing
    std::uint32_t next_free = kNone;
  };
  struct Candidate {
    double share;
    CapacityId capacity;
  };
  // What is left, for each flow that has no rate yet. A capacity that is off has nothing, not even a rounding error.
  [[nodiscard]] static double fair_share(const Capacity& capacity) {
    return capacity.rate > 0.0 ? std::max(0.0, capacity.left) / capacity.unfrozen : 0.0;
  }
  [[nodiscard]] static bool later_candidate(const Candidate& a, const Candidate& b) {
    return a.share != b.share ? a.share > b.share : a.capacity > b.capacity;
  }

  FlowId take_flow(const Path& path, Bytes bytes, std::uint64_t tag, ChannelId channel);
  void free_flow(FlowId id);
  void start(FlowId id);
  [[nodiscard]] bool alone(const Path& path);
  void start_exclusive(FlowId id, Time begin);
  [[nodiscard]] bool can_follow(const Channel& channel, const Path& path) const;
  void enqueue(Channel& channel, const Path& path, Bytes bytes, std::uint64_t tag);
  void share(FlowId id);
  void unshare(FlowId id);
  void make_shared(FlowId id);
  void unravel(ChannelId id);
  void touch(CapacityId capacity);
  void advance(Flow& flow, double rate) const;
  void left(std::uint64_t id);
  void arrived(std::uint64_t id);
  void wake(std::uint64_t channel);
  void pump(ChannelId channel);

  void settle(std::uint64_t);
  void free_dirty();
  void move(FlowId id);
  void move_component();
  void bind(FlowId id);
  void unbind(FlowId id);
  void sum_up(Capacity& capacity);
  void prepare();
  void fill();
  void freeze(CapacityId bottleneck, double rate);
  [[nodiscard]] bool upset();
  void upset_on(CapacityId id);
  void commit();
  void apply(FlowId id, double old_rate);
  void push_candidate(CapacityId capacity);

  Engine& engine_;
  DeliveryListener* listener_ = nullptr;
  std::vector<Capacity> capacities_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_flows_;
  std::vector<Channel> channels_;
  std::uint32_t free_channel_ = kNone;
  std::vector<Message> waiting_;
  std::vector<std::uint32_t> free_waiting_;

  std::vector<CapacityId> dirty_;
  bool settle_scheduled_ = false;
  std::uint32_t mark_ = 0;          // the solve
  std::uint32_t round_mark_ = 0;    // a round of it
  std::vector<FlowId> moved_;       // the flows under solution: they have no bottleneck
  std::vector<double> old_rates_;   // ... and what they had
  std::vector<CapacityId> around_;  // the capacities on their paths
  std::vector<FlowId> fresh_;       // shared since the last solve
  std::vector<Candidate> heap_;

  std::uint64_t messages_ = 0;
  std::uint64_t flows_solved_ = 0;
};

}  // namespace photonrail
