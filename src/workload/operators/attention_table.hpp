// Core attention of one GPU and precision.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/product_table.hpp"
#include "workload/operators/ratio_grid.hpp"

#include <optional>
#include <vector>

namespace photonrail::workload {

/// Kernels that were measured as training runs them, over what a table of forward passes says of the same operators: a grid
/// over sequence for each kernel.
class TrainingRatios {
 public:
  struct Kernel {
    bool backward = false;
    std::int64_t head_dim = 0;
    std::int64_t window = 0;  ///< 0: none
    bool operator==(const Kernel&) const = default;
  };

  void add(const Kernel& kernel, std::int64_t sequence, double log_ratio);
  void finish();

  /// Returns the ratio of the nearest head width, then window; nothing where no kernel of the pass was measured, with a
  /// window or without.
  [[nodiscard]] std::optional<RatioGrid::Found> at(const Kernel& kernel, std::int64_t sequence) const;

 private:
  struct Part {
    Kernel kernel;
    std::vector<GridPoint> points;
    RatioGrid grid;
  };

  std::vector<Part> parts_;
};

/// A grid for each head width and window, over sequence, batch, heads and KV heads; without grouping (as many KV heads as
/// heads) apart, so that one grid does not have the diagonal of another.
class AttentionTable {
 public:
  using Answer = ProductTable::Answer;

  struct Part {
    std::int64_t head_dim = 0;
    std::int64_t window = 0;  ///< 0: none
    bool grouped = false;     ///< fewer KV heads than heads
    RatioGrid grid;
  };

  /// `training` may be empty.
  AttentionTable(const Measured<Attention>& rows, const Measured<Attention>& training, const OperatorRoofline& device);

  /// A window or head width that was not measured: those of the nearest, extrapolated, as are unequal lengths of queries
  /// and keys, and backward passes of which no row of training is.
  [[nodiscard]] Answer time(const Attention& op, const OperatorRoofline& on) const;
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  [[nodiscard]] const Part& nearest(const Attention& op) const;

  std::vector<Part> parts_;
  TrainingRatios training_;
  double smallest_ = 0.0;  ///< picoseconds, of the smallest kernel
};

/// Core attention of DeepSeek's dimensions; other widths of heads are extrapolated.
class LatentTable {
 public:
  using Answer = ProductTable::Answer;

  /// `training`: of the precision of the table, whatever that of `rows` is; may be empty.
  LatentTable(const Measured<LatentCore>& rows, const Measured<LatentCore>& training, const OperatorRoofline& device);
  [[nodiscard]] Answer time(const LatentCore& op, const OperatorRoofline& on) const;
  [[nodiscard]] const RatioGrid& grid() const { return grid_; }

 private:
  RatioGrid grid_;
  TrainingRatios training_;
  double smallest_ = 0.0;
  std::int64_t query_dim_ = 0;
  std::int64_t value_dim_ = 0;
};

}  // namespace photonrail::workload
