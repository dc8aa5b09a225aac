// Which tori have a twisted form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace photonrail::core {

/// The side k of k, k, 2k or k, 2k, 2k in any order; 0: the sides are others, and such a torus has no twisted form.
[[nodiscard]] inline std::uint32_t short_side_of_twist(std::span<const std::uint32_t> sides) {
  if (sides.size() != 3) return 0;
  const std::uint32_t k = *std::min_element(sides.begin(), sides.end());
  const std::uint32_t longest = *std::max_element(sides.begin(), sides.end());
  const bool plain =
      std::all_of(sides.begin(), sides.end(), [&](std::uint32_t side) { return side == k || side == longest; });
  return plain && longest == 2 * k ? k : 0;
}

}  // namespace photonrail::core
