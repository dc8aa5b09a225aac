// Demands as their controller sees them: views that are kept, so that showing them costs nothing.
#pragma once

#include "photonrail/control/waiting.hpp"
#include "photonrail/fabric_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// Slots are places in ControlPlane's table, and the ids of the views.
class RequestList {
 public:
  [[nodiscard]] std::span<const CircuitRequest> views() const { return views_; }
  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slots_; }
  [[nodiscard]] bool empty() const { return slots_.empty(); }
  /// From now on views() is empty and slots() in no order (in_order() of the board makes one): to keep it would cost as
  /// much as all that is here at every change.
  void drop_order() { ordered_ = false; }

  /// The pairs of those that block, of a policy that serves pairs.
  [[nodiscard]] const WaitingPairs& waiting() const { return waiting_; }
  [[nodiscard]] WaitingPairs& waiting() { return waiting_; }

  /// From now on by_port() is there. It refers to the board's own views.
  void index_ports(RequestsByPort::Order precedes) { by_port_ = std::make_unique<RequestsByPort>(std::move(precedes)); }
  /// Null without index_ports(). The board enters requests, and the rail's agent what became of ports.
  [[nodiscard]] RequestsByPort* by_port() const { return by_port_.get(); }

  /// Shows none; waiting() is as it was.
  void clear() {
    if (by_port_ != nullptr) by_port_->clear();
    for (const std::uint32_t slot : slots_) forget(slot);
    slots_.clear();
    views_.clear();
  }
  /// `place`: in the order, if there is one.
  void insert(std::size_t place, const CircuitRequest& view) {
    if (!ordered_) return add(view.id.value);
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(place), view.id.value);
    views_.insert(views_.begin() + static_cast<std::ptrdiff_t>(place), view);
  }
  void push_back(const CircuitRequest& view) { insert(slots_.size(), view); }
  void erase(std::uint32_t slot) {
    if (!ordered_) return remove(slot);
    const std::size_t place = find(slot);
    if (place == slots_.size()) return;
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(place));
    views_.erase(views_.begin() + static_cast<std::ptrdiff_t>(place));
  }
  /// The demand changed, if it is here.
  void update(const CircuitRequest& view) {
    if (!ordered_) return;
    const std::size_t place = find(view.id.value);
    if (place < views_.size()) views_[place] = view;
  }

 private:
  [[nodiscard]] std::size_t find(std::uint32_t slot) const {
    return static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), slot) - slots_.begin());
  }

  // ---- without an order
  void add(std::uint32_t slot) {
    if (places_.size() <= slot) places_.resize(slot + std::size_t{1}, kNowhere);
    places_[slot] = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(slot);
  }
  void remove(std::uint32_t slot) {
    if (slot >= places_.size() || places_[slot] == kNowhere) return;
    slots_[places_[slot]] = slots_.back();
    places_[slots_.back()] = places_[slot];
    slots_.pop_back();
    forget(slot);
  }
  void forget(std::uint32_t slot) {
    if (slot < places_.size()) places_[slot] = kNowhere;
  }
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  bool ordered_ = true;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> places_;  // by slot, without an order: where in slots_
  std::vector<CircuitRequest> views_;
  WaitingPairs waiting_;
  std::unique_ptr<RequestsByPort> by_port_;
};

}  // namespace photonrail::control_plane
