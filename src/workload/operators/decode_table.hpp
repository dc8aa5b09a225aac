// Attention of one new token a sequence over a cache, of one GPU and one precision of the cache.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/product_table.hpp"
#include "workload/operators/ratio_grid.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// A grid for each head width, over cached tokens, batch, heads and KV heads; without grouping apart, as in AttentionTable.
class DecodeTable {
 public:
  using Answer = ProductTable::Answer;

  struct Part {
    std::int64_t head_dim = 0;
    bool grouped = false;  ///< fewer KV heads than heads
    RatioGrid grid;
  };

  /// REQUIRES: there are rows, all of latent attention or none.
  DecodeTable(const Measured<DecodeAttention>& rows, const OperatorRoofline& device);

  /// A head width that was not measured: that of the nearest, extrapolated.
  [[nodiscard]] Answer time(const DecodeAttention& op, const OperatorRoofline& on) const;
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  double smallest_ = 0.0;  ///< picoseconds, of the smallest kernel
};

}  // namespace photonrail::workload
