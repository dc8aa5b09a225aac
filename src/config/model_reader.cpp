// A transformer's dimensions: `photonrail.model/1`, and "workload/training/model" of a scenario.
#include "config/embedded_files.hpp"
#include "config/huggingface.hpp"
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/inside.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "photonrail/config.hpp"

#include <array>
#include <system_error>
#include <utility>

namespace photonrail {

namespace {

using json::JsonReader;

constexpr std::string_view kModelSchema = "photonrail.model/1";

ModelPreset parse_model(std::string_view text, std::string key, const std::string& file) {
  return json::in_file(text, file, [&](const json::Json& root) {
    if (config::is_huggingface(root)) {
      ModelPreset preset{std::move(key), "config.json of Hugging Face's transformers",
                         config::read_huggingface(JsonReader(root))};
      preset.spec.name = preset.key;
      return preset;
    }
    return config::read_model_file(JsonReader(root), std::move(key));
  });
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

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;

constexpr std::string_view kNeeded = "a model without a \"preset\" or \"huggingface\" needs it";
constexpr std::string_view kWithoutPreset = "!preset&!huggingface";

// The table for a part that the preset has already, of which single dimensions can be changed.
template <std::size_t Size>
constexpr std::array<Field, Size> all_optional(const Field (&fields)[Size]) {
  std::array<Field, Size> changed{};
  for (std::size_t i = 0; i < Size; ++i) changed[i] = fields[i].must_if("");
  return changed;
}

template <const Section& Table, const Section& Changes, auto Member>
void store_part(const Reading& at) {
  auto& part = into<ModelSpec>(at).*Member;
  const Section& table = part ? Changes : Table;
  if (!part) part.emplace();
  fields::read(at.value, table, &*part, at.context);
}

constexpr Field kLatentFields[] = {
    fields::count<&LatentAttention::query_rank>("query_rank", 0, kMaxModelWidth,
                                                "Width of the latent of queries; 0: queries come from the hidden state.")
        .or_else("0"),
    fields::count<&LatentAttention::kv_rank>("kv_rank", 1, kMaxModelWidth, "Width of the latent of keys and values.")
        .must(kNeeded),
    fields::count<&LatentAttention::nope_head>("nope_head", 1, kMaxModelWidth,
                                               "Of a query and a key head, without position.")
        .must(kNeeded),
    fields::count<&LatentAttention::rope_head>("rope_head", 1, kMaxModelWidth,
                                               "The part with position; its key is shared by all heads.")
        .must(kNeeded),
    fields::count<&LatentAttention::value_head>("value_head", 1, kMaxModelWidth, "Of a value head.").must(kNeeded),
};
constexpr Section kLatent{kLatentFields};
constexpr auto kLatentChangeFields = all_optional(kLatentFields);
constexpr Section kLatentChanges{kLatentChangeFields};

constexpr Field kExpertFields[] = {
    fields::count<&ExpertSpec::experts>("experts", 1, kMaxModelWidth, "Routed experts.").must(kNeeded),
    fields::count<&ExpertSpec::top_k>("top_k", 1, kMaxModelWidth, "Experts that a token chooses.").must(kNeeded),
    fields::count<&ExpertSpec::ffn>("ffn", 0, kMaxModelWidth, "Width of one expert; 0: that of the model.").or_else("0"),
    fields::count<&ExpertSpec::shared>("shared", 0, kMaxModelWidth, "Experts that every token passes.").or_else("0"),
    fields::count<&ExpertSpec::dense_layers>("dense_layers", 0, kMaxModelWidth, "The first layers, which have an MLP.")
        .or_else("0"),
    fields::count<&ExpertSpec::every>("every", 1, kMaxModelWidth, "Of the other layers this many-th has experts.")
        .or_else("1"),
    fields::count<&ExpertSpec::shared_ffn>("shared_ffn", 0, kMaxModelWidth,
                                           "Width of the MLP of the shared experts; 0: `shared` x `ffn`.")
        .or_else("0"),
    fields::count<&ExpertSpec::latent>("latent", 0, kMaxModelWidth,
                                       "Width of a token between projections around the routed experts; 0: none.")
        .or_else("0"),
};
constexpr Section kExperts{kExpertFields};
constexpr auto kExpertsChangeFields = all_optional(kExpertFields);
constexpr Section kExpertsChanges{kExpertsChangeFields};

constexpr Field kMambaFields[] = {
    fields::count<&MambaSpec::heads>("heads", 1, 100'000, "Heads of a layer.").must(kNeeded),
    fields::count<&MambaSpec::head_dim>("head_dim", 1, 100'000, "Channels of a head.").must(kNeeded),
    fields::count<&MambaSpec::state>("state", 1, 100'000, "Elements of a head's state for each channel.").must(kNeeded),
    fields::count<&MambaSpec::groups>("groups", 1, 100'000, "Groups of heads that share projections.").must(kNeeded),
    fields::count<&MambaSpec::convolution>("convolution", 0, 1'000, "Taps of the causal convolution.").or_else("4"),
    fields::count<&MambaSpec::chunk>("chunk", 0, 1'000'000, "Tokens that are computed together.").or_else("128"),
};
constexpr Section kMamba{kMambaFields};
constexpr auto kMambaChangeFields = all_optional(kMambaFields);
constexpr Section kMambaChanges{kMambaChangeFields};

void store_kv_heads(const Reading& at) {
  auto& spec = into<ModelSpec>(at);
  if (spec.latent) at.value.fail("latent attention has no KV heads", "remove it");
  spec.kv_heads = static_cast<std::uint32_t>(whole_of(at));
}

constexpr Word<MlpKind> kMlps[] = {
    {"swiglu", MlpKind::kSwiGlu}, {"gelu", MlpKind::kGelu}, {"squared_relu", MlpKind::kSquaredRelu}};
constexpr Field kDimensionFields[] = {
    fields::own("latent_attention", fields::object_shape(kLatent), store_part<kLatent, kLatentChanges, &ModelSpec::latent>,
                "Multi-head latent attention.")
        .by("latent")
        .or_else("none"),
    fields::own("moe", fields::object_shape(kExperts), store_part<kExperts, kExpertsChanges, &ModelSpec::moe>,
                "Experts in place of the MLP.")
        .or_else("none"),
    fields::count<&ModelSpec::layers>("layers", 1, kMaxLayers, "Layers.").must_if(kWithoutPreset, kNeeded),
    fields::count<&ModelSpec::hidden>("hidden", 1, kMaxHidden, "Width of the hidden state.")
        .must_if(kWithoutPreset, kNeeded),
    fields::count<&ModelSpec::ffn>("ffn", 1, kMaxModelWidth, "Width of the MLP.").must_if(kWithoutPreset, kNeeded),
    fields::count<&ModelSpec::heads>("heads", 1, kMaxHeads, "Query heads.").must_if(kWithoutPreset, kNeeded),
    fields::own("kv_heads", fields::whole_shape(1, kMaxHeads), store_kv_heads, "KV heads.")
        .only_if("!latent_attention", "latent attention has no KV heads", "remove it")
        .must_if(kWithoutPreset, kNeeded),
    fields::then([](const Reading& at) {
      auto& spec = into<ModelSpec>(at);
      if (spec.latent) spec.kv_heads = spec.heads;
    }),
    fields::count<&ModelSpec::vocabulary>("vocabulary", 1, kMaxVocabulary, "Tokens of the vocabulary.")
        .must_if(kWithoutPreset, kNeeded),
    fields::count<&ModelSpec::head_dim>("head_dim", 0, 1'000'000, "Width of a head; 0: `hidden` / `heads`.").or_else("0"),
    fields::word<kMlps, &ModelSpec::mlp>("mlp", "The activation of the MLP.").or_else("`\"swiglu\"`"),
    fields::count<&ModelSpec::positions>("positions", 0, 100'000'000, "Rows of a table of learned positions; 0: none.")
        .or_else("0"),
    fields::flag<&ModelSpec::biases>("biases", "Every matrix product in a layer has a bias.").or_else("false"),
    fields::flag<&ModelSpec::layer_norm>("layer_norm", "Norms have a bias too.").or_else("false"),
    fields::flag<&ModelSpec::query_key_norm>("query_key_norm", "A norm on each head of queries and keys.").or_else("false"),
    fields::flag<&ModelSpec::tied_embeddings>("tied_embeddings", "The output projection is the embedding.")
        .or_else("false"),
    fields::count<&ModelSpec::window>("window", 0, 100'000'000,
                                      "Tokens that a query of a layer with a sliding window sees; 0: none has one.")
        .or_else("0"),
    fields::count<&ModelSpec::window_every>("window_every", 0, 10'000,
                                            "Each layer of this number has the window, the first of a group.")
        .or_else("1"),
    fields::count<&ModelSpec::predicted_tokens>("predicted_tokens", 0, 16,
                                                "Further tokens that modules after the layers predict.")
        .or_else("0"),
    fields::own("mamba", fields::object_shape(kMamba), store_part<kMamba, kMambaChanges, &ModelSpec::mamba>,
                "State space layers.")
        .or_else("none"),
    fields::text<&ModelSpec::pattern>("pattern", "A letter for each layer of a hybrid model.").or_else("none"),
};
constexpr Section kModelDimensions{kDimensionFields};

constexpr Field kFileFields[] = {
    fields::known("schema", fields::text_shape(), "`photonrail.model/1`.").must(),
    fields::known("note", fields::text_shape(), "For people: where the dimensions come from.").or_else("none"),
    fields::include<kModelDimensions>(),
};

ModelSpec model_from_file(const JsonReader& value, const std::filesystem::path& directory) {
  return core::inside(value.pointer(), [&] { return read_model(read_path(value, directory)).spec; });
}

ModelSpec named_model(const JsonReader& value, const std::filesystem::path& directory) {
  return is_path(value.string()) ? model_from_file(value, directory) : value.lookup(model_preset);
}

constexpr Field kModelFields[] = {
    fields::own(
        "preset", fields::text_shape(model_words, true),
        [](const Reading& at) { into<ModelSpec>(at) = named_model(at.value, folder_of(at)); },
        "A name or the path of a model whose dimensions the other keys change.")
        .or_else("none"),
    fields::own(
        "huggingface", kPathShape,
        [](const Reading& at) {
          if (at.section.has("preset")) at.value.fail("the preset gives the dimensions", "remove one of the two");
          into<ModelSpec>(at) = model_from_file(at.value, folder_of(at));
        },
        "The path of a config.json of Hugging Face's transformers whose dimensions the other keys change.")
        .or_else("none"),
    fields::include<kModelDimensions>(),
};

}  // namespace

constexpr Section kModelFileSection{kFileFields};
constexpr Section kModelSection{kModelFields};

std::vector<std::string> model_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const ModelPreset& preset : model_presets()) words.push_back(preset.key);
  return words;
}

ModelPreset read_model_file(JsonReader top, std::string key) {
  json::require_schema(top, kModelSchema);
  ModelPreset preset{std::move(key), {}, {}};
  if (const auto v = top.optional("note")) preset.note = v->string();
  preset.spec.name = preset.key;
  fields::read(std::move(top), kModelFileSection, &preset.spec);
  return preset;
}

ModelSpec read_model_section(JsonReader model, const std::filesystem::path& directory) {
  if (model.is_string()) return named_model(model, directory);
  ModelSpec spec;
  const FileContext context(directory);
  fields::read(std::move(model), kModelSection, &spec, &context);
  return spec;
}

}  // namespace config

}  // namespace photonrail
