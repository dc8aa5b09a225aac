#include "network/exclusive_flows.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::network {

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

void ExclusiveFlows::arrived(std::uint64_t id) {
  const Flow& flow = parts_.flows[static_cast<FlowId>(id)];
  for (const Hop& hop : parts_.flows.hops_of(flow)) {
    if (occupants_[hop.capacity] == id) occupants_[hop.capacity] = kNone;
  }
  if (flow.channel != kNone) parts_.channels.drop_first_exclusive(flow.channel);
  parts_.arrivals.deliver(static_cast<FlowId>(id));
}

FlowId ExclusiveFlows::withdraw(FlowId id) {
  Flow& flow = parts_.flows[id];
  PHOTONRAIL_CHECK(flow.state == FlowState::kExclusive);
  for (const Hop& hop : parts_.flows.hops_of(flow)) occupants_[hop.capacity] = kNone;
  FlowId sending = id;
  if (flow.channel == kNone) {
    parts_.engine.cancel(flow.event);
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
