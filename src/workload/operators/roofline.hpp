// The roofline is what the datasheet says of an operator.
#pragma once

#include "photonrail/workload/operators.hpp"

#include <algorithm>

namespace photonrail::workload {

/// In picoseconds, at the full rates of the datasheet.
struct RooflineParts {
  double arithmetic = 0.0;
  double memory = 0.0;

  [[nodiscard]] double longest() const { return std::max(arithmetic, memory); }
};

[[nodiscard]] RooflineParts roofline_parts(const MatrixProduct& op, const OperatorRoofline& on);
[[nodiscard]] RooflineParts roofline_parts(const GroupedProduct& op, const OperatorRoofline& on);
[[nodiscard]] RooflineParts roofline_parts(const Attention& op, const OperatorRoofline& on);
[[nodiscard]] RooflineParts roofline_parts(const LatentCore& op, const OperatorRoofline& on);
[[nodiscard]] RooflineParts roofline_parts(const DecodeAttention& op, const OperatorRoofline& on);

}  // namespace photonrail::workload
