// Operators of a model on one GPU, and how long one takes: from measured tables where they have it, else from the roofline.
// Every time says where it comes from.
#pragma once

#include "photonrail/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace photonrail {

/// Of the inputs of a product. kFp8: one scale a tensor; kFp8Block: one a block (1 x 128 of activations, 128 x 128 of
/// weights; also MXFP8); kFp4: NVFP4, one a 16 elements.
enum class OperatorPrecision : std::uint8_t { kBf16, kFp8, kFp8Block, kFp4 };

/// y[m,n] = x[m,k] W[n,k]^T. Gradient of the input: (m, k, n); of the weights: (n, k, m).
struct MatrixProduct {
  OperatorPrecision precision = OperatorPrecision::kBf16;
  std::int64_t m = 1;  ///< rows: tokens
  std::int64_t n = 1;
  std::int64_t k = 1;  ///< summed over
  /// Low precisions: whether the time has the quantisation of x from bf16 in it. false: x comes quantised.
  bool quantises = true;
};

/// The experts of one rank: permutation of the tokens, grouped products, un-permutation; without the router's product,
/// communication and shared experts. FLOPs forward = 2 x matrices x hidden x ffn x pairs.
struct GroupedProduct {
  /// A pass backward takes as many FLOPs for the gradients of the input, and for those of the weights, as forward.
  enum class Pass : std::uint8_t { kForward, kInputGradient, kWeightGradient };

  OperatorPrecision precision = OperatorPrecision::kBf16;
  std::int64_t pairs = 1;          ///< (token, expert) pairs that the rank computes: tokens of the group x top_k / ep
  std::int64_t hidden = 1;         ///< elements of a token
  std::int64_t ffn = 1;            ///< width of an expert on this rank (over expert tensor parallelism)
  std::int64_t experts = 1;        ///< on this rank
  std::int64_t top_k = 1;          ///< experts that a token chooses
  std::int64_t total_experts = 1;  ///< of the layer
  bool gated = true;               ///< three matrices (SwiGLU), else two
  Pass pass = Pass::kForward;
  /// Tokens that the rank's kernel routes and whose outputs it writes. 0: as many as its pairs need (pairs / top_k), as
  /// behind a dispatcher that sends each rank its own; the tables' kernel takes all tokens of the expert-parallel group.
  std::int64_t routed_tokens = 0;
};

/// Core attention (scores, softmax, values) of one rank, by a fused kernel; projections are products of their own.
/// FLOPs forward = 4 batch heads queries keys head_dim; half of them where causal and queries = keys.
/// Backward: 2.5 times as many (arXiv 2307.08691, 4.1).
struct Attention {
  OperatorPrecision precision = OperatorPrecision::kBf16;
  std::int64_t batch = 1;
  std::int64_t queries = 1;  ///< tokens of a sequence that ask
  std::int64_t keys = 1;     ///< ... that are asked; differs from `queries` under context parallelism
  std::int64_t heads = 1;    ///< on this rank
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t window = 0;  ///< keys that a query sees; 0: all
  bool causal = true;       ///< REQUIRES where true: queries = keys, else the mask hides nothing
  bool backward = false;
};

/// Core attention of latent attention (arXiv 2405.04434), after the up-projections: as `Attention` with heads as many for
/// keys and values. FLOPs forward = 2 batch heads queries keys (query_dim + value_dim), half where causal.
struct LatentCore {
  OperatorPrecision precision = OperatorPrecision::kBf16;
  std::int64_t batch = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t heads = 1;        ///< on this rank
  std::int64_t query_dim = 192;  ///< of a head, with its rotary part
  std::int64_t value_dim = 128;
  bool causal = true;
  bool backward = false;
};

/// Attention of one new token of each sequence over its cache: the cache is read once. FLOPs = 4 batch heads cached
/// head_dim. `latent`: of DeepSeek's dimensions (arXiv 2405.04434), where all heads read one latent of 512 numbers and a
/// rotary key of 64; `kv_heads` and `head_dim` then mean nothing. FLOPs = 2 batch heads cached (576 + 512).
struct DecodeAttention {
  OperatorPrecision precision = OperatorPrecision::kBf16;  ///< of the cache
  std::int64_t batch = 1;                                  ///< sequences
  std::int64_t cached = 1;                                 ///< tokens of each
  std::int64_t heads = 1;                                  ///< on this rank
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  bool latent = false;
};

/// Norms, activations, residuals, rotary embedding, loss, embedding, casts, optimizer: bound by memory.
struct MemoryBound {
  std::int64_t bytes = 0;    ///< read and written
  std::int64_t kernels = 1;  ///< launched; 0: fused into a neighbour, so that only the bytes count
  /// Of `bytes`, those of kernels that take one element at a time: the framework's own over broadcast or strided operands.
  /// Of those with one operand, which run at twice the rate, half.
  std::int64_t by_element = 0;
};

using Operator = std::variant<MatrixProduct, GroupedProduct, Attention, LatentCore, DecodeAttention, MemoryBound>;

/// The evidence for a time. kTable: a point that was measured. kInterpolated: between points. kExtrapolated: outside of
/// the points, or from the table of something like it (a backward pass from the forward pass, another GPU's table, another
/// layout). kRoofline: nothing measured is near.
enum class OperatorSource : std::uint8_t { kTable, kInterpolated, kExtrapolated, kRoofline };
inline constexpr OperatorSource kOperatorSources[] = {OperatorSource::kTable, OperatorSource::kInterpolated,
                                                      OperatorSource::kExtrapolated, OperatorSource::kRoofline};
[[nodiscard]] std::string_view to_string(OperatorSource source);  ///< "table", "interpolated" ...
[[nodiscard]] std::string_view to_string(OperatorPrecision precision);

struct OperatorTime {
  Duration time{};
  OperatorSource source = OperatorSource::kRoofline;
};

/// The datasheet of a GPU as operators need it, and what memory-bound kernels reach.
struct OperatorRoofline {
  double bf16_tflops = 989.0;       ///< dense, 1e12 operations a second
  double fp8_tflops = 0.0;          ///< 0: none, products run as bf16
  double fp4_tflops = 0.0;          ///< 0: none, products run as fp8
  double memory_gb_per_s = 3350.0;  ///< 1e9 bytes a second
  double compute_efficiency = 1.0;  ///< share of the peak that products reach without a table, in (0, 1]
  double memory_efficiency = 0.8;   ///< share of the memory bandwidth that memory-bound kernels reach, in (0, 1]
  Duration kernel{3'000'000};       ///< each memory-bound kernel's fixed time
  /// 1e9 bytes a second of kernels that take one element at a time: on H100 to B300 alike, since instructions bound them
  /// and not memory (docs/models/operators.md has the measurements). Never more than other memory-bound kernels reach.
  double element_gb_per_s = 1100.0;

  [[nodiscard]] double tflops(OperatorPrecision precision) const;
  /// Returns what products of `wanted` are computed in: the next wider precision that the GPU has, where it has not this
  /// one.
  [[nodiscard]] OperatorPrecision available(OperatorPrecision wanted) const;
  friend bool operator==(const OperatorRoofline&, const OperatorRoofline&) = default;
};

/// FLOPs of an operator (none where bound by memory), and bytes that it must read and write at least.
[[nodiscard]] double operator_flops(const Operator& op);
[[nodiscard]] double operator_bytes(const Operator& op);

namespace workload {
class OperatorTables;
}
/// Has the tables of one GPU; formats/operators.hpp finds them.
using OperatorTables = workload::OperatorTables;

/// Times of operators on one GPU. Copies share the tables. Safe to use from several threads.
class OperatorTimes {
 public:
  /// `tables` null: the roofline alone. `borrowed`: they are those of another GPU, whose share of its own roofline is
  /// taken for this one; each time is then kExtrapolated at best.
  explicit OperatorTimes(OperatorRoofline roofline, std::shared_ptr<const OperatorTables> tables = nullptr,
                         bool borrowed = false);

  /// Throws ConfigError where a dimension is not positive.
  [[nodiscard]] OperatorTime time(const Operator& op) const;
  [[nodiscard]] OperatorTime roofline(const Operator& op) const;
  [[nodiscard]] const OperatorRoofline& device() const { return roofline_; }

 private:
  OperatorRoofline roofline_;
  std::shared_ptr<const OperatorTables> tables_;
  bool borrowed_;
};

}  // namespace photonrail
