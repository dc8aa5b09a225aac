// FLOPs: a matrix product of [t x a] and [a x b] takes 2 t a b; backward takes twice the forward FLOPs, one product for
// the gradient of the input and one for that of the weights (Narayanan et al., arXiv 2104.04473, appendix; Korthikanti et
// al., arXiv 2205.05198, appendix). For t tokens in sequences of s:
//   query, key, value   2 t h (h + 2 kv)      kv = h x kv_heads / heads
//   scores and values   2 x 2 t s h           the causal mask is NOT discounted, as in both papers
//   output              2 t h h
//   SwiGLU MLP          3 x 2 t h ffn
//   output head         2 t h V
// each divided by tp. Where tp exceeds kv_heads a rank holds one whole KV head, so that kv / tp does not shrink further.
// Norms, activation functions, rotary embedding, softmax, the embedding's lookup and the loss count no FLOPs.
//
// Memory traffic of a forward part: its weights once, plus the input and output of each matrix product and of the
// attention kernel once (scores stay on chip, as in FlashAttention, arXiv 2205.14135; the activation function is fused
// into the down projection). Backward: twice that, plus one write of the weights' gradients.
#include "workload/layer_cost.hpp"

#include <algorithm>

namespace photonrail {

namespace {

/// Widths on one tensor-parallel rank, in elements.
template <class Number>
struct Widths {
  Number hidden, query, kv, ffn, vocabulary;

  Widths(const ModelSpec& m, std::uint32_t tp)
      : hidden(m.hidden),
        query(Number(m.hidden) / Number(tp)),
        kv(std::max(Number(m.hidden) / Number(m.heads),
                    Number(m.hidden) / Number(m.heads) * Number(m.kv_heads) / Number(tp))),
        ffn(Number(m.ffn) / Number(tp)),
        vocabulary(Number(m.vocabulary) / Number(tp)) {}
};

double attention_flops(const Widths<double>& w, double tokens, double sequence) {
  return 2.0 * tokens * w.hidden * (w.query + 2.0 * w.kv) + 4.0 * tokens * sequence * w.query +
         2.0 * tokens * w.query * w.hidden;
}

double mlp_flops(const Widths<double>& w, double tokens) { return 6.0 * tokens * w.hidden * w.ffn; }

PartCost part(const TrainingSpec& spec, std::int64_t parameters, std::int64_t activation_elements, double forward_flops) {
  const Bytes forward{(parameters + activation_elements) * spec.parameter_bytes};
  const Bytes backward{2 * forward.count + parameters * spec.gradient_bytes};
  return {parameters, {forward_flops, forward}, {2.0 * forward_flops, backward}};
}

/// A lookup touches the rows of its tokens only: forward reads t h / tp and writes t h; backward reads the gradient t h
/// and adds t h / tp to rows (read and write).
PartCost embedding_part(const TrainingSpec& spec, const Widths<std::int64_t>& w, std::int64_t tokens) {
  const std::int64_t own = tokens * w.query;
  const std::int64_t all = tokens * w.hidden;
  return {w.hidden * w.vocabulary,
          {0.0, {(own + all) * spec.parameter_bytes}},
          {0.0, {all * spec.parameter_bytes + 2 * own * spec.gradient_bytes}}};
}

}  // namespace

double layer_forward_flops(const ModelSpec& model, double tokens, double sequence, std::uint32_t tp) {
  const Widths<double> w(model, tp);
  return attention_flops(w, tokens, sequence) + mlp_flops(w, tokens);
}

ModelCost model_cost(const TrainingSpec& spec) {
  const std::uint32_t tp = spec.parallelism.tp;
  const Widths<double> real(spec.model, tp);
  const Widths<std::int64_t> w(spec.model, tp);
  const std::int64_t t = std::int64_t{spec.micro_batch} * spec.sequence;
  const auto tokens = static_cast<double>(t);
  const std::int64_t h = w.hidden;

  ModelCost cost;
  cost.embedding = embedding_part(spec, w, t);
  cost.attention = part(spec, h * (w.query + 2 * w.kv) + w.query * h + h,
                        t * (2 * h + 2 * (w.query + 2 * w.kv) + 2 * w.query), attention_flops(real, tokens, spec.sequence));
  cost.mlp = part(spec, 3 * h * w.ffn + h, t * (2 * h + 4 * w.ffn), mlp_flops(real, tokens));
  cost.head = part(spec, h * w.vocabulary + h, t * (h + w.vocabulary), 2.0 * tokens * real.hidden * real.vocabulary);
  cost.activation = {t * h * spec.parameter_bytes};
  cost.activation_shard = {cost.activation.count / tp};
  return cost;
}

Work optimizer_work(const TrainingSpec& spec, std::int64_t parameters) {
  // Adam in mixed precision (Rajbhandari et al., arXiv 1910.02054, section 3.1): it reads the gradient, reads and writes
  // the fp32 master weight and two fp32 moments (3 x 2 x 4 bytes), and writes the parameter.
  const std::int64_t state = 3 * 2 * 4;
  return {0.0, {parameters * (spec.gradient_bytes + state + spec.parameter_bytes)}};
}

}  // namespace photonrail
