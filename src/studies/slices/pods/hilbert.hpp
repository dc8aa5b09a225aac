// Positions along a Hilbert curve.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <cstdint>

namespace photonrail::slices {

/// Index of a position along the Hilbert curve of so many dimensions and bits a coordinate. Source: J. Skilling,
/// "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004). REQUIRES: dimensions * bits <= 64; coordinates below
/// 2^bits.
[[nodiscard]] std::uint64_t hilbert_index(Coordinates at, std::uint32_t dimensions, std::uint32_t bits);

}  // namespace photonrail::slices
