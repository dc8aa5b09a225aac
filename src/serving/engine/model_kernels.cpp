#include "serving/engine/model_kernels.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace photonrail::serving {

namespace {

std::uint32_t attention_layers(const ModelSpec& model) {
  std::uint32_t count = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) count += model.layer_kind(layer).attention ? 1 : 0;
  return count;
}

std::uint32_t windowed_layers(const ModelSpec& model) {
  std::uint32_t count = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const LayerKind kind = model.layer_kind(layer);
    count += kind.attention && kind.window ? 1 : 0;
  }
  return count;
}

double us_of(const OperatorTimes& times, const Operator& op) { return to_seconds(times.time(op).time) * 1e6; }

// All small sizes, then ever wider steps, so that tiles of products show where they matter.
std::vector<std::int64_t> sizes_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < most; size += size < 16 ? 1 : size < 256 ? 8 - size % 8 : size < 1024 ? 64 : 256) {
    sizes.push_back(size);
  }
  sizes.push_back(most);
  return sizes;
}

Curve curve(std::int64_t most, const std::function<double(std::int64_t)>& us) {
  std::vector<std::pair<double, double>> points;
  for (const std::int64_t size : sizes_to(most)) points.emplace_back(size, us(size));
  return Curve(std::move(points));
}

// Doubling sizes from `least` to beyond `most`.
std::vector<std::int64_t> doublings(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> sizes{least};
  while (sizes.back() < most) sizes.push_back(sizes.back() * 2);
  return sizes;
}

constexpr std::int64_t kMostCached = 1 << 17;

// Share of the experts that some token of a step chooses. Routers do not choose evenly: experts are as popular as in the
// skewed rows of the tables, by a power law of 1.2 from 1 to 0.8 of the tokens (aiconfigurator's collector).
double chosen_share(const ExpertSpec& moe, std::int64_t tokens) {
  constexpr std::size_t kClasses = 128;  // of popularity, each as large
  constexpr double kPower = -0.2;
  const double most = std::pow(std::max(1.0, 0.8 * static_cast<double>(tokens)), kPower);
  std::array<double, kClasses> popular{};  // the most popular first
  double sum = 0.0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    const double rank = (static_cast<double>(i) + 0.5) / kClasses;
    sum += popular[i] = std::pow(most + (1.0 - most) * rank, 1.0 / kPower);
  }
  double share = 0.0;
  double choices = static_cast<double>(moe.top_k) / moe.experts * kClasses;  // of one token, for the classes that are left
  for (const double each : popular) {
    const double chosen = std::min(1.0, choices * each / sum);
    share += (1.0 - std::pow(1.0 - chosen, static_cast<double>(tokens))) / kClasses;
    choices -= chosen;
    sum -= each;
  }
  return share;
}

class LayerKernels {
 public:
  LayerKernels(const ServedModel& served, const OperatorTimes& times)
      : served_(served), model_(served.model), times_(times) {}

  [[nodiscard]] double product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return product_in(served_.precision, m, n, k);
  }
  // Head and router stay in bf16 whatever the layers are in.
  [[nodiscard]] double wide_product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return product_in(OperatorPrecision::kBf16, m, n, k);
  }
  [[nodiscard]] std::int64_t split(double width) const {
    return std::max<std::int64_t>(1, std::llround(width / served_.tp));
  }
  [[nodiscard]] double qkv(std::int64_t tokens) const {
    if (const auto& latent = model_.latent) {
      const std::int64_t query = split(model_.heads * (latent->nope_head + latent->rope_head));
      // Both products down from the hidden state are one.
      const std::int64_t down = latent->kv_rank + latent->rope_head;
      const double queries = latent->query_rank == 0 ? attention_product(tokens, query + down, model_.hidden)
                                                     : attention_product(tokens, latent->query_rank + down, model_.hidden) +
                                                           attention_product(tokens, query, latent->query_rank);
      return queries + apart(tokens, model_.heads * latent->rope_head + served_.tp * latent->rope_head, down) +
             attention_product(tokens, split(model_.heads * (latent->nope_head + latent->value_head)), latent->kv_rank);
    }
    const std::uint32_t kv = std::max(model_.kv_heads, served_.tp);  // fewer heads than GPUs are copied
    const double rotated = static_cast<double>(model_.heads + kv) * model_.head_width();
    const double norm = model_.query_key_norm ? memory(4 * tokens * split(rotated)) : 0.0;  // read and written
    return norm + apart(tokens, rotated, 2 * split(static_cast<double>(kv) * model_.head_width())) +
           attention_product(tokens, split((model_.heads + 2.0 * kv) * model_.head_width()), model_.hidden);
  }
  [[nodiscard]] double out(std::int64_t tokens) const {
    const std::uint32_t head = model_.latent ? model_.latent->value_head : model_.head_width();
    const std::int64_t width = split(static_cast<double>(model_.heads) * head);
    const bool cast = attention_precision() == OperatorPrecision::kFp8 || attention_precision() == OperatorPrecision::kFp4;
    return product_in(attention_precision(), tokens, model_.hidden, width) + (cast ? memory(tokens * width * 3) : 0.0);
  }
  [[nodiscard]] double mlp(std::int64_t tokens, std::uint32_t ffn) const {
    if (ffn == 0) return 0.0;
    return product(tokens, split(ffn) * (matrices(model_.mlp) - 1), model_.hidden) +
           product(tokens, model_.hidden, split(ffn)) + memory(tokens * split(ffn) * (matrices(model_.mlp)) * 2);
  }
  [[nodiscard]] double experts(std::int64_t tokens) const {
    const ExpertSpec& moe = *model_.moe;
    // Engines that step together bring as many tokens each. Experts that no token of the step chooses are not read.
    const std::int64_t all = tokens * served_.dp;
    const double chosen = chosen_share(moe, all);
    const double parts = static_cast<double>(served_.tp) * served_.dp / served_.ep;  // GPUs that share an expert
    GroupedProduct routed{served_.precision,
                          std::max<std::int64_t>(1, all * moe.top_k / served_.ep),
                          moe.latent != 0 ? moe.latent : model_.hidden,
                          std::max<std::int64_t>(1, std::llround(model_.expert_ffn() / parts)),
                          std::max<std::int64_t>(1, std::llround(chosen * moe.experts / served_.ep)),
                          moe.top_k,
                          moe.experts};
    routed.gated = model_.mlp == MlpKind::kSwiGlu;
    return us_of(times_, routed) + wide_product(tokens, moe.experts, model_.hidden) + mlp(tokens, model_.shared_width());
  }
  [[nodiscard]] double memory(std::int64_t bytes) const { return us_of(times_, MemoryBound{bytes, 1}); }

 private:
  // The kernels that turn queries and keys, `rotated` wide in all, and write a GPU's KV of `kept` numbers.
  [[nodiscard]] double apart(std::int64_t tokens, double rotated, std::int64_t kept) const {
    if (!served_.rotates_apart) return 0.0;
    const double written = static_cast<double>(tokens * kept) * (2.0 + served_.kv_bytes);
    return memory(4 * tokens * split(rotated)) + memory(std::llround(written));
  }
  // Scales of whole tensors are known from the checkpoint, so that the norm or activation before a product writes its input
  // in its precision, and only what attention returns has a kernel that casts it. Scales of blocks come from the input, and
  // a kernel of their own, which is in the table's time.
  [[nodiscard]] double product_in(OperatorPrecision precision, std::int64_t m, std::int64_t n, std::int64_t k) const {
    MatrixProduct product{precision, m, std::max<std::int64_t>(n, 1), std::max<std::int64_t>(k, 1)};
    product.quantises = precision == OperatorPrecision::kFp8Block;
    return us_of(times_, product);
  }
  // Checkpoints of models with experts in FP4 leave attention in bf16.
  [[nodiscard]] OperatorPrecision attention_precision() const {
    return model_.moe && served_.precision == OperatorPrecision::kFp4 ? OperatorPrecision::kBf16 : served_.precision;
  }
  [[nodiscard]] double attention_product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return product_in(attention_precision(), m, n, k);
  }

  const ServedModel& served_;
  const ModelSpec& model_;
  const OperatorTimes& times_;
};

std::int64_t of_heads(std::uint32_t heads, const ServedModel& served) {
  return std::max<std::int64_t>(1, heads / served.tp);
}

/// `window`: 0: the layer has none.
Operator chunk_of(const ServedModel& served, std::int64_t chunk, std::int64_t keys, bool causal, std::int64_t window) {
  const ModelSpec& model = served.model;
  const std::int64_t heads = of_heads(model.heads, served);
  if (const auto& latent = model.latent) {
    return LatentCore{OperatorPrecision::kBf16, 1,     chunk, keys, heads, latent->nope_head + latent->rope_head,
                      latent->value_head,       causal};
  }
  Attention op{OperatorPrecision::kBf16, 1, chunk, keys, heads, of_heads(model.kv_heads, served), model.head_width()};
  op.window = window < keys ? window : 0;
  op.causal = causal;
  return op;
}

// A chunk reads the tokens before it too; its mask hides half of itself. Of a window its first queries alone see those.
double chunk_us(const ServedModel& served, const OperatorTimes& times, std::int64_t chunk, std::int64_t cached,
                std::int64_t window) {
  const double own = us_of(times, chunk_of(served, chunk, chunk, true, window));
  if (cached == 0) return own;
  const std::int64_t most = window > 0 ? window : std::max(chunk, cached);
  return own + us_of(times, chunk_of(served, std::min(chunk, most), std::min(cached, most), false, 0));
}

OperatorPrecision cache_precision(double bytes) {
  if (bytes >= 2.0) return OperatorPrecision::kBf16;
  return bytes >= 1.0 ? OperatorPrecision::kFp8 : OperatorPrecision::kFp4;
}

DecodeAttention decode_of(const ServedModel& served, std::int64_t decodes, std::int64_t cached) {
  const ModelSpec& model = served.model;
  DecodeAttention op{cache_precision(served.kv_bytes), decodes, cached, of_heads(model.heads, served),
                     of_heads(model.kv_heads, served)};
  op.latent = model.latent.has_value();
  if (!op.latent) op.head_dim = model.head_width();
  return op;
}

// Tables are of caches of at most two bytes, and of latents of DeepSeek's dimensions.
bool is_measured(const ServedModel& served) {
  const auto& latent = served.model.latent;
  return served.kv_bytes <= 2.0 && (!latent || (latent->kv_rank == 512 && latent->rope_head == 64));
}

// One token a sequence, as it was measured; where it was not, its cache is read once.
double decode_us(const ServedModel& served, const OperatorTimes& times, std::int64_t decodes, std::int64_t cached) {
  const OperatorTime measured = times.time(decode_of(served, decodes, cached));
  if (measured.source != OperatorSource::kRoofline && is_measured(served)) return to_seconds(measured.time) * 1e6;
  const double layers = attention_layers(served.model);
  const double bytes = served.kv_per_gpu() / layers * static_cast<double>(decodes) * static_cast<double>(cached);
  return us_of(times, MemoryBound{std::max<std::int64_t>(1, std::llround(bytes)), 1});
}

}  // namespace

double ServedModel::kv_per_gpu() const {
  const double layers = attention_layers(model);
  if (model.latent) return layers * (model.latent->kv_rank + model.latent->rope_head) * kv_bytes;
  const double heads = std::max(1.0, static_cast<double>(model.kv_heads) / tp);
  return layers * 2.0 * heads * model.head_width() * kv_bytes;
}

namespace {

double routed_parameters(const ModelSpec& model) {
  if (!model.moe) return 0.0;
  const double width = model.moe->latent > 0 ? model.moe->latent : model.hidden;
  return static_cast<double>(model.expert_layers()) * model.moe->experts * matrices(model.mlp) * model.expert_ffn() * width;
}

}  // namespace

double ServedModel::weights_per_gpu() const {
  const double routed = routed_parameters(model);
  return (model.parameters() - routed + routed / dp) * weight_bytes / (static_cast<double>(tp) * stages);
}

double ServedModel::exchanged_per_token() const {
  if (!model.moe) return 0.0;
  const double width = model.moe->latent > 0 ? model.moe->latent : model.hidden;
  return 2.0 * static_cast<double>(model.expert_layers()) * model.moe->top_k * width * 2.0;
}

double ServedModel::kv_sent() const { return model.latent ? kv_per_gpu() : kv_per_gpu() * tp; }

std::string not_in_tables(const ServedModel& served, const OperatorTimes& times) {
  const ModelSpec& model = served.model;
  const auto lacks = [&](const Operator& op) { return times.time(op).source == OperatorSource::kRoofline; };
  if (lacks(MatrixProduct{served.precision, 1, model.hidden, model.hidden})) return "products of the model's precision";
  if (model.moe && lacks(GroupedProduct{served.precision, 1, model.hidden, model.expert_ffn(), 1, 1, model.moe->experts}))
    return "products of experts";
  const std::string latent = model.latent ? "latent attention" : "attention";
  if (lacks(chunk_of(served, 2, 2, true, 0))) return latent;
  if (lacks(decode_of(served, 1, 16)) || !is_measured(served)) {
    return latent + " of decodes whose cache has " + std::to_string(std::lround(8 * served.kv_bytes)) + " bits" +
           (model.latent ? " and these dimensions" : "");
  }
  return {};
}

KernelTables kernels_of(const ServedModel& served, const OperatorTimes& times, std::uint32_t max_tokens,
                        std::uint32_t max_sequences) {
  const ModelSpec& model = served.model;
  const LayerKernels layer(served, times);
  const double with_attention = static_cast<double>(attention_layers(model)) / model.layers;
  const double with_window = static_cast<double>(windowed_layers(model)) / model.layers;
  const auto over_layers = [&](const auto& us) {  // of a window, and of all tokens
    return (with_attention - with_window) * us(0) +
           (with_window > 0.0 ? with_window * us(std::int64_t{model.window}) : 0.0);
  };
  const double with_experts = static_cast<double>(model.expert_layers()) / model.layers;
  KernelTables tables;
  const auto dense = [&](const char* kernel, const std::function<double(std::int64_t)>& us) {
    tables.dense.emplace(kernel, curve(max_tokens, us));
  };
  const std::int64_t row = 2 * std::int64_t{model.hidden};  // bytes of a token
  dense("layernorm", [&](std::int64_t t) { return layer.memory(2 * t * row); });
  dense("qkv_proj", [&](std::int64_t t) { return with_attention * layer.qkv(t); });
  dense("o_proj", [&](std::int64_t t) { return with_attention * layer.out(t); });
  dense("down_proj", [&](std::int64_t t) {
    return (1.0 - with_experts) * layer.mlp(t, model.ffn) + (with_experts > 0.0 ? with_experts * layer.experts(t) : 0.0);
  });
  dense("embedding", [&](std::int64_t t) { return layer.memory(t * row); });
  dense("final_layernorm", [&](std::int64_t t) { return layer.memory(2 * t * row); });
  tables.per_sequence.emplace("lm_head", curve(max_sequences, [&](std::int64_t s) {
                                return layer.wide_product(s, layer.split(model.vocabulary), model.hidden);
                              }));
  std::vector<AttentionTable::Row> rows;
  std::vector<std::int64_t> cached = doublings(16, kMostCached);
  for (const std::int64_t decodes : doublings(1, max_sequences)) {
    for (const std::int64_t c : cached) {
      rows.push_back(
          {{0.0, 0.0, static_cast<double>(decodes), static_cast<double>(c)}, over_layers([&](std::int64_t window) {
             return decode_us(served, times, decodes, window > 0 ? std::min(c, window) : c);
           })});
    }
  }
  cached.insert(cached.begin(), 0);
  for (const std::int64_t chunk : doublings(2, max_tokens)) {
    for (const std::int64_t c : cached) {
      rows.push_back({{static_cast<double>(chunk), static_cast<double>(c), 0.0, 0.0},
                      over_layers([&](std::int64_t window) { return chunk_us(served, times, chunk, c, window); })});
    }
  }
  tables.attention = AttentionTable(rows);
  tables.prompts_apart = true;
  return tables;
}

}  // namespace photonrail::serving
