// A training step operator by operator: what they are timed by, how the system runs them, and what was used in the end.
#pragma once

#include "photonrail/training.hpp"
#include "photonrail/workload/operators.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

enum class OperatorClass : std::uint8_t { kProducts, kExperts, kAttention, kScan, kMemory, kHost };
inline constexpr int kOperatorClassCount = 6;
[[nodiscard]] std::string_view name(OperatorClass c);  ///< "products", "experts", "attention", "scan", "memory", "host"

/// The launching of kernels by CUDA graphs. A kernel that is not in a CUDA graph costs the host some time
/// (TrainingOperators::kernel_launch).
enum class CudaGraphs : std::uint8_t {
  kNone,    ///< the host launches every kernel
  kLayers,  ///< all but the routed experts are in graphs
  kStep     ///< the whole step is one graph: the host costs nothing
};

/// Computed again in the backward pass, beside TrainingSpec::recompute.
struct RecomputedOperators {
  bool norms = false;
  bool activations = false;
  bool up_projections = false;  ///< latent attention
  bool mlp = false;
  bool experts = false;  ///< with their exchanges
};

/// Routed experts that clamp their activation and have biases (GPT-OSS): in the kernels, or operators of the framework, as
/// TEGroupedMLP of Megatron-LM has them without its fused kernels.
enum class ExpertBiases : std::uint8_t {
  kFused,
  kBf16,  ///< the framework weighs the second product's bias with the router's probabilities, in bf16
  kFp32   ///< in fp32, in which DeepEP and HybridEP deliver the probabilities
};

/// Holds what a rank runs for its routed experts.
struct ExpertKernels {
  bool grouped = true;  ///< one kernel for all experts of a rank; false: a kernel an expert and product, with its own cast
  /// Of the framework: gate and value are clamped and joined again before the activation, 16 bytes an element of its width
  /// (again where activations are recomputed) and 30 backward; the second bias, weighted, is added to each expert's rows
  /// and these are joined, 12 bytes an element and 16 backward in bf16, 28 and 40 in fp32. A good third of these bytes
  /// count as MemoryBound::by_element. Without biases in the model: the clamps.
  ExpertBiases biases = ExpertBiases::kFused;
  /// Activations that routed experts keep for their backward pass are copied out of buffers of a fixed size, and back
  /// ("paged stash": whole-step graphs of experts without a capacity, whose sizes the host never learns; arXiv 2603.07685):
  /// each way it is read and written once. Kept of a pair: the inputs of both products at their precision, and the result
  /// of the first in 2 bytes.
  bool stashed = false;
};

/// Holds what a rank runs for the core of attention and around it.
struct AttentionKernels {
  /// false: scores go to memory and back, as kernels of 2022 had it and as masks that a fused kernel does not know
  /// (attention sinks) make it: beside the two products softmax reads and writes each score of 2 bytes forward; backward it
  /// reads it and its gradient and writes one. Dropout adds 3 bytes each way: a mask of 1 byte, and a score once more.
  bool fused = true;
  bool dropout = false;  ///< unfused only: masks are written, read and applied
  /// Latent attention: false: rotary embeddings are operators of the framework, and each head's parts are joined by it
  /// (Megatron-LM without apply_rope_fusion).
  bool fused_rotary = true;
};

/// Products of layers by name, as OperatorUse has them without "again." and sizes: "attention.qkv", "mamba.out". Not those
/// of head and router, which are always bf16.
[[nodiscard]] const std::vector<std::string_view>& product_names();

/// Where products of layers are not in TrainingOperators::precision, as recipes of low precision have it: the first and
/// last layers in bf16 (Megatron-LM, first_last_layers_bf16), and single products in another precision (its recipes of
/// quantisation by module; arXiv 2604.12374, table 3).
struct MixedPrecision {
  struct Product {
    std::string name{};  ///< of one product, or "attention" for all "attention.*"; the longest that fits counts
    OperatorPrecision precision = OperatorPrecision::kBf16;
  };
  std::vector<Product> products{};
  std::uint32_t first_layers = 0;  ///< so many layers of the model are in bf16
  std::uint32_t last_layers = 0;
  bool predictions = false;  ///< modules that predict further tokens are in bf16

  /// Returns the precision of a product in a layer that is not in bf16; `other`: where no name fits.
  [[nodiscard]] OperatorPrecision of(std::string_view product, OperatorPrecision other) const;
  /// Returns true when a layer of a model with `layers` is in bf16; those from `layers` on predict further tokens.
  [[nodiscard]] bool in_bf16(std::uint32_t layer, std::uint32_t layers) const;
};

/// Describes how a system computes the parts of a layer.
struct TrainingOperators {
  OperatorTimes times{OperatorRoofline{}};
  std::string gpu{};  ///< follows the names of what ran on it (OperatorUse::name); "": nothing does
  OperatorPrecision precision = OperatorPrecision::kBf16;  ///< of the products in layers; head, router and scores are bf16
  MixedPrecision mixed{};                                  ///< products that are in another
  OperatorPrecision scores = OperatorPrecision::kBf16;  ///< of the core of attention; kFp8 where a system has such kernels
  /// Only adapters learn, so that weights have no gradients: no products for them, no reduction, no optimizer. The
  /// adapters' own work is left out.
  bool frozen_weights = false;
  /// Every time that comes from a table is so many times the table's, for what idle GPUs with cool clocks do not show;
  /// fitted by calibration, above 0.
  double factor = 1.0;
  AttentionKernels attention{};
  ExpertKernels expert_kernels{};

  /// With TrainingSpec::one_copy_per_rank: so many neighbouring ranks share one copy, which reaches them over one of them
  /// (the servers of DeepEP and HybridEP, arXiv 2412.19437, section 3.2.2). What they pass on among each other is left out.
  std::uint32_t ranks_a_copy = 1;

  RecomputedOperators again{};

  CudaGraphs graphs = CudaGraphs::kStep;
  /// Of the host for one kernel that a library launches in a loop: products of experts one by one. Launches run ahead of
  /// the GPU, so that a part takes the longer of the two; but routed experts without a capacity have sizes that the host
  /// must read from the GPU first: there both add up. Published: 33 us an expert's product of 4 kernels
  /// (NVIDIA/TransformerEngine, pull request 3134: 0.27 ms for 8 products of 128 x 2048 x 2048).
  Duration kernel_launch{8'000'000};
  /// Of the host for one kernel that the framework calls by itself. A call of PyTorch's linear layer takes 13.5 us on the
  /// x86 host of a DGX H100 and 37.1 us on GB200's Grace, 2.75 times as long (NVIDIA/TransformerEngine, issue 2053).
  Duration operator_call{8'000'000};
  bool host_waits_for_routing = true;
};

/// One operator of a step, over all GPUs.
struct OperatorUse {
  std::string name;  ///< "attention.qkv 8192 x 6144 x 4096 fp8"
  OperatorClass kind = OperatorClass::kProducts;
  OperatorSource source = OperatorSource::kRoofline;
  double times = 0.0;    ///< how often it ran
  double seconds = 0.0;  ///< of GPU time, all together
};

/// Holds what a step computed, over all GPUs: costliest first.
struct OperatorUsage {
  std::vector<OperatorUse> operators;

  /// Of all operators, and of those of a class whose time came from there; summed over GPUs.
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double seconds(OperatorClass kind, OperatorSource source) const;
};

/// A training step, and what it does.
struct TrainingStep {
  TaskGraph graph;
  TrainingWork work;
};
/// make_training_graph() and training_work() at once, with TrainingWork::operators. Throws ConfigError (see validate()).
[[nodiscard]] TrainingStep make_training_step(const TrainingSpec& spec);

}  // namespace photonrail
