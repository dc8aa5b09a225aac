// Flows with max-min fair rates over every capacity on their path (progressive filling; Bertsekas and Gallager, Data
// Networks, section 6.5). An allocation is max-min fair exactly when every flow has a bottleneck, a full capacity on which
// no flow is faster. So a capacity has a level, the rate of all flows whose bottleneck it is, and the levels are what is
// solved: once an instant, and only those that a change reaches (solver.cpp).
//
// Flows of one bottleneck run at one rate whatever becomes of it, so that they end in the order of what they have left. A
// capacity keeps them in that order by the bytes that it will have served to each of its flows when they end (virtual time,
// as in fair queueing), and a new level leaves this order as it is: it changes only the time when the first of them ends.
//
// A flow that shares no capacity of its path bypasses all this: its end is known when it starts, one event delivers it, and
// the capacities forget it lazily. What its channel sends next along the same path is known as well, and costs one event
// too. When another flow wants one of the capacities, the one that is being sent is turned into a shared one, and those to
// come wait.
//
// Leaves out: packets, congestion control and its convergence, losses, the delay between the two ends of a path (a flow
// holds all capacities of its path at the same time).
#pragma once

#include "engine/engine.hpp"
#include "network/path.hpp"
#include "photonrail/units.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace photonrail::network {

using topology::CapacityId;

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

  /// How often a capacity is adapted in one solve; if that does not do, all that is connected is solved from nothing.
  static constexpr std::uint8_t kMaxVisits = 100;

  /// `engine` must outlive the network. REQUIRES: most_visits < 255.
  explicit Network(engine::Engine& engine, std::uint8_t most_visits = kMaxVisits) : engine_(engine), most_visits_(most_visits) {}

  /// Sets the listener for deliveries. It must outlive the network. REQUIRES: nothing has been posted.
  void attach(DeliveryListener& listener) { listener_ = &listener; }

  /// Grows the table of capacities to `count`; new ones have rate 0.
  void resize(std::size_t count) {
    capacities_.resize(count);
    shares_.resize(count);
  }
  /// One more, of rate 0.
  [[nodiscard]] CapacityId add_capacity() {
    resize(capacities_.size() + 1);
    return static_cast<CapacityId>(capacities_.size() - 1);
  }
  /// Flows on the capacity get their new share within this instant. Rate 0 stops them.
  void set_rate(CapacityId capacity, Bandwidth rate);

  /// A channel sends one message at a time, in the order of posting.
  [[nodiscard]] ChannelId open_channel();
  /// REQUIRES: all its messages have been delivered.
  void close_channel(ChannelId channel);

  /// Sends `bytes` along `path`; `tag` comes back to the listener. kNone: starts at once, beside everything else.
  /// REQUIRES: no capacity stands on the path twice.
  void post(ChannelId channel, const Path& path, Bytes bytes, std::uint64_t tag);
  /// The rate of a flow that is alone on the path; 0 when one of its capacities stands still.
  [[nodiscard]] Bandwidth rate_alone(const Path& path) const;
  /// So many messages will be posted at once: room for them is made once.
  void expect(std::size_t messages);

  /// What the messages on a capacity have still to send, those that wait behind them in their channels included.
  [[nodiscard]] Bytes bytes_left(CapacityId capacity) const;

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t flows_solved() const { return flows_solved_; }

  /// Tag and rate in bytes per second of each flow that is sending, in the order of their tags, for tests. Settles first.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> rates();

 private:
  enum class State : std::uint8_t { kFree, kWaiting, kExclusive, kShared, kArriving };
  using Slot = std::uint32_t;  // of a hop

  struct Hop {
    CapacityId capacity;
    FlowId flow;
    std::uint32_t position;  // shared: among the capacity's bound flows, if it is the bottleneck, else among the others
  };
  struct Flow {
    double remaining = 0.0;  // bytes; exclusive: at `begin`; shared: while it has no bottleneck
    Time begin{};            // exclusive: when its first byte leaves, which may be to come
    Time left_at{};          // exclusive: when the last byte leaves
    engine::EventHandle event{};     // exclusive: its arrival
    Duration latency{};
    Duration overhead{};
    std::uint64_t tag = 0;
    ChannelId channel = kNone;
    FlowId next = kNone;  // waiting, exclusive: the next of its channel; arriving: of those that arrive with it
    Slot first_hop = 0;
    std::uint32_t hops = 0;
    Slot bottleneck = kNone;  // shared: the hop that limits it; kNone until it has been solved
    State state = State::kFree;
  };
  struct Bound {    // a flow at its bottleneck
    double finish;  // it ends when its capacity has served so many bytes
    Slot slot;
    CapacityId other;  // the other capacity of a path of two; kNone: look at the hops

    bool operator<(const Bound& b) const { return finish < b.finish; }
  };
  struct Other {  // a flow at another capacity than its bottleneck
    Slot slot;
    CapacityId bottleneck;  // kNone: it has none yet
  };
  struct Capacity {
    double rate = 0.0;             // bytes per picosecond
    FlowId occupant = kNone;       // the exclusive flow that holds it, the last of its channel, unless that one has left
    std::uint32_t agenda = kNone;  // its position there
    Time since{};                  // when `served` was up to date
    double served = 0.0;           // bytes to each flow that was bound here all the time
    std::vector<Bound> bound;      // a heap
    std::vector<Other> others;
  };
  // What the solver needs of a capacity, apart and small, because it goes through many of them for each change.
  struct Share {
    double left = 0.0;              // of the rate, by the flows that are bound elsewhere
    double level = kUnlimited;      // the rate of the bound flows; kUnlimited: it limits no flow
    double fastest = 0.0;           // none of the flows that are bound elsewhere is faster
    std::uint32_t open = 0;         // flows without a bottleneck
    std::uint8_t visits = 0;        // by the present solve
    std::uint8_t since_summed = 0;  // visits since `left` was summed up
    bool queued = false;            // to be solved
    bool stirred = false;           // its first end may have another date

    // Whether a change of `left` may change a level. A capacity that limits no flow begins to when `left` becomes negative.
    [[nodiscard]] bool upset() const { return level != kUnlimited || left < 0.0; }
  };
  struct Due {
    Time at;
    CapacityId capacity;

    bool operator<(const Due& b) const { return at != b.at ? at < b.at : capacity < b.capacity; }
  };
  struct Candidate {
    double level;  // at which it may become a bottleneck
    CapacityId capacity;

    // As one number, so that comparing takes no branch: the bits of a double that is not negative order like it.
    [[nodiscard]] unsigned __int128 rank() const {
      return (static_cast<unsigned __int128>(std::bit_cast<std::uint64_t>(level)) << 64) | capacity;
    }
    bool operator<(const Candidate& b) const { return rank() > b.rank(); }  // the least is the greatest of a std:: heap
  };
  struct Joiner {
    double rate;
    Slot slot;
  };
  struct Channel {
    Time free_at{};
    FlowId current = kNone;  // a shared flow that holds the channel
    FlowId first =
        kNone;  // exclusive flows that have not arrived, in order: those that left, one that sends, those to come
    FlowId last = kNone;
    FlowId head = kNone;  // waiting flows
    FlowId tail = kNone;
    Time wake_at{Duration{-1}};  // of the last wake-up that was scheduled; one that comes too early does nothing
    ChannelId next_free = kNone;
  };
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  // flows and channels (network.cpp)
  FlowId take_flow(const Path& path, Bytes bytes, std::uint64_t tag, ChannelId channel);
  void take_hops(Flow& flow, std::uint32_t count);
  void free_flow(FlowId id);
  [[nodiscard]] std::span<Hop> hops_of(const Flow& flow) { return {hops_.data() + flow.first_hop, flow.hops}; }
  [[nodiscard]] std::span<const Hop> hops_of(const Flow& flow) const { return {hops_.data() + flow.first_hop, flow.hops}; }
  void start(FlowId id);
  [[nodiscard]] bool alone(const Flow& flow);
  void start_exclusive(FlowId id, Time begin);
  [[nodiscard]] double exclusive_rate(const Flow& flow) const;
  [[nodiscard]] double unsent(FlowId id) const;
  [[nodiscard]] double unsent_of_channel(ChannelId id) const;
  [[nodiscard]] bool can_follow(const Channel& channel, const Path& path);
  void enqueue(Channel& channel, FlowId id);
  void make_shared(FlowId id);
  void unravel(ChannelId id);
  void share_rest(FlowId id);
  void pump(ChannelId channel);
  void wake(std::uint64_t channel);
  void arrived(std::uint64_t id);
  void all_arrived(std::uint64_t first);
  void depart(std::uint64_t);

  // flows that share (sharing.cpp)
  void share(FlowId id);
  void unshare(FlowId id);
  void advance(CapacityId id);
  void bind(Slot slot, double remaining);
  void unbind(Slot slot);
  [[nodiscard]] double remaining(Slot slot);
  void add_other(Slot slot, CapacityId bottleneck);
  void drop_other(Slot slot);
  void rebind(Slot slot);
  [[nodiscard]] Time first_end(CapacityId id) const;
  void stir(CapacityId id);
  void update_agenda();
  void remove_from_agenda(CapacityId id);
  void take_leaving();

  // levels (solver.cpp)
  void touch(CapacityId id);
  void enqueue_candidate(CapacityId id);
  void settle(std::uint64_t);
  void visit(CapacityId id, double key);
  [[nodiscard]] bool at_rest(CapacityId id) const;
  [[nodiscard]] double least_level(CapacityId id) const;
  [[nodiscard]] double solve(CapacityId id, double least);
  void gather(CapacityId id, double least);
  void set_level(CapacityId id, double level);
  [[nodiscard]] Slot slowest(const Flow& flow) const;
  void open_component(CapacityId id);
  void open(Flow& flow);

  engine::Engine& engine_;
  std::uint8_t most_visits_;
  DeliveryListener* listener_ = nullptr;
  std::vector<Capacity> capacities_;
  std::vector<Share> shares_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_flows_;
  std::vector<Hop> hops_;
  std::vector<std::vector<Slot>> free_hops_;  // by the number of hops: where such a path had its own
  std::vector<Channel> channels_;
  ChannelId free_channel_ = kNone;

  std::vector<Due> agenda_;  // a heap: when the next of a capacity's bound flows ends
  engine::EventHandle departure_{};
  Time departure_at_{};
  std::vector<FlowId> leaving_;

  std::vector<Candidate> candidates_;  // a heap while it is being solved
  bool solving_ = false;
  bool opened_ = false;  // a component, in the present solve
  bool settle_scheduled_ = false;
  std::vector<CapacityId> visited_;
  std::vector<CapacityId> stirred_;
  std::vector<Joiner> joiners_;
  std::vector<Slot> leavers_;

  std::uint64_t messages_ = 0;
  std::uint64_t flows_solved_ = 0;
};

}  // namespace photonrail::network
