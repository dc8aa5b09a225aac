#include "network/exclusive_flows.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::network {

// A message behind another one of its channel, over the same capacities that no other flow has, needs no event of its own
// to start: its end is known now, as the end of the one before plus its own time.
bool ExclusiveFlows::can_follow(ChannelId channel, const Path& path) const {
  const FlowId last = parts_.channels.last_exclusive(channel);
  if (last == kNone) return false;
  const auto before = parts_.flows.hops_of(parts_.flows[last]);
  const auto hops = path.hops();
  return std::equal(before.begin(), before.end(), hops.begin(), hops.end(), [&](const Hop& hop, CapacityId capacity) {
    return hop.capacity == capacity && occupants_[capacity] == last && parts_.rates[capacity] > 0.0;
  });
}

double ExclusiveFlows::rate(const Flow& flow) const {
  double rate = kUnlimited;
  for (const Hop& hop : parts_.flows.hops_of(flow)) rate = std::min(rate, parts_.rates[hop.capacity]);
  return rate;
}

// Alone on all its capacities, a flow has a closed form: one event for its arrival, and nothing to solve. `begin` may lie
// in the future, behind other messages of the channel.
void ExclusiveFlows::start(FlowId id, Time begin) {
  Flow& flow = parts_.flows[id];
  for (const Hop& hop : parts_.flows.hops_of(flow)) occupants_[hop.capacity] = id;
  flow.state = FlowState::kExclusive;
  flow.begin = begin;
  flow.left_at = begin + round_up_picoseconds(flow.remaining / rate(flow));
  flow.next = kNone;
  const Time channel_free = flow.left_at + flow.overhead;
  if (flow.channel != kNone) parts_.channels.add_exclusive(flow.channel, id, channel_free);
  flow.event = parts_.engine.schedule(channel_free + flow.latency, engine::Phase::kFinish,
                                      engine::Action::to<&ExclusiveFlows::arrived>(*this, id));
}

// Messages of many parts that repeat on one path, as those of a ring do in each step, keep their flow between two steps:
// its hops stay marked as its own, and a step that finds them so writes a few fields in place of taking a flow and its
// hops.
ExclusiveFlows::Standing ExclusiveFlows::start_standing(FlowId id) {
  start(id, parts_.engine.now());
  parts_.flows[id].bottleneck = standings_;
  return {id, standings_++, rate(parts_.flows[id])};
}

void ExclusiveFlows::start_again(const Standing& standing, const Path& path, Bytes bytes, std::uint64_t tag) {
  Flow& flow = parts_.flows[standing.flow];
  flow.state = FlowState::kExclusive;
  flow.remaining = static_cast<double>(bytes.count);
  flow.tag = tag;
  flow.latency = path.latency;
  flow.overhead = path.overhead;
  flow.begin = parts_.engine.now();
  flow.left_at = flow.begin + round_up_picoseconds(flow.remaining / standing.rate);
  flow.event = parts_.engine.schedule(flow.left_at + flow.overhead + flow.latency, engine::Phase::kFinish,
                                      engine::Action::to<&ExclusiveFlows::arrived>(*this, standing.flow));
}

// The last byte of the flow has left, and another one wants one of its capacities.
void ExclusiveFlows::stop_standing(FlowId id) {
  Flow& flow = parts_.flows[id];
  flow.bottleneck = kNone;
  if (flow.state != FlowState::kStanding) return;
  for (const Hop& hop : parts_.flows.hops_of(flow)) {
    if (occupants_[hop.capacity] == id) occupants_[hop.capacity] = kNone;
  }
  parts_.flows.release(id);
}

void ExclusiveFlows::arrived(std::uint64_t first) {
  for (auto id = static_cast<FlowId>(first); id != kNone;) {
    if (Flow& standing = parts_.flows[id]; standing.parts > 1 && standing.bottleneck != kNone) {
      standing.state = FlowState::kStanding;
      return parts_.arrivals.notify(standing.tag, standing.parts);
    }
    const Flow& flow = parts_.flows[id];
    for (const Hop& hop : parts_.flows.hops_of(flow)) {
      if (occupants_[hop.capacity] == id) occupants_[hop.capacity] = kNone;
    }
    const FlowId with_it = flow.channel == kNone ? flow.next : kNone;
    if (flow.channel != kNone) parts_.channels.drop_exclusive(flow.channel, id);
    parts_.arrivals.deliver(id);
    id = with_it;
  }
}

FlowId ExclusiveFlows::sole_occupant(CapacityId id) {
  const FlowId flow = occupant(id);
  if (flow == kNone || parts_.flows[flow].parts == 1) return flow;
  take_apart(flow);
  return occupants_[id];
}

// A flow that stands for equal parts of a message meets another flow on one of its capacities. Its parts become flows of
// their own, chained to the one event by which all of them were to arrive, until one is withdrawn from the chain.
void ExclusiveFlows::take_apart(FlowId id) {
  const engine::EventHandle event = parts_.flows[id].event;
  FlowId before = kNone;
  for (std::uint32_t part = 0; part < parts_.flows[id].parts; ++part) {
    const FlowId flow = parts_.flows.take_part(id, part);
    for (const Hop& hop : parts_.flows.hops_of(parts_.flows[flow])) occupants_[hop.capacity] = flow;
    if (before == kNone) {
      parts_.engine.set_argument(event, flow);
    } else {
      parts_.flows[before].next = flow;
    }
    before = flow;
  }
  parts_.flows.release(id);
}

// The flow no longer arrives with those that were to arrive by the same event.
void ExclusiveFlows::part_from(FlowId id) {
  const Flow& flow = parts_.flows[id];
  auto before = static_cast<FlowId>(parts_.engine.argument(flow.event));
  if (before == id) {
    if (flow.next == kNone) {
      parts_.engine.cancel(flow.event);
    } else {
      parts_.engine.set_argument(flow.event, flow.next);
    }
    return;
  }
  while (parts_.flows[before].next != id) before = parts_.flows[before].next;
  parts_.flows[before].next = flow.next;
}

// The channel's later messages were scheduled behind this one: all of them lose their events and wait again. Returns the
// one whose bytes are on the way now, with what it has left.
FlowId ExclusiveFlows::withdraw(FlowId id) {
  Flow& flow = parts_.flows[id];
  PHOTONRAIL_CHECK(flow.state == FlowState::kExclusive && flow.parts == 1);
  for (const Hop& hop : parts_.flows.hops_of(flow)) occupants_[hop.capacity] = kNone;
  FlowId sending = id;
  if (flow.channel == kNone) {
    part_from(id);
  } else {
    sending = parts_.channels.unravel(flow.channel, parts_.engine.now(),
                                      [this](const Flow& later) { parts_.engine.cancel(later.event); });
  }
  if (sending != kNone) parts_.flows[sending].remaining = unsent(parts_.flows[sending]);
  return sending;
}

double ExclusiveFlows::unsent(const Flow& flow) const {
  const Time now = parts_.engine.now();
  if (flow.begin >= now) return flow.remaining;
  return std::max(0.0, flow.remaining - rate(flow) * static_cast<double>((now - flow.begin).count()));
}

}  // namespace photonrail::network
