// Shapes that a job's shape can be folded to without a loss of links.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::slices {

/// The shape with its sides in ascending order.
[[nodiscard]] Shape ascending(Shape shape);

/// Homomorphic shapes by the rules of RFold (arXiv 2510.03891), with ascending sides, the most cubical first, without
/// doubles: two long sides into three (halve one, add 2; in cubes of 4: quarter one or halve both, add 4), and in cubes of
/// 4 a side of 2 becomes 4 while another even side is halved. `edge`: side of the cubes.
[[nodiscard]] std::vector<Shape> folds_of(const Shape& shape, std::uint32_t edge);

}  // namespace photonrail::slices
