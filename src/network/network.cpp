#include "network/network.hpp"

#include <algorithm>

namespace photonrail::network {

Network::Network(engine::Engine& engine, double accuracy, std::uint8_t max_visits)
    : engine_(engine),
      channels_(flows_),
      arrivals_(engine, flows_),
      exclusive_({engine, flows_, channels_, arrivals_, rates_}),
      shared_({engine, flows_, rates_},
              {engine::Action::to<&Network::depart_now>(*this), engine::Action::to<&Network::depart_in_epoch>(*this)},
              accuracy, max_visits) {}

void Network::resize(std::size_t count) {
  rates_.resize(count);
  exclusive_.resize(count);
  shared_.resize(count);
}

CapacityId Network::add_capacity() {
  resize(rates_.size() + 1);
  return static_cast<CapacityId>(rates_.size() - 1);
}

// An exclusive flow was scheduled under the old rate, so that it has to become a shared one first.
void Network::set_rate(CapacityId id, Bandwidth rate) {
  const double per_picosecond = rate.bytes_per_second * 1e-12;
  if (rates_[id] == per_picosecond) return;
  share_occupant(id);
  rates_[id] = per_picosecond;
  shared_.change_rate(id);
}

void Network::share_occupant(CapacityId id) {
  const FlowId exclusive = exclusive_.sole_occupant(id);
  if (exclusive == kNone) return;
  const ChannelId channel = flows_[exclusive].channel;
  const FlowId sending = exclusive_.withdraw(exclusive);
  if (sending == kNone) {
    pump(channel);
  } else {
    share(sending);
  }
}

// Flows keep the bytes that they have sent. Exclusive ones are made shared or waiting first, so that two states remain to
// be looked at.
void Network::divert(const std::vector<std::uint8_t>& blocked, const std::function<bool(Path&, Bytes)>& change) {
  for (CapacityId id = 0; id < blocked.size(); ++id) {
    if (blocked[id] != 0) share_occupant(id);
  }
  shared_.settle();  // flows that came in this instant get a bottleneck, without which they cannot be taken out
  for (FlowId id = 0; id < flows_.all().size(); ++id) {
    const FlowState state = flows_[id].state;
    if (state != FlowState::kShared && state != FlowState::kWaiting) continue;
    const auto hops = flows_.hops_of(flows_[id]);
    const auto is_blocked = [&](const Hop& hop) { return hop.capacity < blocked.size() && blocked[hop.capacity] != 0; };
    if (std::none_of(hops.begin(), hops.end(), is_blocked)) continue;
    Path path;
    for (const Hop& hop : hops) path.add(hop.capacity);
    path.latency = flows_[id].latency;
    path.overhead = flows_[id].overhead;
    if (!change(path, Bytes{static_cast<std::int64_t>(unsent(flows_[id]) + 0.5)})) continue;
    // The solver knows a flow by its capacities, so that it leaves before its path changes.
    if (state == FlowState::kShared) shared_.withdraw(id);
    flows_.set_path(id, path);
    if (state == FlowState::kWaiting) continue;
    for (const CapacityId capacity : path.hops()) share_occupant(capacity);
    share(id);
  }
}

// Three ways, from the cheapest: behind the last message of its channel in closed form, at once, or in the queue of the
// channel. A message is never before one that was posted to its channel earlier.
void Network::post(ChannelId id, const Path& path, Bytes bytes, std::uint64_t tag) {
  ++messages_;
  const FlowId flow = flows_.take(path, bytes, tag, id);
  if (id == kNone) {
    start(flow);
    return;
  }
  if (channels_.nothing_waits(id)) {
    if (channels_.free_at(id) <= engine_.now()) {
      start(flow);
      return;
    }
    if (exclusive_.can_follow(id, path)) {
      exclusive_.start(flow, channels_.free_at(id));
      return;
    }
  }
  channels_.enqueue(id, flow);
  pump(id);
}

// Starts the next messages of a channel, or arranges to be woken when the channel is free.
void Network::pump(ChannelId id) {
  for (FlowId flow = channels_.first_waiting(id); flow != kNone; flow = channels_.first_waiting(id)) {
    if (const Time free_at = channels_.free_at(id); free_at > engine_.now()) {
      if (channels_.needs_wake(id))
        engine_.schedule(free_at, engine::Phase::kStart, engine::Action::to<&Network::wake>(*this, id));
      return;
    }
    channels_.pop_waiting(id);
    start(flow);
  }
}

void Network::wake(std::uint64_t id) { pump(static_cast<ChannelId>(id)); }

// When the parts are not alone each becomes a message of its own, in the order of the parts.
void Network::post_parts(const Path& path, Bytes bytes, std::uint64_t tag, Standing& standing) {
  if (exclusive_.stands(standing)) {
    messages_ += path.parts;
    return exclusive_.start_again(standing, path, bytes, tag);
  }
  const FlowId flow = flows_.take(path, bytes, tag, kNone);
  if (alone(flows_[flow])) {
    messages_ += path.parts;
    if (path.parts > 1) {
      standing = exclusive_.start_standing(flow);
    } else {
      exclusive_.start(flow, engine_.now());
    }
    return;
  }
  flows_.release(flow);
  for (std::uint32_t part = 0; part < path.parts; ++part) post(kNone, path.part(part), bytes, tag + part);
}

// A capacity of rate 0 sends nothing and has no closed form: its flows wait in the solver.
bool Network::alone(const Flow& flow) {
  for (const Hop& hop : flows_.hops_of(flow)) {
    if (exclusive_.occupant(hop.capacity) != kNone) return false;
    if (!shared_.none_on(hop.capacity) || rates_[hop.capacity] <= 0.0) return false;
  }
  return true;
}

// A flow that meets others on its path turns the exclusive ones among them into shared ones, and all of them go to the
// solver.
void Network::start(FlowId id) {
  if (alone(flows_[id])) {
    exclusive_.start(id, engine_.now());
    return;
  }
  for (std::uint32_t h = 0; h < flows_[id].hops; ++h) {  // to take a flow apart makes room for hops
    share_occupant(flows_.hop(flows_[id].first_hop + h).capacity);
  }
  share(id);
}

// The last exclusive flow on some capacity has not left, and meets another: what is being sent is shared from now on.
void Network::share(FlowId id) {
  shared_.add(id);
  if (flows_[id].channel != kNone) channels_.hold(flows_[id].channel, id);
}

// The last byte of shared flows has left.
void Network::depart(const std::vector<FlowId>& leaving) {
  Arrivals::Group group;
  for (const FlowId id : leaving) {
    const Time channel_free = engine_.now() + flows_[id].overhead;
    const ChannelId channel = flows_[id].channel;
    arrivals_.leave(id, group);
    if (channel == kNone) continue;
    channels_.release(channel, channel_free);
    pump(channel);
  }
}

Bandwidth Network::rate_alone(const Path& path) const {
  double rate = kUnlimited;
  for (const CapacityId id : path.hops()) rate = std::min(rate, rates_[id]);
  return {rate * 1e12};
}

Bandwidth Network::rate_of_parts(const Path& path, const Standing& standing) const {
  if (exclusive_.stands(standing)) return {standing.rate * 1e12};
  const std::span<const CapacityId> hops = path.hops();
  const std::size_t each = hops.size() / path.parts;
  double common = 0.0;
  for (std::size_t first = 0; first < hops.size(); first += each) {
    double rate = kUnlimited;
    for (const CapacityId id : hops.subspan(first, each)) rate = std::min(rate, rates_[id]);
    // Parts of unlike rates end at unlike times and have no common closed form.
    if (first > 0 && rate != common) return {};
    common = rate;
  }
  return {common * 1e12};
}

double Network::unsent(const Flow& flow) const {
  if (flow.state == FlowState::kExclusive) return exclusive_.unsent(flow);
  const bool shared = flow.state == FlowState::kShared || flow.state == FlowState::kEnding;
  return shared ? shared_.unsent(flow) : flow.remaining;
}

double Network::unsent_of_channel(ChannelId id) const {
  if (id == kNone) return 0.0;
  double sum = 0.0;
  channels_.for_each(id, [&](FlowId flow) { sum += unsent(flows_[flow]); });
  return sum;
}

Bytes Network::bytes_left(CapacityId id) const {
  double sum = 0.0;
  shared_.for_each(id, [&](FlowId flow) { sum += unsent(flows_[flow]) + unsent_of_channel(flows_[flow].channel); });
  if (const FlowId occupant = exclusive_.last_occupant(id); occupant != kNone) {
    const ChannelId channel = flows_[occupant].channel;
    sum += channel == kNone ? unsent(flows_[occupant]) : unsent_of_channel(channel);
  }
  return Bytes{static_cast<std::int64_t>(sum + 0.5)};
}

std::vector<std::pair<std::uint64_t, double>> Network::rates() {
  shared_.settle();
  std::vector<std::pair<std::uint64_t, double>> result;
  for (const Flow& flow : flows_.all()) {
    const bool exclusive = flow.state == FlowState::kExclusive && flow.left_at > engine_.now();
    for (std::uint32_t part = 0; exclusive && part < flow.parts; ++part) {
      result.emplace_back(flow.tag + part, exclusive_.rate(flow) * 1e12);
    }
    const bool shared = flow.state == FlowState::kShared || flow.state == FlowState::kEnding;
    if (shared) result.emplace_back(flow.tag, shared_.rate(flow) * 1e12);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace photonrail::network
