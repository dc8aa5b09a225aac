// The storage of flows and of the hops of their paths. Numbers of flows that are free are used again.
#pragma once

#include "network/flow.hpp"
#include "network/path.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::network {

class FlowTable {
 public:
  /// A new flow, with all of the message still to send.
  [[nodiscard]] FlowId take(const Path& path, Bytes bytes, std::uint64_t tag, ChannelId channel);
  /// A flow of one of the parts of a flow, as far as that has come, without a channel.
  [[nodiscard]] FlowId take_part(FlowId whole, std::uint32_t part);
  /// Another path for what the flow has left. REQUIRES: no machine has its hops.
  void set_path(FlowId id, const Path& path);
  void release(FlowId id) {
    flows_[id].state = FlowState::kFree;
    free_.push_back(id);
  }
  /// Reserves room for `flows` flows at once.
  void reserve(std::size_t flows);

  [[nodiscard]] Flow& operator[](FlowId id) { return flows_[id]; }
  [[nodiscard]] const Flow& operator[](FlowId id) const { return flows_[id]; }
  /// Those that are free too.
  [[nodiscard]] std::span<const Flow> all() const { return flows_; }

  [[nodiscard]] std::span<const Hop> hops_of(const Flow& flow) const { return {hops_.data() + flow.first_hop, flow.hops}; }
  [[nodiscard]] const Hop& hop(HopSlot slot) const { return hops_[slot]; }
  void set_position(HopSlot slot, std::uint32_t position) { hops_[slot].position = position; }

 private:
  [[nodiscard]] FlowId take_number();
  void take_hops(Flow& flow, std::uint32_t count);

  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<Hop> hops_;
  std::vector<std::vector<HopSlot>> free_hops_;  // by the number of hops: where such a path had its own
};

}  // namespace photonrail::network
