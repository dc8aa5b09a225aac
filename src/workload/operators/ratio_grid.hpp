// Measured times over a grid of sizes, as their ratio to what the roofline says, interpolated in the logarithm of each
// size.
#pragma once

#include "photonrail/workload/operators.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::workload {

/// Up to four sizes; those that a table does not use are 1 everywhere.
inline constexpr std::size_t kGridAxes = 4;
using GridPosition = std::array<std::int64_t, kGridAxes>;

struct GridPoint {
  GridPosition at{1, 1, 1, 1};
  float log_ratio = 0.0F;  ///< natural logarithm of measured time / base time
};

/// A full grid. Positions that were not measured are filled at construction: between two measured neighbours of a line
/// with the mean of the axes, each weighted by the inverse square of its median error on the measured points; beyond the
/// last measured point of every line with its nearest neighbour, which counts as extrapolated.
class RatioGrid {
 public:
  struct Found {
    double log_ratio = 0.0;
    OperatorSource source = OperatorSource::kTable;
  };

  RatioGrid() = default;
  /// Points at one position: their mean. REQUIRES: sizes are positive.
  explicit RatioGrid(std::span<const GridPoint> points);

  [[nodiscard]] bool empty() const { return cells_.empty(); }
  /// Outside of the grid: the ratio of its border, extrapolated. REQUIRES: not empty, sizes are positive.
  [[nodiscard]] Found at(const GridPosition& where) const;
  [[nodiscard]] bool covers(std::size_t axis, std::int64_t size) const;

  /// Holds what the grid would have said at a measured point without it, by its neighbours on each axis.
  struct LeftOut {
    GridPosition at{1, 1, 1, 1};
    float log_error = 0.0F;  ///< logarithm of predicted / measured
  };
  [[nodiscard]] std::vector<LeftOut> leave_one_out() const;
  /// The same when all points with the same size on `axis` are left out.
  [[nodiscard]] std::vector<LeftOut> leave_line_out(std::size_t axis) const;

 private:
  enum class State : std::uint8_t { kMissing, kMeasured, kBetween, kBeyond };
  struct Axis {
    std::vector<std::int64_t> sizes;
    std::vector<double> logs;
    std::size_t stride = 0;
  };
  struct Estimate {
    float value = 0.0F;
    bool between = false;
    bool found = false;
  };

  [[nodiscard]] Estimate along(std::size_t cell, std::size_t axis, State at_most) const;
  [[nodiscard]] Estimate blend(std::size_t cell, State at_most) const;
  [[nodiscard]] GridPosition position(std::size_t cell) const;
  void weigh_axes();
  void fill();

  std::array<Axis, kGridAxes> axes_;
  std::vector<float> cells_;
  std::vector<State> states_;
  std::array<float, kGridAxes> weights_{1.0F, 1.0F, 1.0F, 1.0F};
};

}  // namespace photonrail::workload
