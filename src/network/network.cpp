#include "network/network.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::network {

void Network::set_rate(CapacityId id, Bandwidth rate) {
  Capacity& capacity = capacities_[id];
  const double per_picosecond = rate.bytes_per_second * 1e-12;
  if (capacity.rate == per_picosecond) return;
  const FlowId occupant = capacity.occupant;
  if (occupant != kNone && flows_[occupant].left_at > engine_.now()) make_shared(occupant);
  shares_[id].left += per_picosecond - capacity.rate;
  capacity.rate = per_picosecond;
  if (!capacity.bound.empty() || !capacity.others.empty()) touch(id);
}

Network::ChannelId Network::open_channel() {
  if (free_channel_ == kNone) {
    channels_.emplace_back();
    return static_cast<ChannelId>(channels_.size() - 1);
  }
  const ChannelId id = free_channel_;
  free_channel_ = channels_[id].next_free;
  channels_[id] = Channel{};
  return id;
}

void Network::close_channel(ChannelId id) {
  Channel& channel = channels_[id];
  PHOTONRAIL_CHECK(channel.head == kNone && channel.current == kNone && channel.first == kNone);
  channel.next_free = free_channel_;
  free_channel_ = id;
}

void Network::post(ChannelId id, const Path& path, Bytes bytes, std::uint64_t tag) {
  ++messages_;
  const FlowId flow = take_flow(path, bytes, tag, id);
  if (id == kNone) {
    start(flow);
    return;
  }
  Channel& channel = channels_[id];
  if (channel.head == kNone && channel.current == kNone) {
    if (channel.free_at <= engine_.now()) {
      start(flow);
      return;
    }
    if (can_follow(channel, path)) {
      start_exclusive(flow, channel.free_at);
      return;
    }
  }
  enqueue(channel, flow);
  pump(id);
}

void Network::expect(std::size_t messages) {
  if (messages <= flows_.capacity()) return;
  flows_.reserve(flows_.size() + messages);
  hops_.reserve(hops_.size() + 2 * messages);
}

void Network::enqueue(Channel& channel, FlowId id) {
  flows_[id].state = State::kWaiting;
  flows_[id].next = kNone;
  (channel.head == kNone ? channel.head : flows_[channel.tail].next) = id;
  channel.tail = id;
}

// Whether the path belongs to the channel's last flow alone, is the new one's too, and carries light: as in alone(), what
// stands still has no end that could be known.
bool Network::can_follow(const Channel& channel, const Path& path) {
  if (channel.last == kNone) return false;
  const auto before = hops_of(flows_[channel.last]);
  const auto hops = path.hops();
  return std::equal(before.begin(), before.end(), hops.begin(), hops.end(), [&](const Hop& hop, CapacityId capacity) {
    return hop.capacity == capacity && capacities_[capacity].occupant == channel.last && capacities_[capacity].rate > 0.0;
  });
}

// Starts the next messages of a channel, or arranges to be woken when the channel is free.
void Network::pump(ChannelId id) {
  for (;;) {
    Channel& channel = channels_[id];
    if (channel.head == kNone || channel.current != kNone) return;
    if (channel.free_at > engine_.now()) {
      if (channel.wake_at == channel.free_at) return;
      channel.wake_at = channel.free_at;
      engine_.schedule(channel.free_at, engine::Phase::kStart, engine::Action::to<&Network::wake>(*this, id));
      return;
    }
    const FlowId flow = channel.head;
    channel.head = flows_[flow].next;
    start(flow);
  }
}

void Network::wake(std::uint64_t id) { pump(static_cast<ChannelId>(id)); }

Network::FlowId Network::take_flow(const Path& path, Bytes bytes, std::uint64_t tag, ChannelId channel) {
  FlowId id;
  if (free_flows_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow& flow = flows_[id];
  const auto path_hops = path.hops();
  take_hops(flow, static_cast<std::uint32_t>(path_hops.size()));
  Hop* hop = hops_.data() + flow.first_hop;
  for (const CapacityId capacity : path_hops) *hop++ = {capacity, id, 0};
  flow.remaining = static_cast<double>(bytes.count);
  flow.latency = path.latency;
  flow.overhead = path.overhead;
  flow.tag = tag;
  flow.channel = channel;
  return id;
}

// A flow that is used again keeps its room for hops, if it wants as many.
void Network::take_hops(Flow& flow, std::uint32_t count) {
  if (flow.hops == count) return;
  free_hops_.resize(std::max<std::size_t>(free_hops_.size(), std::max(flow.hops, count) + std::size_t{1}));
  if (flow.hops > 0) free_hops_[flow.hops].push_back(flow.first_hop);
  flow.hops = count;
  std::vector<Slot>& spare = free_hops_[count];
  if (spare.empty()) {
    flow.first_hop = static_cast<Slot>(hops_.size());
    hops_.resize(hops_.size() + count);
  } else {
    flow.first_hop = spare.back();
    spare.pop_back();
  }
}

void Network::free_flow(FlowId id) {
  flows_[id].state = State::kFree;
  free_flows_.push_back(id);
}

bool Network::alone(const Flow& flow) {
  for (const Hop& hop : hops_of(flow)) {
    Capacity& capacity = capacities_[hop.capacity];
    if (capacity.occupant != kNone) {
      if (flows_[capacity.occupant].left_at > engine_.now()) return false;
      capacity.occupant = kNone;
    }
    if (!capacity.bound.empty() || !capacity.others.empty() || capacity.rate <= 0.0) return false;
  }
  return true;
}

void Network::start(FlowId id) {
  if (alone(flows_[id])) {
    start_exclusive(id, engine_.now());
    return;
  }
  for (const Hop& hop : hops_of(flows_[id])) {
    const FlowId occupant = capacities_[hop.capacity].occupant;
    if (occupant == kNone) continue;
    if (flows_[occupant].left_at > engine_.now()) {
      make_shared(occupant);
    } else {
      capacities_[hop.capacity].occupant = kNone;
    }
  }
  share(id);
}

double Network::exclusive_rate(const Flow& flow) const {
  double rate = kUnlimited;
  for (const Hop& hop : hops_of(flow)) rate = std::min(rate, capacities_[hop.capacity].rate);
  return rate;
}

Bandwidth Network::rate_alone(const Path& path) const {
  double rate = kUnlimited;
  for (const CapacityId id : path.hops()) rate = std::min(rate, capacities_[id].rate);
  return {rate * 1e12};
}

void Network::start_exclusive(FlowId id, Time begin) {
  Flow& flow = flows_[id];
  for (const Hop& hop : hops_of(flow)) capacities_[hop.capacity].occupant = id;
  flow.state = State::kExclusive;
  flow.begin = begin;
  flow.left_at = begin + round_up_picoseconds(flow.remaining / exclusive_rate(flow));
  flow.next = kNone;
  const Time channel_free = flow.left_at + flow.overhead;
  if (flow.channel != kNone) {
    Channel& channel = channels_[flow.channel];
    channel.free_at = channel_free;
    (channel.first == kNone ? channel.first : flows_[channel.last].next) = id;
    channel.last = id;
  }
  flow.event = engine_.schedule(channel_free + flow.latency, engine::Phase::kFinish, engine::Action::to<&Network::arrived>(*this, id));
}

// The last exclusive flow on some capacity has not left, and meets another: what is being sent is shared from now on.
void Network::make_shared(FlowId id) {
  const Flow& flow = flows_[id];
  PHOTONRAIL_CHECK(flow.state == State::kExclusive);
  for (const Hop& hop : hops_of(flow)) capacities_[hop.capacity].occupant = kNone;
  if (flow.channel != kNone) {
    unravel(flow.channel);
    return;
  }
  engine_.cancel(flow.event);
  share_rest(id);
}

// Of a channel's exclusive flows those that left go on arriving, the one that sends is shared, and those to come wait
// again.
void Network::unravel(ChannelId id) {
  Channel& channel = channels_[id];
  const Time now = engine_.now();
  const FlowId old_head = channel.head;
  const FlowId old_tail = channel.tail;
  FlowId next = channel.first;
  FlowId sending = kNone;
  channel.head = channel.tail = channel.first = channel.last = kNone;
  while (next != kNone) {
    const FlowId flow_id = next;
    Flow& flow = flows_[flow_id];
    next = flow.next;
    flow.next = kNone;
    if (flow.left_at <= now) {
      (channel.first == kNone ? channel.first : flows_[channel.last].next) = flow_id;
      channel.last = flow_id;
      channel.free_at = flow.left_at + flow.overhead;
      continue;
    }
    engine_.cancel(flow.event);
    if (flow.begin <= now) {
      sending = flow_id;
    } else {
      enqueue(channel, flow_id);
    }
  }
  if (old_head != kNone) {
    (channel.head == kNone ? channel.head : flows_[channel.tail].next) = old_head;
    channel.tail = old_tail;
  }
  if (sending == kNone) {
    pump(id);
  } else {
    share_rest(sending);
  }
}

// What an exclusive flow has not sent yet is sent as a shared one.
void Network::share_rest(FlowId id) {
  Flow& flow = flows_[id];
  const double sent = exclusive_rate(flow) * static_cast<double>((engine_.now() - flow.begin).count());
  flow.remaining = std::max(0.0, flow.remaining - sent);
  share(id);
}

// The last byte of shared flows has left: those that end now, at all capacities. What arrives at one time, in turn, costs
// one event.
void Network::depart(std::uint64_t) {
  departure_ = {};
  take_leaving();
  FlowId last = kNone;
  Time group{};
  for (const FlowId id : leaving_) {
    const Time channel_free = engine_.now() + flows_[id].overhead;
    const Time arrival = channel_free + flows_[id].latency;
    flows_[id].state = State::kArriving;
    flows_[id].next = kNone;
    if (last != kNone && arrival == group) {
      flows_[last].next = id;
    } else {
      engine_.schedule(arrival, engine::Phase::kFinish, engine::Action::to<&Network::all_arrived>(*this, id));
    }
    last = id;
    group = arrival;
    const ChannelId channel = flows_[id].channel;
    if (channel == kNone) continue;
    channels_[channel].current = kNone;
    channels_[channel].free_at = channel_free;
    pump(channel);
  }
}

void Network::all_arrived(std::uint64_t first) {
  for (auto id = static_cast<FlowId>(first); id != kNone;) {
    const FlowId next = flows_[id].next;
    const std::uint64_t tag = flows_[id].tag;
    free_flow(id);
    listener_->delivered(tag);
    id = next;
  }
}

// An exclusive flow.
void Network::arrived(std::uint64_t id) {
  const Flow& flow = flows_[id];
  for (const Hop& hop : hops_of(flow)) {
    if (capacities_[hop.capacity].occupant == id) capacities_[hop.capacity].occupant = kNone;
  }
  if (flow.channel != kNone) {
    Channel& channel = channels_[flow.channel];
    channel.first = flow.next;
    if (channel.first == kNone) channel.last = kNone;
  }
  const std::uint64_t tag = flow.tag;
  free_flow(static_cast<FlowId>(id));
  listener_->delivered(tag);
}

// Without a trace: looking at a flow must not change how its bytes are summed up.
double Network::unsent(FlowId id) const {
  const Flow& flow = flows_[id];
  const Time now = engine_.now();
  if (flow.state == State::kExclusive && flow.begin < now) {
    return std::max(0.0, flow.remaining - exclusive_rate(flow) * static_cast<double>((now - flow.begin).count()));
  }
  if (flow.state != State::kShared || flow.bottleneck == kNone) return flow.remaining;
  const Hop& hop = hops_[flow.bottleneck];
  const Capacity& capacity = capacities_[hop.capacity];
  const double served = capacity.served + shares_[hop.capacity].level * static_cast<double>((now - capacity.since).count());
  return std::max(0.0, capacity.bound[hop.position].finish - served);
}

double Network::unsent_of_channel(ChannelId id) const {
  if (id == kNone) return 0.0;
  double sum = 0.0;
  for (const FlowId first : {channels_[id].first, channels_[id].head}) {
    for (FlowId flow = first; flow != kNone; flow = flows_[flow].next) sum += unsent(flow);
  }
  return sum;
}

Bytes Network::bytes_left(CapacityId id) const {
  const Capacity& capacity = capacities_[id];
  double sum = 0.0;
  const auto add_shared = [&](Slot slot) {
    const FlowId flow = hops_[slot].flow;
    sum += unsent(flow) + unsent_of_channel(flows_[flow].channel);
  };
  for (const Bound& bound : capacity.bound) add_shared(bound.slot);
  for (const Other& other : capacity.others) add_shared(other.slot);
  if (capacity.occupant != kNone) {
    const ChannelId channel = flows_[capacity.occupant].channel;
    sum += channel == kNone ? unsent(capacity.occupant) : unsent_of_channel(channel);
  }
  return Bytes{static_cast<std::int64_t>(sum + 0.5)};
}

std::vector<std::pair<std::uint64_t, double>> Network::rates() {
  settle(0);
  std::vector<std::pair<std::uint64_t, double>> result;
  for (const Flow& flow : flows_) {
    const bool exclusive = flow.state == State::kExclusive && flow.left_at > engine_.now();
    if (exclusive) result.emplace_back(flow.tag, exclusive_rate(flow) * 1e12);
    if (flow.state == State::kShared) {
      result.emplace_back(flow.tag, shares_[hops_[flow.bottleneck].capacity].level * 1e12);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace photonrail::network
