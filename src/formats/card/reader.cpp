// A CCL-Bench workload card (YAML) as a scenario. Only what a simulation needs is read; a card says more.
#include "formats/card/card.hpp"
#include "formats/input_file.hpp"
#include "photonrail/error.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

namespace photonrail::formats::card {

namespace {

using json::Json;

/// A place in the card, by the keys that lead there.
class CardReader {
 public:
  CardReader(YAML::Node node, std::string path) : node_(std::move(node)), path_(std::move(path)) {}

  [[nodiscard]] CardReader at(const std::string& key) const {
    const bool has_keys = node_.IsDefined() && node_.IsMap();
    if (has_keys) check_keys(key);
    return {has_keys ? node_[key] : YAML::Node(YAML::NodeType::Undefined), path_ + "/" + key};
  }
  [[nodiscard]] CardReader element(std::size_t i) const {
    const bool has_it = node_.IsDefined() && node_.IsSequence() && i < node_.size();
    return {has_it ? node_[i] : YAML::Node(YAML::NodeType::Undefined), path_ + "/" + std::to_string(i)};
  }
  [[nodiscard]] bool there() const { return node_.IsDefined() && !node_.IsNull(); }
  [[nodiscard]] std::optional<std::string> text() const {
    return there() && node_.IsScalar() ? std::optional(node_.Scalar()) : std::nullopt;
  }
  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t value = 0;
    if (!there()) fail("missing");
    if (!node_.IsScalar() || !YAML::convert<std::uint32_t>::decode(node_, value) || value == 0) {
      fail("must be a whole number from 1 on");
    }
    return value;
  }
  /// Below this place, a count that is the product of others: within the range of any count.
  [[nodiscard]] std::uint32_t product(std::uint32_t a, std::uint32_t b, const char* what) const {
    const std::uint64_t all = std::uint64_t{a} * b;
    if (all > std::numeric_limits<std::uint32_t>::max())
      fail(std::string(what) + " is " + std::to_string(all) + ", more than can be counted", "smaller numbers");
    return static_cast<std::uint32_t>(all);
  }
  [[nodiscard]] std::uint32_t count_or(std::uint32_t otherwise) const { return there() ? count() : otherwise; }
  [[nodiscard]] bool flag() const {
    bool value = false;
    if (there() && (!node_.IsScalar() || !YAML::convert<bool>::decode(node_, value))) fail("must be true or false");
    return value;
  }
  [[nodiscard]] double positive() const {
    double value = 0.0;
    if (!there()) fail("missing");
    if (!node_.IsScalar() || !YAML::convert<double>::decode(node_, value) || !(value > 0.0) || !std::isfinite(value)) {
      fail("must be a positive number");
    }
    return value;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw ConfigError(path_, what, hint);
  }

 private:
  // Of a key that occurs twice the parser of YAML gives one, and of merged maps nothing.
  void check_keys(const std::string& wanted) const {
    int times = 0;
    for (const auto& member : node_) {
      if (!member.first.IsScalar()) continue;
      if (member.first.Scalar() == "<<") fail("has a merge key (<<)", "write the keys out");
      if (member.first.Scalar() == wanted && ++times > 1) throw ConfigError(path_ + "/" + wanted, "occurs twice");
    }
  }

  YAML::Node node_;
  std::string path_;
};

// The first of several names that is there.
CardReader first_of(const CardReader& section, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (section.at(key).there()) return section.at(key);
  }
  return section.at(*keys.begin());
}

// "meta-llama/Llama-3.1-8B" and "llama3_8b" are "llama38b": 3, 3.1 and 3.2 name one architecture where sizes are equal.
std::string plain(std::string name) {
  if (const auto slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
  std::string letters;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool minor = c == '.' && i > 0 && name[i - 1] == '3' && i + 1 < name.size();
    if (minor) ++i;
    if (std::isalnum(c) != 0) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

// The one of `known` that `word` names, whatever its punctuation.
std::optional<std::string> known_like(const std::string& word, const std::vector<std::string>& known) {
  for (const std::string& name : known) {
    if (plain(name) == plain(word)) return name;
  }
  return std::nullopt;
}

std::string known_name(const CardReader& place, const std::string& word, std::string_view kind,
                       const std::vector<std::string>& known) {
  if (const auto name = known_like(word, known)) return *name;
  place.fail("there is no " + std::string(kind) + " \"" + word + "\"", suggest(word, known));
}

bool has_latent_attention(const std::string& key, const std::vector<KnownModel>& models) {
  const auto at = std::find_if(models.begin(), models.end(), [&](const KnownModel& model) { return model.key == key; });
  return at != models.end() && at->latent_attention;
}

/// A count of the card under its name there, and the key of a model that it becomes.
struct Renamed {
  const char* card;
  const char* key;
};

Json counts_of(const CardReader& arch, std::initializer_list<Renamed> names) {
  Json counts = Json::object();
  for (const auto& [card, key] : names) {
    if (arch.at(card).text().value_or("0") != "0") counts[key] = arch.at(card).count();
  }
  return counts;
}

const char* mlp_of(const CardReader& activation) {
  const std::string word = activation.text().value_or("silu");
  if (word == "silu" || word == "swiglu") return "swiglu";
  if (word == "relu2") return "squared_relu";
  if (word.starts_with("gelu")) return "gelu";
  activation.fail("unknown value \"" + word + "\"", "silu, gelu or relu2");
}

// The parts of a model that not every model has.
void add_parts(const CardReader& arch, Json& model) {
  if (arch.at("hidden_act").there()) model["mlp"] = mlp_of(arch.at("hidden_act"));
  if (arch.at("tie_word_embeddings").there()) model["tied_embeddings"] = arch.at("tie_word_embeddings").flag();
  const Json latent = counts_of(arch, {{"q_lora_rank", "query_rank"},
                                       {"kv_lora_rank", "kv_rank"},
                                       {"qk_nope_head_dim", "nope_head"},
                                       {"qk_rope_head_dim", "rope_head"},
                                       {"v_head_dim", "value_head"}});
  if (!latent.empty()) model["latent_attention"] = latent;
  Json experts = counts_of(arch, {{"num_experts_per_tok", "top_k"},
                                  {"moe_intermediate_size", "ffn"},
                                  {"n_shared_experts", "shared"},
                                  {"first_k_dense_replace", "dense_layers"},
                                  {"decoder_sparse_step", "every"}});
  const CardReader count = first_of(arch, {"num_experts", "num_local_experts", "n_routed_experts"});
  if (count.there()) experts["experts"] = count.count();
  if (!experts.empty()) model["moe"] = experts;
}

// Dimensions under Hugging Face's names, or the card's own where it has some. A family that is a preset says what they
// do not: biases, norms, positions.
Json model_of(const CardReader& model, const std::vector<KnownModel>& models) {
  const CardReader arch = model.at("model_arch");
  const CardReader family = model.at("model_family");
  const auto word = family.text();
  std::vector<std::string> known;
  for (const KnownModel& one : models) known.push_back(one.key);
  if (!arch.at("intermediate_size").there()) {
    if (!word) family.fail("missing", "the name of a model, or its dimensions in model_arch");
    return known_name(family, *word, "model", known);
  }
  const auto preset = word ? known_like(*word, known) : std::nullopt;
  Json spec = preset ? Json{{"preset", *preset}} : Json::object();
  const std::uint32_t heads = first_of(arch, {"num_attention_heads", "num_heads"}).count();
  const CardReader hidden = arch.at("hidden_size");
  spec["layers"] = first_of(arch, {"num_hidden_layers", "num_layers"}).count();
  spec["hidden"] = hidden.there() ? hidden.count() : arch.product(heads, arch.at("head_dim").count(), "heads x head_dim");
  spec["ffn"] = arch.at("intermediate_size").count();
  spec["heads"] = heads;
  spec["vocabulary"] = arch.at("vocab_size").count();
  add_parts(arch, spec);
  if (spec.contains("latent_attention") || (preset && has_latent_attention(*preset, models))) return spec;
  spec["kv_heads"] = arch.at("num_key_value_heads").count_or(heads);
  if (hidden.there() && arch.at("head_dim").there()) spec["head_dim"] = arch.at("head_dim").count();
  return spec;
}

// GPUs that hold copies or parts of the model; of two counts that wrap around in 32 bits the product does not in 64.
std::uint64_t data_parallel(const CardReader& plan) {
  return std::uint64_t{plan.at("dp_replicate").count_or(1)} * plan.at("dp_shard").count_or(1);
}

// The one place that maps a card's plan to the generator's: what the generator cannot do, its reader refuses by name.
Json parallelism_of(const CardReader& plan) {
  const std::uint32_t replicate = plan.at("dp_replicate").count_or(1);
  const std::uint32_t shard = plan.at("dp_shard").count_or(1);
  const std::uint32_t dp = plan.product(replicate, shard, "dp_replicate x dp_shard");
  Json parallelism{{"tp", plan.at("tp").count_or(1)}, {"pp", plan.at("pp").count_or(1)}, {"dp", dp}};
  if (shard > 1) parallelism["fsdp"] = true;
  if (shard > 1 && replicate > 1) parallelism["dp_replicate"] = replicate;
  for (const char* key : {"cp", "ep", "virtual_stages"}) {
    if (const std::uint32_t n = plan.at(key).count_or(1); n > 1) parallelism[key] = n;
  }
  if (plan.at("etp").there()) parallelism["etp"] = plan.at("etp").count();
  if (plan.at("zero1").flag()) parallelism["zero1"] = true;
  return parallelism;
}

Json training_of(const CardReader& root, const std::vector<KnownModel>& models) {
  const CardReader model = root.at("workload").at("model");
  if (const auto phase = model.at("phase").text(); phase && *phase != "training") {
    model.at("phase").fail("is \"" + *phase + "\"", "only training is simulated");
  }
  const CardReader plan = root.at("Model-executor").at("model_plan_parallelization");
  const CardReader data = root.at("workload").at("data");
  const Json parallelism = parallelism_of(plan);
  const std::uint32_t batch = data.at("batch_size").count();
  // Without a pipeline nothing is cut: a rank's share of the batch runs as one.
  const bool has_pipeline = plan.at("pp").count_or(1) > 1;
  const std::uint64_t micro =
      has_pipeline ? plan.at("pp_mb").count_or(1) : std::max<std::uint64_t>(batch / data_parallel(plan), 1);
  Json training{{"model", model_of(model, models)},
                {"sequence", data.at("seq_len").count()},
                {"global_batch", batch},
                {"micro_batch", micro},
                {"parallelism", parallelism}};
  if (const auto schedule = plan.at("schedule").text()) {
    training["schedule"] = *schedule;
  } else if (parallelism.contains("virtual_stages")) {
    training["schedule"] = "interleaved";
  }
  if (const auto precision = model.at("precision").text()) training["precision"] = {{"parameters", *precision}};
  return training;
}

Json cluster_of(const CardReader& hardware, const std::vector<std::string>& gpus) {
  const CardReader xpu = hardware.at("xpu_spec");
  const std::uint32_t total = xpu.at("total_count").count();
  const std::uint32_t per_server = std::min(xpu.at("count_per_node").count(), total);
  if (total % per_server != 0) {
    xpu.at("total_count").fail(std::to_string(total) + " do not fill nodes of " + std::to_string(per_server));
  }
  const auto word = xpu.at("model").text();
  if (!word) xpu.at("model").fail("missing");
  const std::string bare = word->starts_with("nvidia_") ? word->substr(7) : *word;
  const CardReader rates = hardware.at("network_topo").at("bandwidth_gbps");
  constexpr double kBits = 8.0;  // Gbit/s to GB/s
  return {{"servers", total / per_server},
          {"gpus_per_server", per_server},
          {"gpu", known_name(xpu.at("model"), bare, "GPU", gpus)},
          {"scale_up", {{"gb_per_s", rates.element(1).positive() / kBits}}},
          {"nic", {{"port_gb_per_s", rates.element(0).positive() / kBits}}},
          {"rail", {{"kind", "electrical"}}}};
}

// Ranks are a product of counts: llround() has no value for the largest.
std::string plain_number(double value) {
  return value < 1e18 ? std::to_string(std::llround(value)) : std::to_string(value);
}

void check_world(const CardReader& root, const Json& scenario) {
  const Json* const plan = json::find_at(scenario, "/workload/training/parallelism");
  PHOTONRAIL_CHECK(plan != nullptr);
  double ranks = 1.0;
  for (const char* key : {"tp", "pp", "dp", "cp"}) {
    if (const Json* const size = plan->find(key)) ranks *= size->number();
  }
  const CardReader total = root.at("workload").at("hardware").at("xpu_spec").at("total_count");
  if (ranks == total.count()) return;
  root.at("Model-executor")
      .at("model_plan_parallelization")
      .fail("dp_replicate x dp_shard x tp x pp x cp is " + plain_number(ranks) + ", but total_count is " +
            std::to_string(total.count()));
}

YAML::Node load(const std::filesystem::path& card) {
  try {
    return YAML::Load(read_file(card));
  } catch (const YAML::Exception& e) {
    throw ConfigError(card.string() + ":" + std::to_string(e.mark.line + 1), "is not YAML: " + e.msg);
  }
}

}  // namespace

Json read(const std::filesystem::path& card, const KnownNames& known) {
  const CardReader root(load(card), "");
  Json scenario{{"schema", "photonrail.scenario/1"}, {"name", card.stem().string()}};
  try {
    if (const auto why = root.at("description").text()) scenario["why"] = *why;
    scenario["cluster"] = cluster_of(root.at("workload").at("hardware"), known.gpus);
    scenario["workload"]["training"] = training_of(root, known.models);
    check_world(root, scenario);
  } catch (const ConfigError& e) {
    throw e.inside(card.string());
  } catch (const YAML::Exception& e) {
    throw ConfigError(card.string() + ":" + std::to_string(e.mark.line + 1), "cannot be read: " + e.msg);
  }
  return scenario;
}

}  // namespace photonrail::formats::card
