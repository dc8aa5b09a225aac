#include "photonrail/workload/model.hpp"

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

double count(const ModelSpec& m, bool active) {
  const double h = m.hidden;
  const double norm = m.layer_norm ? 2.0 * h : h;
  const double experts = m.expert_layers();
  double sum = m.layers * (attention_parameters(m) + 2.0 * norm) + (m.layers - experts) * mlp_parameters(m, m.ffn);
  if (m.moe) {
    const ExpertSpec& e = *m.moe;
    const double routed = active ? e.top_k : e.experts;
    sum += experts * (routed * mlp_parameters(m, m.expert_ffn()) + h * e.experts);
    if (e.shared > 0) sum += experts * mlp_parameters(m, static_cast<double>(e.shared) * m.expert_ffn());
  }
  return sum + (m.tied_embeddings ? 1.0 : 2.0) * h * m.vocabulary + norm + h * m.positions;
}

}  // namespace

bool ModelSpec::has_experts(std::uint32_t layer) const {
  if (!moe || layer < moe->dense_layers) return false;
  return moe->every <= 1 || (layer - moe->dense_layers) % moe->every == moe->every - 1;
}

std::uint32_t ModelSpec::expert_layers() const {
  if (!moe || layers < moe->dense_layers) return 0;
  return (layers - moe->dense_layers) / (moe->every == 0 ? 1 : moe->every);
}

double ModelSpec::parameters() const { return count(*this, false); }
double ModelSpec::active_parameters() const { return count(*this, true); }

}  // namespace photonrail
