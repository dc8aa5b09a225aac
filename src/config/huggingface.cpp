#include "config/huggingface.hpp"

#include "config/limits.hpp"
#include "formats/input_file.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::config {

namespace {

/// The keys of a config.json. Those that are null count as absent: transformers writes them so.
class Keys {
 public:
  explicit Keys(const JsonReader& top) : top_(top) {}

  [[nodiscard]] std::optional<std::uint32_t> count(std::string_view key, std::uint32_t least = 1,
                                                   std::uint32_t greatest = kMaxModelWidth) {
    const auto value = top_.optional(key);
    if (!value || value->json().is_null()) return std::nullopt;
    return value->count(least, greatest);
  }
  [[nodiscard]] std::uint32_t required(std::string_view key, std::uint32_t greatest = kMaxModelWidth) {
    if (const auto value = count(key, 1, greatest)) return *value;
    top_.missing(key, "a model of this architecture has it");
  }
  [[nodiscard]] bool flag(std::string_view key, bool otherwise = false) {
    const auto value = top_.optional(key);
    return !value || value->json().is_null() ? otherwise : value->boolean();
  }
  [[nodiscard]] const JsonReader& top() const { return top_; }

 private:
  JsonReader top_;
};

// Whose layers all have the same heads and MLP: the names of the keys are those of LlamaConfig in transformers.
void read_dense(Keys& keys, ModelSpec& spec) {
  spec.layers = keys.required("num_hidden_layers", kMaxLayers);
  spec.hidden = keys.required("hidden_size", kMaxHidden);
  spec.ffn = keys.required("intermediate_size");
  spec.heads = keys.required("num_attention_heads", kMaxHeads);
  spec.kv_heads = keys.count("num_key_value_heads", 1, kMaxHeads).value_or(spec.heads);
  spec.vocabulary = keys.required("vocab_size", kMaxVocabulary);
  spec.head_dim = keys.count("head_dim", 0, kMaxHidden).value_or(0);
  if (std::uint64_t{spec.head_dim} * spec.heads == spec.hidden) spec.head_dim = 0;
  spec.biases = keys.flag("attention_bias") && keys.flag("mlp_bias");
  spec.tied_embeddings = keys.flag("tie_word_embeddings");
}

void read_llama(Keys& keys, ModelSpec& spec) { read_dense(keys, spec); }

void read_mixtral(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  spec.moe = ExpertSpec{.experts = keys.required("num_local_experts"), .top_k = keys.required("num_experts_per_tok")};
}

void read_qwen3(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  spec.query_key_norm = true;
}

// Qwen2MoeConfig: of the layers each decoder_sparse_step-th has experts, but those of mlp_only_layers.
void read_qwen_moe(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  ExpertSpec& moe = spec.moe.emplace();
  moe.experts = keys.required("num_experts");
  moe.top_k = keys.required("num_experts_per_tok");
  moe.ffn = keys.required("moe_intermediate_size");
  moe.every = keys.count("decoder_sparse_step").value_or(1);
  if (const auto shared = keys.count("shared_expert_intermediate_size", 0)) {
    if (*shared % moe.ffn != 0)
      keys.top().fail("the shared expert is no multiple of the others", "give the dimensions in a photonrail.model/1 file");
    moe.shared = *shared / moe.ffn;
  }
}

void read_qwen3_moe(Keys& keys, ModelSpec& spec) {
  read_qwen_moe(keys, spec);
  spec.query_key_norm = true;
}

void read_deepseek(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  spec.head_dim = 0;
  spec.kv_heads = spec.heads;
  LatentAttention& latent = spec.latent.emplace();
  latent.query_rank = keys.count("q_lora_rank", 0).value_or(0);
  latent.kv_rank = keys.required("kv_lora_rank");
  latent.nope_head = keys.required("qk_nope_head_dim");
  latent.rope_head = keys.required("qk_rope_head_dim");
  latent.value_head = keys.required("v_head_dim");
  const auto experts = keys.count("n_routed_experts");
  if (!experts) return;
  ExpertSpec& moe = spec.moe.emplace();
  moe.experts = *experts;
  moe.top_k = keys.required("num_experts_per_tok");
  moe.ffn = keys.required("moe_intermediate_size");
  moe.shared = keys.count("n_shared_experts", 0).value_or(0);
  moe.dense_layers = keys.count("first_k_dense_replace", 0).value_or(0);
  moe.every = keys.count("moe_layer_freq").value_or(1);
}

// All layers have experts, whose width is intermediate_size; every product has a bias.
void read_gpt_oss(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  spec.biases = true;
  const auto top_k = keys.count("num_experts_per_tok");
  spec.moe = ExpertSpec{.experts = keys.required("num_local_experts"),
                        .top_k = top_k ? *top_k : keys.required("experts_per_token")};
}

// GeGLU has the three matrices of SwiGLU. The embedding is the head where the file does not say otherwise.
void read_gemma(Keys& keys, ModelSpec& spec) {
  read_dense(keys, spec);
  spec.tied_embeddings = keys.flag("tie_word_embeddings", true);
}

void read_gemma3(Keys& keys, ModelSpec& spec) {
  read_gemma(keys, spec);
  spec.query_key_norm = true;
}

struct Architecture {
  std::string_view model_type;
  void (*read)(Keys&, ModelSpec&);
};
constexpr Architecture kArchitectures[] = {
    {"llama", read_llama},         {"mistral", read_llama},        {"mixtral", read_mixtral},
    {"qwen2", read_llama},         {"qwen2_moe", read_qwen_moe},   {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe}, {"deepseek_v2", read_deepseek}, {"deepseek_v3", read_deepseek},
    {"gpt_oss", read_gpt_oss},     {"gemma", read_gemma},          {"gemma2", read_gemma},
    {"gemma3_text", read_gemma3},
};

}  // namespace

bool is_huggingface(const Json& root) {
  return root.is_object() && !root.contains("schema") && (root.contains("model_type") || root.contains("architectures"));
}

bool is_huggingface(const std::filesystem::path& file) {
  return is_huggingface(parse_json(formats::read_file(file), file.string()));
}

ModelSpec read_huggingface(const JsonReader& top) {
  JsonReader all = top;
  // Models of text and images keep the text's in an object of its own.
  const JsonReader text = all.has("text_config") ? all.child("text_config") : all;
  JsonReader section = text;
  const JsonReader type = section.child("model_type", "config.json of a model for transformers");
  const std::string word = type.string();
  std::vector<std::string> known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.model_type == word) {
      Keys keys(text);
      ModelSpec spec;
      architecture.read(keys, spec);
      return spec;
    }
    known.emplace_back(architecture.model_type);
  }
  type.fail("the architecture \"" + word + "\" is not known", suggest(word, known));
}

}  // namespace photonrail::config
