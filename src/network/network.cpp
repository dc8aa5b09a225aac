#include "network/network.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>

namespace photonrail {

void Network::set_rate(CapacityId id, Bandwidth rate) {
  Capacity& capacity = capacities_[id];
  const double per_picosecond = rate.bytes_per_second * 1e-12;
  if (capacity.rate == per_picosecond) return;
  capacity.rate = per_picosecond;
  const FlowId occupant = capacity.occupant;
  if (occupant != kNone && flows_[occupant].left_at > engine_.now()) make_shared(occupant);
  touch(id);
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
  if (id == kNone) {
    start(take_flow(path, bytes, tag, kNone));
    return;
  }
  Channel& channel = channels_[id];
  if (channel.head == kNone && channel.current == kNone) {
    if (channel.free_at <= engine_.now()) {
      start(take_flow(path, bytes, tag, id));
      return;
    }
    if (can_follow(channel, path)) {
      start_exclusive(take_flow(path, bytes, tag, id), channel.free_at);
      return;
    }
  }
  enqueue(channel, path, bytes, tag);
  pump(id);
}

void Network::enqueue(Channel& channel, const Path& path, Bytes bytes, std::uint64_t tag) {
  std::uint32_t slot;
  if (free_waiting_.empty()) {
    slot = static_cast<std::uint32_t>(waiting_.size());
    waiting_.emplace_back();
  } else {
    slot = free_waiting_.back();
    free_waiting_.pop_back();
  }
  waiting_[slot] = {path, bytes, tag, kNone};
  (channel.head == kNone ? channel.head : waiting_[channel.tail].next) = slot;
  channel.tail = slot;
}

// Whether the path belongs to the channel's last flow alone, and is the new one's too.
bool Network::can_follow(const Channel& channel, const Path& path) const {
  if (channel.last == kNone) return false;
  const auto before = flows_[channel.last].path.hops();
  const auto hops = path.hops();
  if (!std::equal(before.begin(), before.end(), hops.begin(), hops.end())) return false;
  return std::all_of(hops.begin(), hops.end(), [&](CapacityId hop) { return capacities_[hop].occupant == channel.last; });
}

// Starts the next messages of a channel, or arranges to be woken when the channel is free.
void Network::pump(ChannelId id) {
  for (;;) {
    Channel& channel = channels_[id];
    if (channel.head == kNone || channel.current != kNone) return;
    if (channel.free_at > engine_.now()) {
      if (channel.wake_at == channel.free_at) return;
      channel.wake_at = channel.free_at;
      engine_.schedule(channel.free_at, Phase::kStart, Action::to<&Network::wake>(*this, id));
      return;
    }
    const std::uint32_t slot = channel.head;
    channel.head = waiting_[slot].next;
    free_waiting_.push_back(slot);
    start(take_flow(waiting_[slot].path, waiting_[slot].bytes, waiting_[slot].tag, id));
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
  flow.path = path;
  flow.remaining = static_cast<double>(bytes.count);
  flow.tag = tag;
  flow.channel = channel;
  return id;
}

void Network::free_flow(FlowId id) {
  flows_[id].state = State::kFree;
  free_flows_.push_back(id);
}

bool Network::alone(const Path& path) {
  for (const CapacityId hop : path.hops()) {
    Capacity& capacity = capacities_[hop];
    if (capacity.occupant != kNone) {
      if (flows_[capacity.occupant].left_at > engine_.now()) return false;
      capacity.occupant = kNone;
    }
    if (!capacity.flows.empty() || capacity.rate <= 0.0) return false;
  }
  return true;
}

void Network::start(FlowId id) {
  if (alone(flows_[id].path)) {
    start_exclusive(id, engine_.now());
    return;
  }
  Flow& flow = flows_[id];
  for (const CapacityId hop : flow.path.hops()) {
    const FlowId occupant = capacities_[hop].occupant;
    if (occupant == kNone) continue;
    if (flows_[occupant].left_at > engine_.now()) {
      make_shared(occupant);
    } else {
      capacities_[hop].occupant = kNone;
    }
  }
  share(id);
}

void Network::start_exclusive(FlowId id, Time begin) {
  Flow& flow = flows_[id];
  double rate = std::numeric_limits<double>::infinity();
  for (const CapacityId hop : flow.path.hops()) {
    rate = std::min(rate, capacities_[hop].rate);
    capacities_[hop].occupant = id;
  }
  flow.state = State::kExclusive;
  flow.rate = rate;
  flow.updated = begin;
  flow.left_at = begin + round_up_picoseconds(flow.remaining / rate);
  flow.next = kNone;
  const Time channel_free = flow.left_at + flow.path.overhead;
  if (flow.channel != kNone) {
    Channel& channel = channels_[flow.channel];
    channel.free_at = channel_free;
    (channel.first == kNone ? channel.first : flows_[channel.last].next) = id;
    channel.last = id;
  }
  flow.event = engine_.schedule(channel_free + flow.path.latency, Phase::kFinish, Action::to<&Network::arrived>(*this, id));
}

// The flow takes part in the solver's game from now on.
void Network::share(FlowId id) {
  Flow& flow = flows_[id];
  flow.state = State::kShared;
  flow.rate = 0.0;
  flow.updated = engine_.now();
  flow.event = {};
  flow.bottleneck = kNoHop;
  fresh_.push_back(id);
  flow.position.clear();
  for (const CapacityId hop : flow.path.hops()) {
    flow.position.push_back(static_cast<std::uint32_t>(capacities_[hop].flows.size()));
    capacities_[hop].flows.push_back(id);
    touch(hop);
  }
  if (flow.channel != kNone) channels_[flow.channel].current = id;
}

void Network::unshare(FlowId id) {
  Flow& flow = flows_[id];
  const auto hops = flow.path.hops();
  if (flow.bottleneck == kNoHop) {
    std::erase(fresh_, id);
  } else {
    unbind(id);
  }
  for (std::size_t h = 0; h < hops.size(); ++h) {
    std::vector<FlowId>& list = capacities_[hops[h]].flows;
    const FlowId moved = list.back();
    const std::uint32_t to = flow.position[h];
    const auto from = static_cast<std::uint32_t>(list.size() - 1);
    list[to] = moved;
    list.pop_back();
    if (moved != id) {
      Flow& other = flows_[moved];
      const auto other_hops = other.path.hops();
      for (std::size_t k = 0; k < other_hops.size(); ++k) {
        if (other_hops[k] == hops[h] && other.position[k] == from) other.position[k] = to;
      }
    }
    Capacity& capacity = capacities_[hops[h]];
    capacity.used = list.empty() ? 0.0 : capacity.used - flow.rate;
    if (list.empty()) capacity.fastest = 0.0;
    ++capacity.changes;
    touch(hops[h]);
  }
}

// The last exclusive flow on some capacity has not left, and meets another: what is being sent is shared from now on.
void Network::make_shared(FlowId id) {
  Flow& flow = flows_[id];
  PHOTONRAIL_CHECK(flow.state == State::kExclusive);
  for (const CapacityId hop : flow.path.hops()) capacities_[hop].occupant = kNone;
  if (flow.channel != kNone) {
    unravel(flow.channel);
    return;
  }
  engine_.cancel(flow.event);
  advance(flow, flow.rate);
  share(id);
}

// Of a channel's exclusive flows those that left go on arriving, the one that sends is shared, and those to come wait
// again.
void Network::unravel(ChannelId id) {
  Channel& channel = channels_[id];
  const Time now = engine_.now();
  const std::uint32_t old_head = channel.head;
  const std::uint32_t old_tail = channel.tail;
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
      channel.free_at = flow.left_at + flow.path.overhead;
      continue;
    }
    engine_.cancel(flow.event);
    if (flow.updated <= now) {
      sending = flow_id;
      continue;
    }
    enqueue(channel, flow.path, Bytes{static_cast<std::int64_t>(flow.remaining)}, flow.tag);
    free_flow(flow_id);
  }
  if (old_head != kNone) {
    (channel.head == kNone ? channel.head : waiting_[channel.tail].next) = old_head;
    channel.tail = old_tail;
  }
  if (sending == kNone) {
    pump(id);
    return;
  }
  advance(flows_[sending], flows_[sending].rate);
  share(sending);
}

void Network::advance(Flow& flow, double rate) const {
  flow.remaining -= rate * static_cast<double>((engine_.now() - flow.updated).count());
  flow.remaining = std::max(flow.remaining, 0.0);
  flow.updated = engine_.now();
}

void Network::touch(CapacityId id) {
  if (!capacities_[id].dirty) {
    capacities_[id].dirty = true;
    dirty_.push_back(id);
  }
  if (!settle_scheduled_) {
    settle_scheduled_ = true;
    engine_.schedule(engine_.now(), Phase::kSettle, Action::to<&Network::settle>(*this));
  }
}

// The last byte of a shared flow has left.
void Network::left(std::uint64_t id) {
  const auto flow_id = static_cast<FlowId>(id);
  unshare(flow_id);
  Flow& flow = flows_[flow_id];
  flow.state = State::kArriving;
  const Time channel_free = engine_.now() + flow.path.overhead;
  if (flow.channel != kNone) {
    channels_[flow.channel].current = kNone;
    channels_[flow.channel].free_at = channel_free;
    pump(flow.channel);
  }
  // pump() may have grown the table of flows: no reference from before it is used here.
  const Time arrival = channel_free + flows_[flow_id].path.latency;
  flows_[flow_id].event = engine_.schedule(arrival, Phase::kFinish, Action::to<&Network::arrived>(*this, id));
}

void Network::arrived(std::uint64_t id) {
  Flow& flow = flows_[id];
  if (flow.state == State::kExclusive) {
    for (const CapacityId hop : flow.path.hops()) {
      if (capacities_[hop].occupant == id) capacities_[hop].occupant = kNone;
    }
    if (flow.channel != kNone) {
      Channel& channel = channels_[flow.channel];
      channel.first = flow.next;
      if (channel.first == kNone) channel.last = kNone;
    }
  }
  const std::uint64_t tag = flow.tag;
  free_flow(static_cast<FlowId>(id));
  listener_->delivered(tag);
}

std::vector<std::pair<std::uint64_t, double>> Network::rates() {
  settle(0);
  std::vector<std::pair<std::uint64_t, double>> result;
  for (const Flow& flow : flows_) {
    const bool sending = flow.state == State::kExclusive && flow.left_at > engine_.now();
    if (sending || flow.state == State::kShared) result.emplace_back(flow.tag, flow.rate * 1e12);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace photonrail
