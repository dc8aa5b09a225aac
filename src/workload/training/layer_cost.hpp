// FLOPs, bytes of memory traffic and parameters of the parts of a model, on one rank, for one micro-batch.
//
// FLOPs: a matrix product of [t x a] and [a x b] takes 2 t a b; backward takes one such product for the gradient of the
// input and one for that of the weights (Narayanan et al., arXiv 2104.04473, appendix; Korthikanti et al., arXiv
// 2205.05198, appendix). For t tokens in sequences of s, head width d, Q = heads x d, K = kv_heads x d:
//   query, key, value   2 t h (Q + 2 K)       grouped KV heads: arXiv 2305.13245
//   scores and values   2 x 2 t s Q           all of them, as in both papers; half with `causal` (arXiv 2307.08691, 4.1)
//   output              2 t Q h
//   MLP                 2 t h ffn for each matrix: 3 with SwiGLU (arXiv 2002.05202), 2 plain
//   router              2 t h experts
//   output head         2 t h V
// and with latent attention (arXiv 2405.04434, section 2.1), n heads, latents of r_q and r_k, head widths d_n, d_r, d_v:
//   down                2 t h (r_q + r_k + d_r)
//   up                  2 t (r_q n (d_n + d_r) + r_k n (d_n + d_v))
//   scores and values   2 t s n (d_n + d_r + d_v)
//   output              2 t n d_v h
// Widths are over tp, but the router's and the latents' down projections, which every tp rank computes whole. Where tp
// exceeds kv_heads a rank holds one whole KV head, so that K / tp does not shrink further. Norms, activation functions,
// rotary embedding, softmax, the embedding's lookup and the loss count no FLOPs.
//
// Memory traffic of a forward part: its weights once, plus the input and output of each matrix product and of the
// attention kernel once (scores stay on chip, as in FlashAttention, arXiv 2205.14135; the activation function is fused
// into the down projection). Backward: twice that, plus one write of the weights' gradients.
#pragma once

#include "photonrail/training.hpp"
#include "workload/training/operator_book.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

struct Work {
  double flops = 0.0;
  Bytes memory{};                           ///< read and written
  std::vector<BookedOperator> operators{};  ///< with TrainingSpec::operators: what it is made of
  bool host_waits = false;                  ///< its kernels are launched when the GPU has said how much there is to do

  friend Work operator+(Work a, const Work& b);
};
/// `part` of the work.
[[nodiscard]] Work scaled(const Work& work, double part);

/// One computation, forward and backward. The backward pass is in two halves, as zero-bubble schedules part them.
struct Cost {
  Work forward;
  Work input;   ///< gradient of the input
  Work weight;  ///< gradient of the weights

  friend Cost operator+(const Cost& a, const Cost& b) {
    return {a.forward + b.forward, a.input + b.input, a.weight + b.weight};
  }
};

/// A part of a layer. What happens between the three: attention: the ring of context parallelism turns during `core`;
/// experts: the tokens travel before and after it. Other parts have a core only.
struct PartCost {
  std::int64_t parameters = 0;  ///< without routed experts
  Cost first;                   ///< attention: queries, keys, values; experts: the router
  Cost core;                    ///< attention: scores and values; experts: the routed experts
  Cost last;                    ///< attention: output; experts: the shared experts

  Work again;  ///< what the backward pass computes once more

  [[nodiscard]] Cost whole() const { return first + core + last; }
};

struct ModelCost {
  PartCost embedding;
  PartCost attention;
  PartCost windowed;  ///< attention over the sliding window, of a model with one
  PartCost mamba;
  PartCost mlp;
  PartCost experts;
  PartCost prediction;                 ///< of a further token: the projection in front of its layer
  PartCost head;                       ///< last norm, output projection and loss
  std::int64_t expert_parameters = 0;  ///< of the routed experts of one layer, on one rank
  Bytes activation;                    ///< what passes between two layers: the micro-batch, in full on a tp rank
  Bytes activation_shard;              ///< the part of it that one rank holds under sequence parallelism
  Bytes kv_block;                      ///< context parallelism: keys and values of the tokens of one rank
  Bytes dispatch;                      ///< what a rank sends to experts, its own included: tokens x top_k x hidden
  Bytes routing;                       ///< TrainingSpec::gathers_routing: of a rank
  Work routing_scan;                   ///< of what all ranks gathered
};

/// REQUIRES: spec is valid. `book`: gets the operators, which the works then name; null: works have none. `in_bf16`: of
/// layers that are kept in it.
[[nodiscard]] ModelCost model_cost(const TrainingSpec& spec, OperatorBook* book = nullptr, bool in_bf16 = false);

/// Adam on `parameters` of one rank: no FLOPs counted, it is bound by memory.
[[nodiscard]] Work optimizer_work(const TrainingSpec& spec, std::int64_t parameters, OperatorBook* book = nullptr);

}  // namespace photonrail::workload
