// Which boxes of a torus are idle: sums over prefixes of the idle map, unrolled twice in each dimension so that a box may
// wrap around.
#pragma once

#include "photonrail/allocation/allocator.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::allocation {

class BoxSearch {
 public:
  explicit BoxSearch(const Pod& pod);

  /// Accelerators of the box that are not idle. REQUIRES: start inside the torus, sides at most those of the torus.
  [[nodiscard]] std::uint32_t busy(const Coordinates& start, const Coordinates& sides) const;
  [[nodiscard]] bool fits(const Shape& shape) const;  ///< no side is larger than that of the torus
  /// The first start, in row-major order, at which the box is idle.
  [[nodiscard]] std::optional<Coordinates> first(const Shape& shape) const;
  /// The same with starts at multiples of `steps` and boxes that stay inside a block.
  [[nodiscard]] std::optional<Coordinates> first_in_blocks(const Shape& shape, const Coordinates& steps,
                                                           std::uint32_t block) const;
  /// The start with the fewest idle neighbours; the first of equals.
  [[nodiscard]] std::optional<Coordinates> tightest(const Shape& shape, std::uint32_t& neighbours) const;

 private:
  [[nodiscard]] std::uint32_t sum(std::uint32_t x, std::uint32_t y, std::uint32_t z) const;

  Shape torus_;
  Coordinates unrolled_{};             // sides of the unrolled grid plus 1
  std::vector<std::uint32_t> prefix_;  // busy accelerators below a corner
};

/// The box of `shape` from `start`, which may wrap around.
[[nodiscard]] Placement box_at(const Shape& torus, const Coordinates& start, const Shape& shape);

}  // namespace photonrail::allocation
