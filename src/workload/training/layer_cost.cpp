#include "workload/training/layer_cost.hpp"

#include "workload/training/part_cost.hpp"

namespace photonrail::workload {

namespace {

/// A lookup touches the rows of its tokens only: forward reads t h / tp and writes t h; backward reads the gradient t h
/// and adds t h / tp to rows (read and write).
PartCost embedding_cost(const CostShape& shape) {
  const TrainingSpec& spec = shape.spec;
  const std::int64_t own = shape.tokens * (shape.hidden / shape.tp);
  const std::int64_t all = shape.tokens * shape.hidden;
  PartCost cost;
  cost.parameters = shape.hidden * (spec.model.vocabulary / shape.tp + spec.model.positions);
  cost.core.forward = {0.0, {(own + all) * spec.parameter_bytes}};
  cost.core.weight = {0.0, {all * spec.parameter_bytes + 2 * own * spec.gradient_bytes}};
  return cost;
}

PartCost head_cost(const CostShape& shape) {
  PartCost cost;
  const std::int64_t words = shape.spec.model.vocabulary / shape.tp;
  cost.parameters = shape.hidden * words + shape.norm;
  cost.core = shape.product(shape.tokens, shape.hidden, words, shape.norm);
  return cost;
}

}  // namespace

CostShape::CostShape(const TrainingSpec& s)
    : spec(s),
      tokens(std::int64_t{s.micro_batch} * (s.sequence / s.parallelism.cp)),
      hidden(s.model.hidden),
      norm(hidden * (s.model.layer_norm ? 2 : 1)),
      tp(s.parallelism.tp) {}

Cost CostShape::cost(std::int64_t parameters, std::int64_t elements, double with_weights, double without) const {
  const Bytes forward{(parameters + elements) * spec.parameter_bytes};
  if (parameters == 0) return {{without, forward}, {2.0 * without, {2 * forward.count}}, {}};
  return {{with_weights + without, forward},
          {with_weights + 2.0 * without, forward},
          {with_weights, {forward.count + parameters * spec.gradient_bytes}}};
}

Cost CostShape::product(std::int64_t rows, std::int64_t in, std::int64_t out, std::int64_t extra_parameters) const {
  const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out);
  return cost(in * out + extra_parameters, rows * (in + out), flops);
}

PartCost mlp_cost(const CostShape& shape, std::int64_t ffn) {
  const ModelSpec& m = shape.spec.model;
  const std::int64_t width = ffn / shape.tp;
  const std::int64_t up = (matrices(m.mlp) - 1) * width;  // with SwiGLU the gate too; the down projection reads both
  PartCost cost;
  cost.parameters = matrices(m.mlp) * shape.hidden * width + shape.norm + (m.biases ? up + shape.hidden : 0);
  const double flops = 2.0 * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden) *
                       static_cast<double>(width) * matrices(m.mlp);
  cost.core = shape.cost(cost.parameters, shape.tokens * (2 * shape.hidden + 2 * up), flops);
  return cost;
}

PartCost expert_cost(const CostShape& shape) {
  const ModelSpec& m = shape.spec.model;
  const ParallelismSpec& p = shape.spec.parallelism;
  const ExpertSpec& e = *m.moe;
  const std::int64_t own_tokens = shape.tokens / shape.tp;  // of the rank's part of the sequence
  const std::int64_t etp = p.expert_tp();
  const std::int64_t rows = own_tokens * e.top_k * etp;  // the router is fair: as many arrive as leave
  const std::int64_t width = m.expert_ffn() / etp;
  const std::int64_t up = (matrices(m.mlp) - 1) * width;
  const std::int64_t experts = e.experts / p.ep;

  PartCost cost;
  cost.first = shape.product(own_tokens, shape.hidden, e.experts, shape.norm);
  const std::int64_t of_expert = matrices(m.mlp) * shape.hidden * width + (m.biases ? up + shape.hidden : 0);
  const double flops =
      2.0 * static_cast<double>(rows) * static_cast<double>(shape.hidden) * static_cast<double>(width) * matrices(m.mlp);
  cost.core = shape.cost(experts * of_expert, rows * (2 * shape.hidden + 2 * up), flops);
  cost.parameters = shape.hidden * e.experts + shape.norm;
  if (e.shared == 0) return cost;
  CostShape without_norm = shape;
  without_norm.norm = 0;
  const PartCost shared = mlp_cost(without_norm, std::int64_t{e.shared} * m.expert_ffn());
  cost.last = shared.core;
  cost.parameters += shared.parameters;
  return cost;
}

ModelCost model_cost(const TrainingSpec& spec) {
  const CostShape shape(spec);
  const ModelSpec& m = spec.model;
  ModelCost cost;
  cost.embedding = embedding_cost(shape);
  cost.attention = attention_cost(shape);
  cost.mlp = mlp_cost(shape, m.ffn);
  cost.head = head_cost(shape);
  cost.activation = {shape.tokens * shape.hidden * spec.parameter_bytes};
  cost.activation_shard = {cost.activation.count / shape.tp};
  const AttentionWidths w(spec);
  cost.kv_block = {shape.tokens * (w.key + w.value) * spec.parameter_bytes};
  if (!m.moe) return cost;
  cost.experts = expert_cost(shape);
  const std::int64_t width = m.expert_ffn() / spec.parallelism.expert_tp();
  const std::int64_t biases = m.biases ? (matrices(m.mlp) - 1) * width + shape.hidden : 0;
  cost.expert_parameters = (m.moe->experts / spec.parallelism.ep) * (matrices(m.mlp) * shape.hidden * width + biases);
  cost.dispatch = {shape.tokens / shape.tp * m.moe->top_k * shape.hidden * spec.parameter_bytes};
  return cost;
}

Work optimizer_work(const TrainingSpec& spec, std::int64_t parameters) {
  // Adam in mixed precision (Rajbhandari et al., arXiv 1910.02054, section 3.1): it reads the gradient, reads and writes
  // the fp32 master weight and two fp32 moments (3 x 2 x 4 bytes), and writes the parameter.
  const std::int64_t state = 3 * 2 * 4;
  return {0.0, {parameters * (spec.gradient_bytes + state + spec.parameter_bytes)}};
}

}  // namespace photonrail::workload

namespace photonrail {

double layer_forward_flops(const ModelSpec& model, double tokens, double sequence, std::uint32_t tp) {
  TrainingSpec spec;
  spec.model = model;
  spec.parallelism.tp = tp;
  const workload::AttentionWidths w(spec);
  const double h = model.hidden;
  double products = h * static_cast<double>(w.query + w.key + w.value);
  if (model.latent) {
    const LatentAttention& a = *model.latent;
    const double up = (a.nope_head + a.value_head) * static_cast<double>(model.heads / tp) * a.kv_rank;
    const auto query = static_cast<double>(w.query);
    products = (a.query_rank == 0 ? h * query : a.query_rank * (h + query)) + h * (a.kv_rank + a.rope_head) + up;
  }
  products += h * static_cast<double>(w.out) + matrices(model.mlp) * h * model.ffn / tp;
  return 2.0 * tokens * products + 2.0 * tokens * sequence * static_cast<double>(w.query + w.out);
}

}  // namespace photonrail
