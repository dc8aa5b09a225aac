// Core attention of one GPU and precision.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/product_table.hpp"
#include "workload/operators/ratio_grid.hpp"

#include <vector>

namespace photonrail::workload {

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

  AttentionTable(const Measured<Attention>& rows, const OperatorRoofline& device);

  /// A window or head width that was not measured: those of the nearest, extrapolated. Backward passes and unequal lengths
  /// of queries and keys are extrapolated from the forward pass.
  [[nodiscard]] Answer time(const Attention& op, const OperatorRoofline& on) const;
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  [[nodiscard]] const Part& nearest(const Attention& op) const;

  std::vector<Part> parts_;
  double smallest_ = 0.0;  ///< picoseconds, of the smallest kernel
};

/// Core attention of DeepSeek's dimensions; other widths of heads are extrapolated.
class LatentTable {
 public:
  using Answer = ProductTable::Answer;

  LatentTable(const Measured<LatentCore>& rows, const OperatorRoofline& device);
  [[nodiscard]] Answer time(const LatentCore& op, const OperatorRoofline& on) const;
  [[nodiscard]] const RatioGrid& grid() const { return grid_; }

 private:
  RatioGrid grid_;
  double smallest_ = 0.0;
  std::int64_t query_dim_ = 0;
  std::int64_t value_dim_ = 0;
};

}  // namespace photonrail::workload
