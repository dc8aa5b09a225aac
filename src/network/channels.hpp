// Channels: each sends one message at a time, in the order of posting. A channel has a queue of waiting flows, and a list
// of exclusive flows that have not arrived: those that left, one that sends, and those whose begin is known already.
#pragma once

#include "network/flow_table.hpp"

#include <cstddef>
#include <vector>

namespace photonrail::network {

class Channels {
 public:
  /// `flows` must outlive the channels.
  explicit Channels(FlowTable& flows) : flows_(flows) {}

  [[nodiscard]] ChannelId open();
  /// REQUIRES: all its messages have been delivered.
  void close(ChannelId id);

  /// Returns true when no message is before a new one, except exclusive flows whose ends are known.
  [[nodiscard]] bool nothing_waits(ChannelId id) const {
    return channels_[id].head == kNone && channels_[id].current == kNone;
  }
  /// When the channel can send again, as far as that is known.
  [[nodiscard]] Time free_at(ChannelId id) const { return channels_[id].free_at; }

  void enqueue(ChannelId id, FlowId flow);
  /// The flow whose turn it is; kNone: none waits, or a shared flow holds the channel.
  [[nodiscard]] FlowId first_waiting(ChannelId id) const {
    return channels_[id].current == kNone ? channels_[id].head : kNone;
  }
  /// Takes the flow whose turn it is from the queue.
  void pop_waiting(ChannelId id) { channels_[id].head = flows_[channels_[id].head].next; }
  /// Returns true when the channel has yet to be woken when it is free; notes that it will be.
  [[nodiscard]] bool needs_wake(ChannelId id);

  /// A shared flow holds the channel until release().
  void hold(ChannelId id, FlowId flow) { channels_[id].current = flow; }
  void release(ChannelId id, Time free_at) {
    channels_[id].current = kNone;
    channels_[id].free_at = free_at;
  }

  /// The last exclusive flow that has not arrived, or kNone.
  [[nodiscard]] FlowId last_exclusive(ChannelId id) const { return channels_[id].last; }
  /// `free_at`: when it has left, and the channel can send again.
  void add_exclusive(ChannelId id, FlowId flow, Time free_at);
  /// The exclusive flow has arrived. REQUIRES: it is one of the channel.
  void drop_exclusive(ChannelId id, FlowId flow);
  /// Keeps the exclusive flows that have left by `now`. Those that did not begin wait again, before all that wait.
  /// Calls `cancel(flow)` for each that has not left. Returns the flow that is sending, or kNone.
  template <class Cancel>
  [[nodiscard]] FlowId unravel(ChannelId id, Time now, Cancel&& cancel);

  /// Calls `visit(flow)` for the exclusive flows that have not arrived, and for those that wait.
  template <class Visit>
  void for_each(ChannelId id, Visit&& visit) const {
    for (const FlowId first : {channels_[id].first, channels_[id].head}) {
      for (FlowId flow = first; flow != kNone; flow = flows_[flow].next) visit(flow);
    }
  }

 private:
  struct Channel {
    Time free_at{};
    FlowId current = kNone;  // a shared flow that holds the channel
    FlowId first = kNone;    // exclusive flows that have not arrived, in order
    FlowId last = kNone;
    FlowId head = kNone;  // waiting flows
    FlowId tail = kNone;
    Time wake_at{-1};  // of the last wake-up that was scheduled; one that comes too early does nothing
    ChannelId next_free = kNone;
  };

  void append_exclusive(Channel& channel, FlowId flow) {
    (channel.first == kNone ? channel.first : flows_[channel.last].next) = flow;
    channel.last = flow;
  }

  FlowTable& flows_;
  std::vector<Channel> channels_;
  ChannelId free_ = kNone;
};

template <class Cancel>
FlowId Channels::unravel(ChannelId id, Time now, Cancel&& cancel) {
  Channel& channel = channels_[id];
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
      append_exclusive(channel, flow_id);
      channel.free_at = flow.left_at + flow.overhead;
      continue;
    }
    cancel(flow);
    if (flow.begin <= now) {
      sending = flow_id;
    } else {
      enqueue(id, flow_id);
    }
  }
  if (old_head != kNone) {
    (channel.head == kNone ? channel.head : flows_[channel.tail].next) = old_head;
    channel.tail = old_tail;
  }
  return sending;
}

}  // namespace photonrail::network
