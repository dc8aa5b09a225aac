// The last stage of a message: its bytes have left, it arrives after its latency, and the listener is notified.
#pragma once

#include "engine/engine.hpp"
#include "network/delivery_listener.hpp"
#include "network/flow_table.hpp"

#include <cstdint>

namespace photonrail::network {

class Arrivals {
 public:
  /// All must outlive the object.
  Arrivals(engine::Engine& engine, FlowTable& flows) : engine_(engine), flows_(flows) {}

  /// REQUIRES: before the first delivery. `listener` must outlive the object.
  void attach(DeliveryListener& listener) { listener_ = &listener; }

  /// Flows that left one after another, and arrive at one time.
  struct Group {
    FlowId last = kNone;
    Time arrival{};
  };
  /// The last byte of the flow leaves now. It joins `group` if it arrives with it, which costs no event; else it begins it
  /// anew.
  void leave(FlowId id, Group& group);
  /// The flow has arrived: its number is free, and the listener is notified.
  void deliver(FlowId id) {
    const std::uint64_t tag = flows_[id].tag;
    const std::uint32_t parts = flows_[id].parts;
    flows_.release(id);
    notify(tag, parts);
  }
  /// Notifies the listener of `parts` messages.
  void notify(std::uint64_t tag, std::uint32_t parts) {
    parts == 1 ? listener_->delivered(tag) : listener_->delivered_together(tag, parts);
  }

 private:
  void deliver_all(std::uint64_t first);

  engine::Engine& engine_;
  FlowTable& flows_;
  DeliveryListener* listener_ = nullptr;
};

}  // namespace photonrail::network
