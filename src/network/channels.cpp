#include "network/channels.hpp"

#include "photonrail/error.hpp"

namespace photonrail::network {

ChannelId Channels::open() {
  if (free_ == kNone) {
    channels_.emplace_back();
    return static_cast<ChannelId>(channels_.size() - 1);
  }
  const ChannelId id = free_;
  free_ = channels_[id].next_free;
  channels_[id] = Channel{};
  return id;
}

void Channels::close(ChannelId id) {
  Channel& channel = channels_[id];
  PHOTONRAIL_CHECK(channel.head == kNone && channel.current == kNone && channel.first == kNone);
  channel.next_free = free_;
  free_ = id;
}

void Channels::enqueue(ChannelId id, FlowId flow) {
  Channel& channel = channels_[id];
  flows_[flow].state = FlowState::kWaiting;
  flows_[flow].next = kNone;
  (channel.head == kNone ? channel.head : flows_[channel.tail].next) = flow;
  channel.tail = flow;
}

bool Channels::needs_wake(ChannelId id) {
  Channel& channel = channels_[id];
  if (channel.wake_at == channel.free_at) return false;
  channel.wake_at = channel.free_at;
  return true;
}

void Channels::add_exclusive(ChannelId id, FlowId flow, Time free_at) {
  Channel& channel = channels_[id];
  channel.free_at = free_at;
  append_exclusive(channel, flow);
}

// A message of less latency overtakes the one before it.
void Channels::drop_exclusive(ChannelId id, FlowId flow) {
  Channel& channel = channels_[id];
  FlowId before = kNone;
  for (FlowId at = channel.first; at != flow; at = flows_[at].next) before = at;
  (before == kNone ? channel.first : flows_[before].next) = flows_[flow].next;
  if (channel.last == flow) channel.last = before;
}

}  // namespace photonrail::network
