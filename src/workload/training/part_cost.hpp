// Costs of the parts of a layer, one function a part.
#pragma once

#include "workload/training/layer_cost.hpp"

#include <cstdint>

namespace photonrail::workload {

/// What the costs of a rank are made of.
struct CostShape {
  const TrainingSpec& spec;
  std::int64_t tokens = 0;  ///< of a micro-batch on a context-parallel rank
  std::int64_t hidden = 0;
  std::int64_t norm = 0;  ///< parameters of one norm
  std::int64_t tp = 1;

  explicit CostShape(const TrainingSpec& s);

  /// A computation with `parameters` weights, `elements` of activation read and written, and forward FLOPs that use weights
  /// (a product with them) or do not (scores).
  [[nodiscard]] Cost cost(std::int64_t parameters, std::int64_t elements, double with_weights, double without = 0.0) const;
  /// A matrix product of `rows` x `in` with weights of in x out.
  [[nodiscard]] Cost product(std::int64_t rows, std::int64_t in, std::int64_t out, std::int64_t extra_parameters = 0) const;
};

/// Widths of the attention of one tp rank, in elements.
struct AttentionWidths {
  std::int64_t query = 0;  ///< all heads of the rank
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t out = 0;  ///< of the values that the output projection reads

  explicit AttentionWidths(const TrainingSpec& s);
};

[[nodiscard]] PartCost attention_cost(const CostShape& shape);
[[nodiscard]] PartCost mlp_cost(const CostShape& shape, std::int64_t ffn);  ///< `ffn`: in full
[[nodiscard]] PartCost expert_cost(const CostShape& shape);

}  // namespace photonrail::workload
