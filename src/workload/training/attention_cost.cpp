#include "workload/training/part_cost.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

std::int64_t bias(const ModelSpec& m, std::int64_t width) { return m.biases ? width : 0; }

/// Keys that a query of the rank sees on average, by the counts of `causal` and the window.
double keys_seen(const CostShape& shape, bool windowed) {
  const double all = shape.spec.sequence * (shape.spec.causal ? 0.5 : 1.0);
  return windowed ? std::min<double>(all, shape.spec.model.window) : all;
}

Operator core_operator(const CostShape& shape, const AttentionWidths& w, bool windowed, bool backward) {
  const TrainingSpec& s = shape.spec;
  const std::int64_t queries = s.sequence / s.parallelism.cp;
  const bool causal = s.causal && s.parallelism.cp == 1;
  const std::int64_t heads = s.model.heads / shape.tp;
  if (s.model.latent) {
    const LatentAttention& a = *s.model.latent;
    return LatentCore{.precision = s.operators->scores,
                      .batch = s.micro_batch,
                      .queries = queries,
                      .keys = s.sequence,
                      .heads = heads,
                      .query_dim = a.nope_head + a.rope_head,
                      .value_dim = a.value_head,
                      .causal = causal,
                      .backward = backward};
  }
  return Attention{.precision = s.operators->scores,
                   .batch = s.micro_batch,
                   .queries = queries,
                   .keys = s.sequence,
                   .heads = heads,
                   .kv_heads = w.key / s.model.head_width(),
                   .head_dim = s.model.head_width(),
                   .window = windowed ? s.model.window : 0,
                   .causal = causal,
                   .backward = backward};
}

// Scores that go to memory and back (AttentionKernels::fused); products of the whole square, since nothing skips
// what the mask hides. The products' own reads and writes of scores are in their times.
void add_unfused_core(Cost& core, const CostShape& shape, const AttentionWidths& w) {
  const TrainingSpec& s = shape.spec;
  const std::int64_t heads = s.model.heads / shape.tp;
  const std::int64_t scores = shape.tokens * std::int64_t{s.sequence} * heads;
  const bool dropout = s.operators->attention.dropout;
  shape.add_memory(core, "attention.scores", scores * (dropout ? 7 : 4), scores * (dropout ? 9 : 6), 2);
  const std::int64_t rows = s.sequence / s.parallelism.cp;
  // One batched kernel for all heads, as torch.baddbmm launches it.
  const EqualProducts all{static_cast<double>(s.micro_batch) * static_cast<double>(heads), true};
  shape.add_product(core, "attention.queries_keys", rows, w.query / heads, s.sequence, OperatorPrecision::kBf16, all);
  shape.add_product(core, "attention.values", rows, s.sequence, w.out / heads, OperatorPrecision::kBf16, all);
  core.input = core.input + core.weight;  // both gradients are of activations
  core.weight = {};
}

// With context parallelism the mask hides half of the blocks of a causal ring on average.
void add_core(Cost& core, const CostShape& shape, const AttentionWidths& w, bool windowed) {
  if (shape.book == nullptr) return;
  if (!shape.spec.operators->attention.fused) return add_unfused_core(core, shape, w);
  const double part = shape.spec.causal && shape.spec.parallelism.cp > 1 ? 0.5 : 1.0;
  const auto add = [&](Work& to, const char* name, bool backward) {
    to.operators.push_back(shape.book->add(OperatorClass::kAttention, name, core_operator(shape, w, windowed, backward)));
    to.operators.back().times = part;
  };
  add(core.forward, "attention.core", false);
  add(core.input, "attention.core.backward", true);
}

/// Scores and their product with the values, for the queries of the rank and the keys of the whole sequence.
Cost core(const CostShape& shape, const AttentionWidths& w, bool windowed) {
  const double pairs = static_cast<double>(shape.tokens) * keys_seen(shape, windowed);
  const std::int64_t all_tokens = shape.tokens * shape.spec.parallelism.cp;
  const std::int64_t elements = shape.tokens * (w.query + w.out) + all_tokens * (w.key + w.value);
  // Per pair: a dot product over the width of the queries, and one over that of the values.
  Cost cost = shape.cost(0, elements, 0.0, 2.0 * pairs * static_cast<double>(w.query + w.out));
  add_core(cost, shape, w, windowed);
  return cost;
}

Cost grouped_projections(const CostShape& shape, const AttentionWidths& w) {
  const ModelSpec& m = shape.spec.model;
  const std::int64_t out = w.query + w.key + w.value;
  const std::int64_t head_norms = m.query_key_norm ? 2 * std::int64_t{m.head_width()} : 0;
  Cost cost = shape.product(shape.tokens, shape.hidden, out, shape.norm + bias(m, out) + head_norms, "attention.qkv");
  // Rotary embedding of queries and keys, and where there are, their norms.
  const std::int64_t turned = shape.tokens * (w.query + w.key) * kElementBytes * (m.query_key_norm ? 2 : 1);
  shape.add_memory(cost, "attention.rotary", 2 * turned, 2 * turned, m.query_key_norm ? 4 : 2);
  return cost;
}

// A kernel of its own copies the rotary key beside each head's own. Of the framework (multi_latent_attention.py and
// rope_utils.py of Megatron-LM), bytes of an element that turns, queries and the one key of all heads: even and odd ones
// are joined (4), multiplied by the cosine (4); one half negated (2), joined with the other (4), multiplied by the sine
// (4); added (6), joined with nothing (4); and for each of both 6 small kernels for sine and cosine. Then queries, keys and
// values are each joined or copied (4). Backward two products, a negation, a join, two strided copies (4 both), sums and
// zeros (24); the gradients of the parts of queries, and of keys and values, are joined, and those of the rotary key summed
// over heads. All but sums, zeros and the join with nothing take one element at a time, negations and copies with one
// operand.
void add_rotary(Cost& cost, const CostShape& shape, const char* name) {
  const LatentAttention& a = *shape.spec.model.latent;
  const std::int64_t heads = shape.spec.model.heads / shape.tp;
  const std::int64_t t = shape.tokens;
  if (shape.book == nullptr) return;
  if (shape.book->how().attention.fused_rotary) {
    const std::int64_t turned = t * heads * (a.nope_head + 2 * std::int64_t{a.rope_head}) * kElementBytes;
    return shape.add_memory(cost, name, 2 * turned, 2 * turned, 2);
  }
  const std::int64_t turned = t * (heads + 1) * a.rope_head;
  const std::int64_t query = t * heads * (a.nope_head + a.rope_head);
  const std::int64_t value = t * heads * a.value_head;
  const std::int64_t parts = query + t * heads * a.nope_head + value;
  shape.add_passes(cost, name, {28 * turned + 4 * (2 * query + value), 17 * turned + 4 * 2 * query + 2 * value, 2 * 13 + 3},
                   {42 * turned + 4 * parts + 2 * t * heads * a.rope_head, 15 * turned + 4 * parts, 2 * 12 + 3});
}

// Down projections are whole on every tp rank, so that each has the latents of all its tokens.
Cost latent_projections(const CostShape& shape, const AttentionWidths& w) {
  const LatentAttention& a = *shape.spec.model.latent;
  const std::int64_t heads = shape.spec.model.heads / shape.tp;
  const std::int64_t t = shape.tokens;
  Cost keys = shape.product(t, shape.hidden, a.kv_rank + a.rope_head, shape.norm + a.kv_rank, "attention.kv_down") +
              shape.product(t, a.kv_rank, heads * (a.nope_head + a.value_head), 0, "attention.kv_up");
  const std::int64_t latents = t * (a.query_rank + a.kv_rank) * kElementBytes;
  shape.add_memory(keys, "attention.latents", 2 * latents, 3 * latents, 2);  // norms
  add_rotary(keys, shape, "attention.rotary");
  if (a.query_rank == 0) return shape.product(t, shape.hidden, w.query, 0, "attention.query") + keys;
  return shape.product(t, shape.hidden, a.query_rank, a.query_rank, "attention.query_down") +
         shape.product(t, a.query_rank, w.query, 0, "attention.query_up") + keys;
}

/// Returns what the recomputation of operators repeats: the up-projections of the latents with their rotary parts, and the
/// norm.
Work repeated_projections(const CostShape& shape, const AttentionWidths& w) {
  Work again;
  if (shape.book == nullptr) return again;
  const TrainingOperators& how = *shape.spec.operators;
  if (how.again.up_projections && shape.spec.model.latent) {
    const LatentAttention& a = *shape.spec.model.latent;
    const std::int64_t heads = shape.spec.model.heads / shape.tp;
    Cost up;
    shape.add_product(up, "again.kv_up", shape.tokens, a.kv_rank, heads * (a.nope_head + a.value_head),
                      shape.precision("attention.kv_up"));
    if (a.query_rank > 0) {
      shape.add_product(up, "again.query_up", shape.tokens, a.query_rank, w.query, shape.precision("attention.query_up"));
    }
    add_rotary(up, shape, "again.rotary");  // of the same function
    again = again + up.forward;
  }
  Cost norm;
  if (how.again.norms) shape.add_norm(norm, "again.norm");
  return again + norm.forward;
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

PartCost attention_cost(const CostShape& shape, bool windowed) {
  const AttentionWidths w(shape.spec);
  const ModelSpec& m = shape.spec.model;
  const std::int64_t out_bias = bias(m, shape.hidden);
  PartCost cost;
  cost.parameters = projection_parameters(shape, w) + w.out * shape.hidden + out_bias;
  cost.first = m.latent ? latent_projections(shape, w) : grouped_projections(shape, w);
  shape.add_norm(cost.first, "attention.norm");
  cost.core = core(shape, w, windowed);
  cost.last = shape.product(shape.tokens, w.out, shape.hidden, out_bias, "attention.output");
  shape.add_residual(cost.last);
  cost.again = repeated_projections(shape, w);
  return cost;
}

}  // namespace photonrail::workload
