// Lines of accelerators through cubes.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <optional>

namespace photonrail::slices {

/// The emptiest cubes that are in use, with empty ones where they are too few, until there is room; all idle accelerators
/// of each but the last, and in the last one a simple path from one face to the opposite or the same. Source: RFold (arXiv
/// 2510.03891), which limits the search by a clock; here it is limited by steps, so that equal states give equal answers.
/// REQUIRES: check_cubes().
[[nodiscard]] std::optional<Placement> place_line(const Pod& pod, const Shape& shape);

}  // namespace photonrail::slices
