#include "workload/training/part_cost.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

std::int64_t bias(const ModelSpec& m, std::int64_t width) { return m.biases ? width : 0; }

/// Scores and their product with the values, for the queries of the rank and the keys of the whole sequence.
Cost core(const CostShape& shape, const AttentionWidths& w) {
  const double pairs = static_cast<double>(shape.tokens) * shape.spec.sequence * (shape.spec.causal ? 0.5 : 1.0);
  const std::int64_t all_tokens = shape.tokens * shape.spec.parallelism.cp;
  const std::int64_t elements = shape.tokens * (w.query + w.out) + all_tokens * (w.key + w.value);
  // Per pair: a dot product over the width of the queries, and one over that of the values.
  return shape.cost(0, elements, 0.0, 2.0 * pairs * static_cast<double>(w.query + w.out));
}

Cost grouped_projections(const CostShape& shape, const AttentionWidths& w) {
  const ModelSpec& m = shape.spec.model;
  const std::int64_t out = w.query + w.key + w.value;
  const std::int64_t head_norms = m.query_key_norm ? 2 * std::int64_t{m.head_width()} : 0;
  return shape.product(shape.tokens, shape.hidden, out, shape.norm + bias(m, out) + head_norms);
}

// Down projections are whole on every tp rank, so that each has the latents of all its tokens.
Cost latent_projections(const CostShape& shape, const AttentionWidths& w) {
  const LatentAttention& a = *shape.spec.model.latent;
  const std::int64_t heads = shape.spec.model.heads / shape.tp;
  const std::int64_t t = shape.tokens;
  const Cost keys = shape.product(t, shape.hidden, a.kv_rank + a.rope_head, shape.norm + a.kv_rank) +
                    shape.product(t, a.kv_rank, heads * (a.nope_head + a.value_head));
  if (a.query_rank == 0) return shape.product(t, shape.hidden, w.query) + keys;
  return shape.product(t, shape.hidden, a.query_rank, a.query_rank) + shape.product(t, a.query_rank, w.query) + keys;
}

std::int64_t projection_parameters(const CostShape& shape, const AttentionWidths& w) {
  const ModelSpec& m = shape.spec.model;
  const std::int64_t h = shape.hidden;
  if (!m.latent) {
    const std::int64_t out = w.query + w.key + w.value;
    return h * out + shape.norm + bias(m, out) + (m.query_key_norm ? 2 * std::int64_t{m.head_width()} : 0);
  }
  const LatentAttention& a = *m.latent;
  const std::int64_t heads = m.heads / shape.tp;
  const std::int64_t queries = a.query_rank == 0 ? h * w.query : a.query_rank * (h + w.query + 1);
  return queries + h * (a.kv_rank + a.rope_head) + a.kv_rank * (heads * (a.nope_head + a.value_head) + 1) + shape.norm;
}

}  // namespace

AttentionWidths::AttentionWidths(const TrainingSpec& s) {
  const ModelSpec& m = s.model;
  const std::int64_t tp = s.parallelism.tp;
  const std::int64_t heads = m.heads / tp;
  if (m.latent) {
    query = heads * (m.latent->nope_head + m.latent->rope_head);
    key = query;
    value = heads * m.latent->value_head;
    out = value;
    return;
  }
  query = heads * m.head_width();
  key = std::max<std::int64_t>(m.kv_heads / tp, 1) * m.head_width();
  value = key;
  out = query;
}

PartCost attention_cost(const CostShape& shape) {
  const AttentionWidths w(shape.spec);
  const ModelSpec& m = shape.spec.model;
  const std::int64_t out_bias = bias(m, shape.hidden);
  PartCost cost;
  cost.parameters = projection_parameters(shape, w) + w.out * shape.hidden + out_bias;
  cost.first = m.latent ? latent_projections(shape, w) : grouped_projections(shape, w);
  cost.core = core(shape, w);
  cost.last = shape.product(shape.tokens, w.out, shape.hidden, out_bias);
  return cost;
}

}  // namespace photonrail::workload
