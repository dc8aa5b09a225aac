// A transformer's dimensions: `photonrail.model/1`, and "workload/training/model" of a scenario.
#include "config/embedded_files.hpp"
#include "config/huggingface.hpp"
#include "config/scenario_parts.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "photonrail/config.hpp"

#include <algorithm>
#include <system_error>

namespace photonrail {

namespace {

using config::JsonReader;

constexpr std::string_view kModelSchema = "photonrail.model/1";
constexpr std::uint32_t kMaxWidth = 10'000'000;

/// Reads counts into the fields of a value that may be there already, from a preset.
class Counts {
 public:
  Counts(JsonReader& section, bool preset) : section_(section), preset_(preset) {}

  void required(std::string_view key, std::uint32_t& into, std::uint32_t greatest = kMaxWidth) const {
    if (preset_ && !section_.optional(key)) return;
    into = section_.child(key, "a model without a \"preset\" or \"huggingface\" needs it").count(1, greatest);
  }
  void optional(std::string_view key, std::uint32_t& into, std::uint32_t greatest = kMaxWidth) const {
    if (const auto v = section_.optional(key)) into = v->count(0, greatest);
  }
  void flag(std::string_view key, bool& into) const {
    if (const auto v = section_.optional(key)) into = v->boolean();
  }

 private:
  JsonReader& section_;
  bool preset_;
};

void read_latent(JsonReader section, std::optional<LatentAttention>& latent) {
  const Counts read(section, latent.has_value());
  if (!latent) latent.emplace();
  read.optional("query_rank", latent->query_rank);
  read.required("kv_rank", latent->kv_rank);
  read.required("nope_head", latent->nope_head);
  read.required("rope_head", latent->rope_head);
  read.required("value_head", latent->value_head);
  section.finish();
}

void read_experts(JsonReader section, std::optional<ExpertSpec>& moe) {
  const Counts read(section, moe.has_value());
  if (!moe) moe.emplace();
  read.required("experts", moe->experts);
  read.required("top_k", moe->top_k);
  read.optional("ffn", moe->ffn);
  read.optional("shared", moe->shared);
  read.optional("dense_layers", moe->dense_layers);
  if (const auto v = section.optional("every")) moe->every = v->count(1, kMaxWidth);
  read.optional("shared_ffn", moe->shared_ffn);
  read.optional("latent", moe->latent);
  section.finish();
}

void read_mamba(JsonReader section, std::optional<MambaSpec>& mamba) {
  const Counts read(section, mamba.has_value());
  if (!mamba) mamba.emplace();
  read.required("heads", mamba->heads, 100'000);
  read.required("head_dim", mamba->head_dim, 100'000);
  read.required("state", mamba->state, 100'000);
  read.required("groups", mamba->groups, 100'000);
  read.optional("convolution", mamba->convolution, 1'000);
  read.optional("chunk", mamba->chunk, 1'000'000);
  section.finish();
}

void read_dimensions(JsonReader& section, bool preset, ModelSpec& spec) {
  const Counts read(section, preset);
  if (const auto v = section.optional("latent_attention")) read_latent(*v, spec.latent);
  if (const auto v = section.optional("moe")) read_experts(*v, spec.moe);
  read.required("layers", spec.layers, 10'000);
  read.required("hidden", spec.hidden, 1'000'000);
  read.required("ffn", spec.ffn);
  read.required("heads", spec.heads, 100'000);
  if (spec.latent) {
    section.refuse("kv_heads", "latent attention has no KV heads", "remove it");
    spec.kv_heads = spec.heads;
  } else {
    read.required("kv_heads", spec.kv_heads, 100'000);
  }
  read.required("vocabulary", spec.vocabulary, 100'000'000);
  read.optional("head_dim", spec.head_dim, 1'000'000);
  if (const auto v = section.optional("mlp")) {
    using enum MlpKind;
    spec.mlp = v->choice<MlpKind>({{"swiglu", kSwiGlu}, {"gelu", kGelu}, {"squared_relu", kSquaredRelu}});
  }
  read.optional("positions", spec.positions, 100'000'000);
  read.flag("biases", spec.biases);
  read.flag("layer_norm", spec.layer_norm);
  read.flag("query_key_norm", spec.query_key_norm);
  read.flag("tied_embeddings", spec.tied_embeddings);
  read.optional("window", spec.window, 100'000'000);
  read.optional("window_every", spec.window_every, 10'000);
  read.optional("predicted_tokens", spec.predicted_tokens, 16);
  if (const auto v = section.optional("mamba")) read_mamba(*v, spec.mamba);
  if (const auto v = section.optional("pattern")) spec.pattern = v->string();
}

ModelPreset parse_model(std::string_view text, std::string key, const std::string& file) {
  const config::Json root = config::parse_json(text, file);
  try {
    if (config::is_huggingface(root)) {
      ModelPreset preset{std::move(key), "config.json of Hugging Face's transformers",
                         config::read_huggingface(JsonReader(root))};
      preset.spec.name = preset.key;
      return preset;
    }
    return config::read_model_file(JsonReader(root), std::move(key));
  } catch (const ConfigError& e) {
    throw e.inside(file);
  }
}

bool is_path(const std::string& word) { return word.ends_with(".json") || word.find('/') != std::string::npos; }

}  // namespace

const std::vector<ModelPreset>& model_presets() {
  static const std::vector<ModelPreset> presets = [] {
    std::vector<ModelPreset> list;
    for (const config::EmbeddedFile& file : config::model_files()) {
      list.push_back(parse_model(file.text, std::string(file.name), "configs/models/" + std::string(file.name) + ".json"));
    }
    return list;
  }();
  return presets;
}

const ModelSpec& model_preset(std::string_view key) {
  std::vector<std::string> known;
  for (const ModelPreset& preset : model_presets()) {
    if (preset.key == key) return preset.spec;
    known.push_back(preset.key);
  }
  throw ConfigError("/model", "there is no model '" + std::string(key) + "'", suggest(key, known));
}

ModelPreset read_model(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) || std::filesystem::is_directory(file, ignored)) {
    throw ConfigError(file.string(), "cannot be read as a model",
                      "the path of a photonrail.model/1 file or of a config.json of Hugging Face's, or a name of "
                      "`photonrail list models`");
  }
  const std::string text = json::file_text(file);
  // A config.json is named by its folder, which has the name of the model.
  const bool config = file.filename() == "config.json" && file.has_parent_path();
  return parse_model(text, (config ? file.parent_path().filename() : file.stem()).string(), file.string());
}

namespace config {

ModelPreset read_model_file(JsonReader top, std::string key) {
  json::require_schema(top, kModelSchema);
  ModelPreset preset{std::move(key), {}, {}};
  if (const auto v = top.optional("note")) preset.note = v->string();
  preset.spec.name = preset.key;
  read_dimensions(top, false, preset.spec);
  top.finish();
  return preset;
}

ModelSpec read_model_section(JsonReader model, const std::filesystem::path& directory) {
  const auto from_file = [&](const JsonReader& value) {
    try {
      return read_model(read_path(value, directory)).spec;
    } catch (const ConfigError& e) {
      throw e.inside(value.pointer());
    }
  };
  const auto named = [&](const JsonReader& value) {
    return is_path(value.string()) ? from_file(value) : value.lookup(model_preset);
  };
  if (model.is_string()) return named(model);
  ModelSpec spec;
  const auto preset = model.optional("preset");
  if (preset) spec = named(*preset);
  const auto huggingface = model.optional("huggingface");
  if (huggingface && preset) huggingface->fail("the preset gives the dimensions", "remove one of the two");
  if (huggingface) spec = from_file(*huggingface);
  read_dimensions(model, preset.has_value() || huggingface.has_value(), spec);
  model.finish();
  return spec;
}

}  // namespace config

}  // namespace photonrail
