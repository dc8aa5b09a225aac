// Costs of the parts of a layer, one function a part.
#pragma once

#include "workload/training/layer_cost.hpp"

#include <cstdint>
#include <string_view>

namespace photonrail::workload {

inline constexpr std::int64_t kElementBytes = 2;  // of an activation between operators: bf16

/// A number of equal products: launched one by one, or as one kernel that batches them.
struct EqualProducts {
  double times = 1.0;
  bool batched = false;
};

/// Bytes of an element that a product has read, kept for the gradient of its weights; without scales.
[[nodiscard]] inline double kept_bytes(OperatorPrecision precision) {
  return precision == OperatorPrecision::kBf16 ? 2.0 : precision == OperatorPrecision::kFp4 ? 0.5 : 1.0;
}

/// Holds what the costs of a rank are made of.
struct CostShape {
  const TrainingSpec& spec;
  std::int64_t tokens = 0;  ///< of a micro-batch on a context-parallel rank
  std::int64_t hidden = 0;
  std::int64_t norm = 0;  ///< parameters of one norm
  std::int64_t tp = 1;
  std::int64_t own_tokens = 0;  ///< of the rank where activations are sharded: under sequence parallelism a tp-th
  OperatorBook* book = nullptr;
  bool in_bf16 = false;  ///< all products, whatever the precision of others (MixedPrecision)

  explicit CostShape(const TrainingSpec& s, OperatorBook* operators = nullptr);

  /// A computation with `parameters` weights, `elements` of activation read and written, and forward FLOPs that use weights
  /// (a product with them) or do not (scores).
  [[nodiscard]] Cost cost(std::int64_t parameters, std::int64_t elements, double with_weights, double without = 0.0) const;
  /// A matrix product of `rows` x `in` with weights of in x out.
  [[nodiscard]] Cost product(std::int64_t rows, std::int64_t in, std::int64_t out, std::int64_t extra_parameters = 0,
                             const char* name = "product") const;
  /// The operators of such a product, without FLOPs and memory, of `rows` each.
  void add_product(Cost& cost, const char* name, std::int64_t rows, std::int64_t in, std::int64_t out,
                   OperatorPrecision precision, EqualProducts several = {}) const;
  /// An operator that is bound by memory: bytes forward and backward. Only a book has them. `launches`: of the host, where
  /// there are more than `kernels` that take the GPU some time; 0: as many.
  void add_memory(Cost& cost, const char* name, std::int64_t forward_bytes, std::int64_t backward_bytes,
                  std::int64_t kernels = 1, std::int64_t launches = 0) const;
  /// Bytes of kernels of the framework.
  struct Passes {
    std::int64_t bytes = 0;
    std::int64_t by_element = 0;  ///< of them
    std::int64_t kernels = 1;
  };
  void add_passes(Cost& cost, const char* name, const Passes& forward, const Passes& backward) const;
  /// Norm of the tokens before a part, and the sum with the residual behind it.
  void add_norm(Cost& cost, const char* name) const;
  void add_residual(Cost& cost) const;
  [[nodiscard]] OperatorPrecision precision(std::string_view product) const;
};

/// Widths of the attention of one tp rank, in elements.
struct AttentionWidths {
  std::int64_t query = 0;  ///< all heads of the rank
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t out = 0;  ///< of the values that the output projection reads

  explicit AttentionWidths(const TrainingSpec& s);
};

[[nodiscard]] PartCost attention_cost(const CostShape& shape, bool windowed = false);
[[nodiscard]] PartCost mamba_cost(const CostShape& shape);
[[nodiscard]] PartCost mlp_cost(const CostShape& shape, std::int64_t ffn);  ///< `ffn`: in full
[[nodiscard]] PartCost expert_cost(const CostShape& shape);
/// Returns the parameters of the routed experts of one layer on one rank.
[[nodiscard]] std::int64_t routed_parameters(const CostShape& shape);
/// Returns what a rank sends to experts, its own included.
[[nodiscard]] std::int64_t dispatched_bytes(const CostShape& shape);
/// Returns the bytes of a rank's map of tokens and experts, and the scan of those of all ranks
/// (TrainingSpec::gathers_routing).
[[nodiscard]] std::int64_t routing_bytes(const CostShape& shape);
[[nodiscard]] Work routing_scan(const CostShape& shape);

}  // namespace photonrail::workload
