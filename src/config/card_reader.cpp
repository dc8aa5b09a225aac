// A CCL-Bench workload card (YAML) as a scenario. Only what a simulation needs is read; a card says more.
#include "config/gzip.hpp"
#include "photonrail/config.hpp"
#include "photonrail/device.hpp"
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"

#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <vector>

namespace photonrail {

namespace {

using Json = nlohmann::ordered_json;

/// A place in the card, by the keys that lead there.
class CardReader {
 public:
  CardReader(YAML::Node node, std::string path) : node_(std::move(node)), path_(std::move(path)) {}

  [[nodiscard]] CardReader at(const std::string& key) const {
    const bool has_keys = node_.IsDefined() && node_.IsMap();
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
  [[nodiscard]] std::uint32_t count_or(std::uint32_t otherwise) const { return there() ? count() : otherwise; }
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

template <class Presets>
std::string preset_named(const CardReader& place, const std::string& word, std::string_view kind, const Presets& presets) {
  std::vector<std::string> known;
  for (const auto& preset : presets) {
    known.emplace_back(preset.key);
    if (plain(known.back()) == plain(word)) return known.back();
  }
  place.fail("there is no " + std::string(kind) + " \"" + word + "\"", suggest(word, known));
}

// Dimensions under Hugging Face's names, or the card's own where it has some.
Json model_of(const CardReader& model) {
  const CardReader arch = model.at("model_arch");
  if (!arch.at("intermediate_size").there()) {
    const CardReader family = model.at("model_family");
    const auto word = family.text();
    if (!word) family.fail("missing", "the name of a model, or its dimensions in model_arch");
    return preset_named(family, *word, "model", model_presets());
  }
  const std::uint32_t heads = first_of(arch, {"num_attention_heads", "num_heads"}).count();
  const CardReader hidden = arch.at("hidden_size");
  return {{"layers", first_of(arch, {"num_hidden_layers", "num_layers"}).count()},
          {"hidden", hidden.there() ? hidden.count() : heads * arch.at("head_dim").count()},
          {"ffn", arch.at("intermediate_size").count()},
          {"heads", heads},
          {"kv_heads", arch.at("num_key_value_heads").count_or(heads)},
          {"vocabulary", arch.at("vocab_size").count()}};
}

// The one place that maps a card's plan to the generator's: what the generator cannot do, its reader refuses by name.
Json parallelism_of(const CardReader& plan) {
  const std::uint32_t replicate = plan.at("dp_replicate").count_or(1);
  const std::uint32_t shard = plan.at("dp_shard").count_or(1);
  if (replicate > 1 && shard > 1) {
    plan.fail("dp_replicate " + std::to_string(replicate) + " with dp_shard " + std::to_string(shard) +
                  ": hybrid sharding is not simulated yet for generated jobs",
              "one of them must be 1");
  }
  Json parallelism{{"tp", plan.at("tp").count_or(1)}, {"pp", plan.at("pp").count_or(1)}, {"dp", replicate * shard}};
  if (shard > 1) parallelism["fsdp"] = true;
  for (const char* key : {"cp", "ep"}) {
    if (const std::uint32_t n = plan.at(key).count_or(1); n > 1) parallelism[key] = n;
  }
  return parallelism;
}

Json training_of(const CardReader& root) {
  const CardReader model = root.at("workload").at("model");
  if (const auto phase = model.at("phase").text(); phase && *phase != "training") {
    model.at("phase").fail("is \"" + *phase + "\"", "only training is simulated");
  }
  const CardReader plan = root.at("Model-executor").at("model_plan_parallelization");
  const CardReader data = root.at("workload").at("data");
  const Json parallelism = parallelism_of(plan);
  const std::uint32_t batch = data.at("batch_size").count();
  // Without a pipeline nothing is cut: a rank's share of the batch runs as one.
  const std::uint32_t dp = parallelism["dp"];
  const std::uint32_t micro = parallelism["pp"] > 1 ? plan.at("pp_mb").count_or(1) : std::max(batch / dp, 1U);
  Json training{{"model", model_of(model)},
                {"sequence", data.at("seq_len").count()},
                {"global_batch", batch},
                {"micro_batch", micro},
                {"parallelism", parallelism}};
  if (const auto precision = model.at("precision").text()) training["precision"] = {{"parameters", *precision}};
  return training;
}

Json cluster_of(const CardReader& hardware) {
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
          {"gpu", preset_named(xpu.at("model"), bare, "GPU", gpu_presets())},
          {"scale_up", {{"gb_per_s", rates.element(1).positive() / kBits}}},
          {"nic", {{"port_gb_per_s", rates.element(0).positive() / kBits}}},
          {"rail", {{"kind", "electrical"}}}};
}

void check_world(const CardReader& root, const Json& scenario) {
  const Json& plan = scenario["workload"]["training"]["parallelism"];
  double ranks = 1.0;
  for (const char* key : {"tp", "pp", "dp", "cp"}) ranks *= plan.value(key, 1.0);
  const CardReader total = root.at("workload").at("hardware").at("xpu_spec").at("total_count");
  if (ranks == total.count()) return;
  root.at("Model-executor")
      .at("model_plan_parallelization")
      .fail("dp_replicate x dp_shard x tp x pp x cp is " + std::to_string(std::llround(ranks)) + ", but total_count is " +
            std::to_string(total.count()));
}

YAML::Node load(const std::filesystem::path& card) {
  try {
    return YAML::Load(config::read_file(card));
  } catch (const YAML::Exception& e) {
    throw ConfigError(card.string() + ":" + std::to_string(e.mark.line + 1), "is not YAML: " + e.msg);
  }
}

}  // namespace

std::string scenario_from_card(const std::filesystem::path& card) {
  const CardReader root(load(card), "");
  Json scenario{{"schema", "photonrail.scenario/1"}, {"name", card.stem().string()}};
  try {
    if (const auto why = root.at("description").text()) scenario["why"] = *why;
    scenario["cluster"] = cluster_of(root.at("workload").at("hardware"));
    scenario["workload"]["training"] = training_of(root);
    check_world(root, scenario);
  } catch (const ConfigError& e) {
    throw e.inside(card.string());
  }
  const std::string text = scenario.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  static_cast<void>(parse_scenario(text, card.parent_path(), card.string() + " as a scenario"));  // or says what is wrong
  return text;
}

}  // namespace photonrail
