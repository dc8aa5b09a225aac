// Demands as their controller sees them: views that are kept, so that showing them costs nothing.
#pragma once

#include "photonrail/control/requests_by_port.hpp"
#include "photonrail/control/waiting_pairs.hpp"
#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace photonrail::control_plane {

/// Slots are places in ControlPlane's table, and the ids of the views.
class RequestList {
 public:
  [[nodiscard]] std::span<const CircuitRequest> views() const { return views_; }
  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slots_; }
  [[nodiscard]] bool empty() const { return slots_.empty(); }

  /// The pairs of those that block, of a policy that serves pairs.
  [[nodiscard]] const WaitingPairs& waiting() const { return waiting_; }
  [[nodiscard]] WaitingPairs& waiting() { return waiting_; }

  /// From now on by_port() is there. It refers to the board's own views.
  void index_ports() { by_port_ = std::make_unique<RequestsByPort>(); }
  /// Null without index_ports(). The board enters requests, and the rail's agent what became of ports.
  [[nodiscard]] RequestsByPort* by_port() const { return by_port_.get(); }

  /// Shows none; waiting() is as it was.
  void clear() {
    if (by_port_ != nullptr) by_port_->clear();
    slots_.clear();
    views_.clear();
  }
  void insert(std::size_t place, const CircuitRequest& view) {
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(place), view.id.value);
    views_.insert(views_.begin() + static_cast<std::ptrdiff_t>(place), view);
  }
  void push_back(const CircuitRequest& view) { insert(slots_.size(), view); }
  void erase(std::uint32_t slot) {
    const std::size_t place = find(slot);
    if (place == slots_.size()) return;
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(place));
    views_.erase(views_.begin() + static_cast<std::ptrdiff_t>(place));
  }
  /// The demand changed, if it is here.
  void update(const CircuitRequest& view) {
    const std::size_t place = find(view.id.value);
    if (place < views_.size()) views_[place] = view;
  }

 private:
  [[nodiscard]] std::size_t find(std::uint32_t slot) const {
    return static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), slot) - slots_.begin());
  }

  std::vector<std::uint32_t> slots_;
  std::vector<CircuitRequest> views_;
  WaitingPairs waiting_;
  std::unique_ptr<RequestsByPort> by_port_;
};

}  // namespace photonrail::control_plane
