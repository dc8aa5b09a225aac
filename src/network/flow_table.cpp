#include "network/flow_table.hpp"

#include <algorithm>

namespace photonrail::network {

FlowId FlowTable::take_number() {
  if (free_.empty()) {
    flows_.emplace_back();
    return static_cast<FlowId>(flows_.size() - 1);
  }
  const FlowId id = free_.back();
  free_.pop_back();
  return id;
}

FlowId FlowTable::take(const Path& path, Bytes bytes, std::uint64_t tag, ChannelId channel) {
  const FlowId id = take_number();
  set_path(id, path);
  Flow& flow = flows_[id];
  flow.remaining = static_cast<double>(bytes.count);
  flow.tag = tag;
  flow.channel = channel;
  flow.parts = static_cast<std::uint16_t>(path.parts);
  return id;
}

FlowId FlowTable::take_part(FlowId whole, std::uint32_t part) {
  const FlowId id = take_number();
  const Flow& of = flows_[whole];
  Flow& flow = flows_[id];
  take_hops(flow, of.hops / of.parts);
  for (std::uint32_t h = 0; h < flow.hops; ++h) {
    hops_[flow.first_hop + h] = {hops_[of.first_hop + part * flow.hops + h].capacity, id, 0};
  }
  flow.remaining = of.remaining;
  flow.begin = of.begin;
  flow.left_at = of.left_at;
  flow.event = of.event;
  flow.latency = of.latency;
  flow.overhead = of.overhead;
  flow.tag = of.tag + part;
  flow.channel = flow.next = kNone;
  flow.state = of.state;
  flow.parts = 1;
  return id;
}

void FlowTable::set_path(FlowId id, const Path& path) {
  Flow& flow = flows_[id];
  const auto path_hops = path.hops();
  take_hops(flow, static_cast<std::uint32_t>(path_hops.size()));
  Hop* hop = hops_.data() + flow.first_hop;
  for (const CapacityId capacity : path_hops) *hop++ = {capacity, id, 0};
  flow.latency = path.latency;
  flow.overhead = path.overhead;
}

// A flow that is used again keeps its room for hops, if it wants as many.
void FlowTable::take_hops(Flow& flow, std::uint32_t count) {
  if (flow.hops == count) return;
  free_hops_.resize(std::max<std::size_t>(free_hops_.size(), std::max(flow.hops, count) + std::size_t{1}));
  if (flow.hops > 0) free_hops_[flow.hops].push_back(flow.first_hop);
  flow.hops = count;
  std::vector<HopSlot>& spare = free_hops_[count];
  if (spare.empty()) {
    flow.first_hop = static_cast<HopSlot>(hops_.size());
    hops_.resize(hops_.size() + count);
  } else {
    flow.first_hop = spare.back();
    spare.pop_back();
  }
}

void FlowTable::reserve(std::size_t flows) {
  if (flows <= flows_.capacity()) return;
  flows_.reserve(flows_.size() + flows);
  hops_.reserve(hops_.size() + 2 * flows);
}

}  // namespace photonrail::network
