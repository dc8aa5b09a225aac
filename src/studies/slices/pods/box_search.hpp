// Which boxes of a torus are idle: sums over prefixes of the idle map, unrolled in each dimension as far as a box that
// wraps around reaches.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::slices {

class BoxSearch {
 public:
  /// For boxes with no side above that of `shape`, in any rotation. `pod` must outlive the search.
  BoxSearch(const Pod& pod, const Shape& shape);

  /// Accelerators of the box that are not idle. REQUIRES: start inside the torus, sides at most those of the torus.
  [[nodiscard]] std::uint32_t busy(const Coordinates& start, const Coordinates& sides) const;
  [[nodiscard]] bool fits(const Shape& shape) const;  ///< no side is larger than that of the torus
  /// The first start, in row-major order, at which the box is idle.
  [[nodiscard]] std::optional<Coordinates> first(const Shape& shape) const;
  /// The start with the fewest idle neighbours; the first of equals.
  [[nodiscard]] std::optional<Coordinates> tightest(const Shape& shape, std::uint32_t& neighbours) const;

 private:
  [[nodiscard]] std::uint32_t sum(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return prefix_[(std::size_t{x} * unrolled_[1] + y) * unrolled_[2] + z];
  }

  Shape torus_;
  std::span<const std::uint8_t> idle_;
  Coordinates unrolled_{};             // sides of the unrolled grid plus 1
  std::vector<std::uint32_t> prefix_;  // busy accelerators below a corner
};

/// The box of `shape` from `start`, which may wrap around.
[[nodiscard]] Placement box_at(const Shape& torus, const Coordinates& start, const Shape& shape);

}  // namespace photonrail::slices
