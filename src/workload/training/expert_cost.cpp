// MLPs: plain, of shared experts, and of routed experts.
#include "workload/training/part_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace photonrail::workload {

namespace {

/// Small kernels around routed experts that the host launches each way: counts, offsets, padding, the exchange's own.
/// Counted by hand, to ten.
constexpr std::int64_t kRoutingLaunches = 30;

/// Activation function of `rows` tokens: with a gate it reads two widths and writes one; backward it reads three and writes
/// two. Without a gate 1 and 1, 2 and 1.
void add_activation(Cost& cost, const CostShape& shape, const char* name, std::int64_t rows, std::int64_t width) {
  const bool gated = shape.spec.model.mlp == MlpKind::kSwiGlu;
  const std::int64_t bytes = rows * width * kElementBytes;
  shape.add_memory(cost, name, (gated ? 3 : 2) * bytes, (gated ? 5 : 3) * bytes, 1);
}

// Gate and value are clamped, each a strided half of the product's result, and joined. Backward each is compared with its
// one or two bounds, its gradient is kept where it was within them, and the gradients are joined. Bytes of an element: a
// clamp reads and writes 4, and so does joining; a comparison reads 2 and writes 1, two are combined in 3, and a gradient
// is kept in 5. All but joining and combining take one element at a time, clamps and comparisons with one operand.
void add_clamps(Cost& cost, const CostShape& shape, const char* name, std::int64_t rows, std::int64_t width) {
  if (shape.book == nullptr || shape.book->how().expert_kernels.biases == ExpertBiases::kFused) return;
  const std::int64_t elements = rows * width;
  shape.add_passes(cost, name, {(2 * 4 + 8) * elements, 2 * 4 * elements / 2, 3},
                   {(3 * 3 + 3 + 2 * 5 + 8) * elements, (3 * 3 + 2 * 2 * 5) * elements / 2, 7});
}

/// Names of the operators of an MLP.
struct MlpNames {
  const char* up;
  const char* activation;
  const char* down;
};
constexpr MlpNames kMlp{"mlp.up", "mlp.activation", "mlp.down"};
constexpr MlpNames kShared{"shared.up", "shared.activation", "shared.down"};

void add_mlp_operators(Cost& cost, const CostShape& shape, std::int64_t width, std::int64_t up, const MlpNames& names) {
  shape.add_product(cost, names.up, shape.tokens, shape.hidden, up, shape.precision(names.up));
  add_activation(cost, shape, names.activation, shape.tokens, width);
  shape.add_product(cost, names.down, shape.tokens, width, shape.hidden, shape.precision(names.down));
}

/// Widths of the routed experts of a rank.
struct RoutedShape {
  std::int64_t tokens;  // whose router runs here
  std::int64_t rows;    // (token, expert) pairs that arrive; the router is fair: as many as leave
  std::int64_t hidden;  // of a token on its way
  std::int64_t width;
  std::int64_t up;  // with SwiGLU the gate too
  std::int64_t experts;

  explicit RoutedShape(const CostShape& shape) {
    const ModelSpec& m = shape.spec.model;
    const ParallelismSpec& p = shape.spec.parallelism;
    tokens = shape.tokens / shape.tp;
    rows = tokens * m.moe->top_k * p.expert_tp();
    hidden = m.moe->latent != 0 ? m.moe->latent : shape.hidden;
    width = m.expert_ffn() / p.expert_tp();
    up = (matrices(m.mlp) - 1) * width;
    experts = m.moe->experts / p.ep;
  }
};

/// Copies of a token that reach some of `ranks` when its top_k experts are drawn evenly: ranks (1 - (1 - 1 / ranks)^top_k).
double copies_of_a_token(const CostShape& shape, double ranks) {
  return ranks * (1.0 - std::pow(1.0 - 1.0 / ranks, shape.spec.model.moe->top_k));
}

// Tokens are sorted by expert and back: each way a token is read once and written for each of its experts, or the other way
// round; backward likewise. (cuDNN and Transformer Engine fuse the weights of the router into the second.) A plain
// all-to-all delivers the tokens sorted by the rank that they come from: they are sorted by expert after it, and back
// before the other (MoEAlltoAllTokenDispatcher of Megatron-LM). Of one copy a rank the rank that receives it makes those of
// its experts, so that the copies that arrive are read and not the rank's own tokens (Hybrid-EP implementation guide of
// DeepEP, sections 5 and 7.2: a kernel behind dispatch and one before combine).
void add_permutation(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  const bool copied = shape.spec.one_copy_per_rank && shape.spec.parallelism.ep > 1;
  const bool twice = !copied && shape.spec.parallelism.ep > 1 && r.experts > 1;
  const double of_token = copied ? copies_of_a_token(shape, shape.spec.parallelism.ep) : 1.0;
  const auto read = static_cast<std::int64_t>(of_token * static_cast<double>(r.tokens));
  const std::int64_t bytes = (read + (twice ? 3 : 1) * r.rows) * r.hidden * kElementBytes;
  shape.add_memory(cost, "experts.permutation", 2 * bytes, 2 * bytes, twice ? 4 : 2, kRoutingLaunches);
}

// Adds to each expert's rows t, of probabilities p and bias b: t + b p, all rows joined, and in fp32 cast back. Backward
// the gradients of b and of p each take a product and a sum over all elements, and the rows are joined again. Products with
// p and b are broadcast: 2 (in fp32 4) bytes an element forward, 8 (16) backward.
void add_second_bias(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  const ExpertBiases how = shape.book->how().expert_kernels.biases;
  if (how == ExpertBiases::kFused || !shape.spec.model.biases) return;
  const std::int64_t elements = r.rows * r.hidden;
  const bool wide = how == ExpertBiases::kFp32;
  const std::int64_t joined = wide ? 2 : 1;  // kernels over all rows
  shape.add_passes(cost, "experts.bias", {(wide ? 28 : 12) * elements, (wide ? 4 : 2) * elements, 2 * r.experts + joined},
                   {(wide ? 40 : 16) * elements, (wide ? 16 : 8) * elements, (wide ? 5 : 4) * r.experts + joined});
}

void add_single_products(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  const std::int64_t rows = std::max<std::int64_t>(r.rows / r.experts, 1);
  const EqualProducts all{static_cast<double>(r.experts)};
  shape.add_product(cost, "experts.up", rows, r.hidden, r.up, shape.precision("experts.up"), all);
  shape.add_product(cost, "experts.down", rows, r.width, r.hidden, shape.precision("experts.down"), all);
  add_activation(cost, shape, "experts.activation", r.rows, r.width);
  add_permutation(cost, shape, r);
}

// The table's grouped products have the permutation and the activation in them.
void add_grouped_products(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  const ModelSpec& m = shape.spec.model;
  GroupedProduct op{.precision = shape.precision("experts"),
                    .pairs = std::max<std::int64_t>(r.rows, 1),
                    .hidden = r.hidden,
                    .ffn = r.width,
                    .experts = r.experts,
                    .top_k = m.moe->top_k,
                    .total_experts = m.moe->experts,
                    .gated = m.mlp == MlpKind::kSwiGlu};
  const auto add = [&](Work& to, const char* name, GroupedProduct::Pass pass) {
    op.pass = pass;
    to.operators.push_back(shape.book->add(OperatorClass::kExperts, name, op, 8.0));
  };
  using enum GroupedProduct::Pass;
  add(cost.forward, "experts", kForward);
  add(cost.input, "experts.input_gradient", kInputGradient);
  add(cost.weight, "experts.weight_gradient", kWeightGradient);
  add_activation(cost, shape, "experts.activation", r.rows, r.width);
  cost.forward.operators.pop_back();  // in the table's time
  const std::int64_t bytes =
      r.experts * r.hidden * (r.width + r.up) * (2 * std::int64_t{shape.spec.gradient_bytes} - kElementBytes);
  if (bytes > 0) {
    cost.weight.operators.push_back(shape.book->add(OperatorClass::kMemory, "gradients.sum", MemoryBound{bytes, 0}, 0.0));
  }
}

// Share of the data sheet's bandwidth at which Megatron-LM's Triton kernel copies into pages: 896 MiB in 468 us on a GB300,
// read and written (its pull request 6414).
constexpr double kStashBandwidth = 0.5;

void add_stash(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  const double pair = kept_bytes(shape.precision("experts.up")) * static_cast<double>(r.hidden) +
                      kept_bytes(shape.precision("experts.down")) * static_cast<double>(r.width) +
                      static_cast<double>(kElementBytes * r.up);
  const auto bytes = static_cast<std::int64_t>(2.0 * pair * static_cast<double>(r.rows));
  const BookedOperator copy = shape.book->add_timed(
      "experts.stash " + std::to_string(bytes) + " B",
      {.kind = OperatorClass::kMemory, .bytes = static_cast<double>(bytes), .bytes_share = kStashBandwidth});
  cost.forward.operators.push_back(copy);
  cost.input.operators.push_back(copy);
}

void add_routed_operators(Cost& cost, const CostShape& shape, const RoutedShape& r) {
  if (shape.book == nullptr) return;
  add_clamps(cost, shape, "experts.clamps", r.rows, r.width);
  add_second_bias(cost, shape, r);
  if (shape.book->how().expert_kernels.stashed) add_stash(cost, shape, r);
  shape.book->how().expert_kernels.grouped ? add_grouped_products(cost, shape, r) : add_single_products(cost, shape, r);
  cost.forward.host_waits = cost.input.host_waits = true;
}

/// The MLP of the shared experts, and the projections around the routed ones.
PartCost beside_routed(const CostShape& shape) {
  const ModelSpec& m = shape.spec.model;
  CostShape without_norm = shape;
  without_norm.norm = 0;
  PartCost cost;
  if (m.shared_width() > 0) {
    const std::int64_t width = m.shared_width() / shape.tp;
    const std::int64_t up = (matrices(m.mlp) - 1) * width;
    cost.parameters = matrices(m.mlp) * shape.hidden * width + (m.biases ? up + shape.hidden : 0);
    const double flops = 2.0 * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden) *
                         static_cast<double>(width) * matrices(m.mlp);
    cost.last = without_norm.cost(cost.parameters, shape.tokens * (2 * shape.hidden + 2 * up), flops);
    add_mlp_operators(cost.last, shape, width, up, kShared);
  }
  return cost;
}

Work repeated(const CostShape& shape, const PartCost& part, bool whole, bool experts) {
  Work again;
  if (shape.book == nullptr) return again;
  const TrainingOperators& how = *shape.spec.operators;
  if (whole) return part.core.forward + (experts ? part.last.forward : Work{});
  Cost some;
  if (how.again.norms) shape.add_norm(some, "again.norm");
  const ModelSpec& m = shape.spec.model;
  if (how.again.activations && experts) {
    const RoutedShape r(shape);
    add_clamps(some, shape, "again.clamps", r.rows, r.width);
    add_activation(some, shape, "again.activation", r.rows, r.width);
  } else if (how.again.activations) {
    add_activation(some, shape, "again.activation", shape.tokens, m.ffn / shape.tp);
  }
  return some.forward;
}

}  // namespace

PartCost mlp_cost(const CostShape& shape, std::int64_t ffn) {
  const ModelSpec& m = shape.spec.model;
  const std::int64_t width = ffn / shape.tp;
  const std::int64_t up = (matrices(m.mlp) - 1) * width;  // with SwiGLU the gate too; the down projection reads both
  PartCost cost;
  cost.parameters = matrices(m.mlp) * shape.hidden * width + shape.norm + (m.biases ? up + shape.hidden : 0);
  const double flops = 2.0 * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden) *
                       static_cast<double>(width) * matrices(m.mlp);
  cost.core = shape.cost(cost.parameters, shape.tokens * (2 * shape.hidden + 2 * up), flops);
  if (shape.book == nullptr) return cost;
  add_mlp_operators(cost.core, shape, width, up, kMlp);
  const Work again = repeated(shape, cost, shape.book->how().again.mlp, false);
  shape.add_norm(cost.core, "mlp.norm");
  shape.add_residual(cost.core);
  cost.again = again;
  return cost;
}

PartCost expert_cost(const CostShape& shape) {
  const ModelSpec& m = shape.spec.model;
  const RoutedShape r(shape);
  PartCost cost;
  cost.first = shape.product(r.tokens, shape.hidden, m.moe->experts, shape.norm, "experts.router");
  cost.parameters = shape.hidden * m.moe->experts + shape.norm;
  shape.add_norm(cost.first, "experts.norm");
  // Scores, the choice of the top k, counts and the map of the permutation: some dozen small kernels.
  const std::int64_t scores = r.tokens * m.moe->experts * 4;
  shape.add_memory(cost.first, "experts.routing", 8 * scores, 4 * scores, 12);
  if (m.moe->latent != 0) {
    cost.first = cost.first + shape.product(r.tokens, shape.hidden, r.hidden, 0, "experts.latent_down");
    cost.last = shape.product(r.tokens, r.hidden, shape.hidden, 0, "experts.latent_up");
    cost.parameters += 2 * shape.hidden * r.hidden;
  }
  const double flops =
      2.0 * static_cast<double>(r.rows) * static_cast<double>(r.hidden) * static_cast<double>(r.width) * matrices(m.mlp);
  cost.core = shape.cost(routed_parameters(shape), r.rows * (2 * r.hidden + 2 * r.up), flops);
  add_routed_operators(cost.core, shape, r);
  const PartCost beside = beside_routed(shape);
  cost.last = cost.last + beside.last;
  cost.parameters += beside.parameters;
  cost.again = repeated(shape, cost, shape.book != nullptr && shape.book->how().again.experts, true);
  shape.add_residual(cost.first);  // comes last, and takes as long here
  return cost;
}

std::int64_t routed_parameters(const CostShape& shape) {
  const ModelSpec& m = shape.spec.model;
  const RoutedShape r(shape);
  return r.experts * (r.hidden * (r.width + r.up) + (m.biases ? r.up + shape.hidden : 0));
}

std::int64_t dispatched_bytes(const CostShape& shape) {
  const ModelSpec& m = shape.spec.model;
  const RoutedShape r(shape);
  const std::int64_t copy = r.tokens * r.hidden * shape.spec.parameter_bytes;
  const std::uint32_t shared = shape.book == nullptr ? 1 : shape.book->how().ranks_a_copy;
  const double ranks = static_cast<double>(shape.spec.parallelism.ep) / shared;
  if (!shape.spec.one_copy_per_rank || shape.spec.parallelism.ep == 1) return copy * m.moe->top_k;
  const auto bytes = static_cast<std::int64_t>(copies_of_a_token(shape, ranks) * static_cast<double>(copy));
  return std::max<std::int64_t>(bytes / shape.spec.parallelism.ep * shape.spec.parallelism.ep, shape.spec.parallelism.ep);
}

std::int64_t routing_bytes(const CostShape& shape) { return RoutedShape(shape).tokens * shape.spec.model.moe->experts; }

// Each rank scans the choices of all tokens of the group: where its own go, and which of the others it gets. Published, of
// a B300 and 72 ranks with 12,288 tokens each: 580 us at 6 choices, 2,045 us at 36 (isolated scans of HybridEP with 108
// blocks of 256 threads, before they were made faster in May 2026; docs/models/training-operators.md). The line through
// both, for each token.
constexpr double kScanSeconds = 0.32e-9;
constexpr double kScanSecondsOfChoice = 0.055e-9;

Work routing_scan(const CostShape& shape) {
  Work work;
  if (shape.book == nullptr) return work;
  const std::int64_t tokens = RoutedShape(shape).tokens * shape.spec.parallelism.ep;
  const double choices = shape.spec.model.moe->top_k;
  work.operators.push_back(
      shape.book->add_timed("experts.routing_map of " + std::to_string(tokens),
                            {.kind = OperatorClass::kMemory,
                             .seconds = (kScanSeconds + kScanSecondsOfChoice * choices) * static_cast<double>(tokens)}));
  return work;
}

}  // namespace photonrail::workload
