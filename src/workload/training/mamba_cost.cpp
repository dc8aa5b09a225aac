// A Mamba-2 layer (Dao and Gu, arXiv 2405.21060): in-projection, causal convolution, the scan in chunks, a gated norm and
// the out-projection. For t tokens, n heads of width p, g groups, state N, chunk c (section 6 of the paper):
//   scores within a chunk   2 t c g N        times values  2 t c n p
//   states of the chunks    2 t n p N        their outputs 2 t n p N
// The states between chunks, t / c n p N numbers of fp32, are written, summed up and read. Widths are over tp.
#include "workload/training/part_cost.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

// Share of the bf16 peak that the scan's small products reach: figure 10 of the paper has the scan at about the speed of
// FlashAttention-2 at 2,048 tokens, whose rate is of this order. No table measures it.
constexpr double kScanShare = 0.25;

// Share of the data sheet's bandwidth at which the scan's kernels move what they read and write. No table measures them.
// Two published profiles do: the forward scan of Nemotron 3 Nano takes 369 us in Triton on a Blackwell GPU for prompts of
// up to 8,192 tokens (NVIDIA/Megatron-LM, pull request 5829), for which the bytes below are 0.27 of 8 TB/s; the backward
// kernels grow by 0.43 us a token (state-spaces/mamba, issue 530), which is of this order on an A100. The tables' 0.8 is
// for kernels that do nothing but move.
constexpr double kScanBandwidth = 0.27;

struct MambaWidths {
  std::int64_t heads, inner, groups, states, in, chunks;

  explicit MambaWidths(const CostShape& shape) {
    const MambaSpec& a = *shape.spec.model.mamba;
    heads = std::max<std::int64_t>(a.heads / shape.tp, 1);
    inner = heads * a.head_dim;
    groups = std::max<std::int64_t>(a.groups / shape.tp, 1);
    states = groups * a.state;
    in = 2 * inner + 2 * states + heads;
    chunks = (shape.tokens + a.chunk - 1) / a.chunk;
  }
};

double scan_flops(const CostShape& shape, const MambaWidths& w) {
  const MambaSpec& a = *shape.spec.model.mamba;
  const auto inner = static_cast<double>(w.inner);
  return 2.0 * static_cast<double>(shape.tokens) *
         (a.chunk * static_cast<double>(w.states) + a.chunk * inner + 2.0 * inner * a.state);
}

void add_scan(Cost& cost, const CostShape& shape, const MambaWidths& w) {
  if (shape.book == nullptr) return;
  const MambaSpec& a = *shape.spec.model.mamba;
  const double flops = scan_flops(shape, w);
  const double states = static_cast<double>(w.chunks * w.inner * a.state) * 4.0;
  const double tokens = static_cast<double>(shape.tokens * (3 * w.inner + 2 * w.states)) * kElementBytes;
  // Backward: the states once more, and their gradients the same way.
  cost.forward.operators.push_back(shape.book->add_timed("mamba.scan", {.flops = flops,
                                                                        .flops_share = kScanShare,
                                                                        .bytes = 4.0 * states + tokens,
                                                                        .bytes_share = kScanBandwidth,
                                                                        .kernels = 5.0}));
  cost.input.operators.push_back(shape.book->add_timed("mamba.scan.backward", {.flops = 2.5 * flops,
                                                                               .flops_share = kScanShare,
                                                                               .bytes = 12.0 * states + 2.5 * tokens,
                                                                               .bytes_share = kScanBandwidth,
                                                                               .kernels = 10.0}));
}

// Megatron-LM has tokens before sequences, and the kernels of Mamba sequences before tokens (MambaMixer._ssm_training):
// with several sequences the projection is copied forward and its gradient backward, and the result forward; one element at
// a time, with one operand. With one sequence both orders are the same.
void add_transpositions(Cost& cost, const CostShape& shape, const MambaWidths& w) {
  if (shape.book == nullptr || shape.spec.micro_batch == 1) return;
  const std::int64_t bytes = 2 * kElementBytes;
  const std::int64_t forward = shape.tokens * (w.in + w.inner) * bytes;
  const std::int64_t backward = shape.tokens * w.in * bytes;
  shape.add_passes(cost, "mamba.transposition", {forward, forward / 2, 2}, {backward, backward / 2, 1});
}

}  // namespace

PartCost mamba_cost(const CostShape& shape) {
  const MambaSpec& a = *shape.spec.model.mamba;
  const MambaWidths w(shape);
  const std::int64_t convolved = w.inner + 2 * w.states;
  PartCost cost;
  cost.parameters =
      shape.hidden * w.in + w.inner * shape.hidden + convolved * (a.convolution + 1) + 3 * w.heads + w.inner + shape.norm;
  cost.first = shape.product(shape.tokens, shape.hidden, w.in, shape.norm, "mamba.in");
  shape.add_norm(cost.first, "mamba.norm");
  cost.core = shape.cost(0, shape.tokens * (3 * w.inner + 2 * w.states), 0.0, scan_flops(shape, w));
  shape.add_memory(cost.core, "mamba.convolution", 2 * shape.tokens * convolved * kElementBytes,
                   4 * shape.tokens * convolved * kElementBytes, 2);
  add_scan(cost.core, shape, w);
  add_transpositions(cost.core, shape, w);
  shape.add_memory(cost.core, "mamba.gated_norm", 3 * shape.tokens * w.inner * kElementBytes,
                   5 * shape.tokens * w.inner * kElementBytes, 1);
  cost.last = shape.product(shape.tokens, w.inner, shape.hidden, 0, "mamba.out");
  shape.add_residual(cost.last);
  return cost;
}

}  // namespace photonrail::workload
