#include "photonrail/workload/model.hpp"

#include <algorithm>

namespace photonrail {

namespace {

double attention_parameters(const ModelSpec& m) {
  const double h = m.hidden;
  const double heads = m.heads;
  if (m.latent) {
    const LatentAttention& a = *m.latent;
    const double query = heads * (a.nope_head + a.rope_head);
    const double queries = a.query_rank == 0 ? h * query : a.query_rank * (h + query + 1.0);  // down, up, norm
    const double keys = h * (a.kv_rank + a.rope_head) + a.kv_rank * (heads * (a.nope_head + a.value_head) + 1.0);
    return queries + keys + heads * a.value_head * h;
  }
  const double query = heads * m.head_width();
  const double kv = static_cast<double>(m.kv_heads) * m.head_width();
  const double biases = m.biases ? query + 2.0 * kv + h : 0.0;
  const double norms = m.query_key_norm ? 2.0 * m.head_width() : 0.0;
  return h * (query + 2.0 * kv) + query * h + biases + norms;
}

double mlp_parameters(const ModelSpec& m, double ffn) {
  const double biases = m.biases ? (matrices(m.mlp) - 1.0) * ffn + m.hidden : 0.0;
  return matrices(m.mlp) * static_cast<double>(m.hidden) * ffn + biases;
}

double expert_parameters(const ModelSpec& m, bool active) {
  const ExpertSpec& e = *m.moe;
  const double h = m.hidden;
  const double width = e.latent != 0 ? e.latent : h;
  const double biases = m.biases ? (matrices(m.mlp) - 1.0) * m.expert_ffn() + h : 0.0;
  const double routed = matrices(m.mlp) * width * m.expert_ffn() + biases;
  double sum = (active ? e.top_k : e.experts) * routed + h * e.experts;
  if (e.latent != 0) sum += 2.0 * h * width;
  if (m.shared_width() > 0) sum += mlp_parameters(m, m.shared_width());
  return sum;
}

double mamba_parameters(const ModelSpec& m) {
  const MambaSpec& a = *m.mamba;
  const double inner = static_cast<double>(a.heads) * a.head_dim;
  const double convolved = inner + 2.0 * a.groups * a.state;
  // In: gate, inner, B, C and the step; out; convolution with bias; A, D and the bias of the step; the gated norm.
  return static_cast<double>(m.hidden) * (2.0 * inner + 2.0 * a.groups * a.state + a.heads) + inner * m.hidden +
         convolved * (a.convolution + 1.0) + 3.0 * a.heads + inner;
}

double layer_parameters(const ModelSpec& m, const LayerKind& kind, bool active) {
  const double norm = m.layer_norm ? 2.0 * m.hidden : m.hidden;
  double sum = 0.0;
  if (kind.attention) sum += attention_parameters(m) + norm;
  if (kind.mamba) sum += mamba_parameters(m) + norm;
  if (kind.mlp) sum += mlp_parameters(m, m.ffn) + norm;
  if (kind.experts) sum += expert_parameters(m, active) + norm;
  return sum;
}

double count(const ModelSpec& m, bool active) {
  const double h = m.hidden;
  const double norm = m.layer_norm ? 2.0 * h : h;
  double sum = 0.0;
  for (std::uint32_t layer = 0; layer < m.layers; ++layer) sum += layer_parameters(m, m.layer_kind(layer), active);
  for (std::uint32_t i = 0; i < m.predicted_tokens; ++i) {
    sum += layer_parameters(m, m.layer_kind(m.layers), active) + 2.0 * h * h + 3.0 * norm;
  }
  return sum + (m.tied_embeddings ? 1.0 : 2.0) * h * m.vocabulary + norm + h * m.positions;
}

}  // namespace

bool ModelSpec::has_experts(std::uint32_t layer) const {
  if (!pattern.empty()) return moe && (layer >= pattern.size() || pattern[layer] == 'E');
  if (!moe || layer < moe->dense_layers) return false;
  return moe->every <= 1 || (layer - moe->dense_layers) % moe->every == moe->every - 1;
}

// Beyond the last layer: the layer of a module that predicts a further token, with all parts.
LayerKind ModelSpec::layer_kind(std::uint32_t layer) const {
  const bool windowed = window > 0 && layer % std::max(window_every, 1u) == 0;
  if (!pattern.empty() && layer < pattern.size()) {
    const char letter = pattern[layer];
    return {letter == '*', letter == 'M', letter == '-', letter == 'E', windowed};
  }
  const bool routed = layer >= layers ? moe.has_value() : has_experts(layer);
  return {true, false, !routed, routed, windowed && layer < layers};
}

std::uint32_t ModelSpec::expert_layers() const {
  if (!pattern.empty()) return static_cast<std::uint32_t>(std::count(pattern.begin(), pattern.end(), 'E'));
  if (!moe || layers < moe->dense_layers) return 0;
  return (layers - moe->dense_layers) / (moe->every == 0 ? 1 : moe->every);
}

double ModelSpec::parameters() const { return count(*this, false); }
double ModelSpec::active_parameters() const { return count(*this, true); }

}  // namespace photonrail
