// Kernel times of a model on one GPU from its dimensions: measured tables of operators where a GPU has them, else its
// roofline.
#pragma once

#include "photonrail/workload/model.hpp"
#include "photonrail/workload/operators.hpp"
#include "serving/engine/kernel_tables.hpp"

#include <cstdint>
#include <string>

namespace photonrail::serving {

struct ServedModel {
  ModelSpec model{};
  std::uint32_t tp = 1;
  std::uint32_t stages = 1;                                ///< each of `tp` GPUs, with as many layers
  std::uint32_t dp = 1;                                    ///< engines that step together, and share the routed experts
  std::uint32_t ep = 1;                                    ///< of their `tp` x `dp` GPUs so many have experts of their own
  OperatorPrecision precision = OperatorPrecision::kBf16;  ///< of the products
  double weight_bytes = 2.0;                               ///< of a weight
  double kv_bytes = 2.0;                                   ///< of an element of the cache
  bool rotates_apart = false;  ///< rotary embedding and the write of KV are kernels beside that of attention

  /// KV of a token on one GPU. Heads are copied where there are fewer than GPUs; a latent is on each of them.
  [[nodiscard]] double kv_per_gpu() const;
  /// KV of a token that leaves an engine: what each of its GPUs has, and of a latent one copy.
  [[nodiscard]] double kv_sent() const;
  [[nodiscard]] double weights_per_gpu() const;
  /// What a token sends to its experts and gets from them, in all layers and in bf16.
  [[nodiscard]] double exchanged_per_token() const;
};

/// What of a step no table of `times` has, in words; empty: there is a measured row near each kernel.
[[nodiscard]] std::string not_in_tables(const ServedModel& served, const OperatorTimes& times);

/// The kernels of one step, in the form of a profile. Layers of several kinds are averaged; those with a
/// window read its tokens, and keep the KV of all. REQUIRES: no layer of Mamba.
[[nodiscard]] KernelTables kernels_of(const ServedModel& served, const OperatorTimes& times, std::uint32_t max_tokens,
                                      std::uint32_t max_sequences);

}  // namespace photonrail::serving
