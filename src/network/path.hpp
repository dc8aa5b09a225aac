// The way of a message: the capacities that it takes a share of, and the time that it needs besides its bytes.
#pragma once

#include "photonrail/units.hpp"
#include "topology/plant.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::network {

using topology::CapacityId;

class Path {
 public:
  static constexpr std::size_t kInline = 6;  ///< scale-up, NIC, leaf, leaf, NIC: a path without forwarding has no more

  void add(CapacityId capacity) {
    if (count_ < kInline) {
      near_[count_++] = capacity;
      return;
    }
    if (far_.empty()) far_.assign(near_.begin(), near_.end());
    far_.push_back(capacity);
    ++count_;
  }
  [[nodiscard]] std::span<const CapacityId> hops() const {
    return count_ <= kInline ? std::span<const CapacityId>(near_.data(), count_) : std::span<const CapacityId>(far_);
  }

  /// One of the ways of a path of several parts.
  [[nodiscard]] Path part(std::uint32_t index) const;

  Duration latency{};   ///< from the last byte's departure to its arrival
  Duration overhead{};  ///< the sender's gap between two messages
  /// Number of ways of equally many capacities, one after another in hops(): one message for each, all alike.
  std::uint32_t parts = 1;

 private:
  std::array<CapacityId, kInline> near_{};
  std::uint32_t count_ = 0;
  std::vector<CapacityId> far_;  // the whole path, when it is longer than kInline
};

inline Path Path::part(std::uint32_t index) const {
  Path way;
  const std::size_t each = hops().size() / parts;
  for (const CapacityId capacity : hops().subspan(index * each, each)) way.add(capacity);
  way.latency = latency;
  way.overhead = overhead;
  return way;
}

}  // namespace photonrail::network
