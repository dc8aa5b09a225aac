// Drawn workload cards of CCL-Bench: YAML in any form, under the names of Hugging Face or of the card, read back key by
// key.
#include "formats/card/card.hpp"
#include "formats/drawn/tree.hpp"
#include "photonrail/config.hpp"
#include "support/folder.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace photonrail::test::drawn {
namespace {

using nlohmann::json;
using Count = std::uint64_t;

/// What a card says; none: the key is not there.
struct CardTruth {
  std::optional<std::string> description;
  std::string family;  ///< key of a model that is known, or a name that is not
  bool known_family = false;
  bool latent_family = false;
  std::optional<std::string> precision;
  bool has_dimensions = false;
  std::map<std::string, Count> dimensions;  ///< by the keys of the card
  std::optional<std::string> activation;
  std::optional<bool> tied;
  double nic_gbit = 0.0;
  double scale_up_gbit = 0.0;
  std::string gpu;
  Count total = 1;
  Count per_node = 1;
  Count batch = 1;
  Count sequence = 1;
  std::map<std::string, Count> plan;  ///< by the keys of the card
  std::optional<bool> zero1;
  std::optional<std::string> schedule;
};

const std::vector<std::string>& card_models() {
  static const std::vector<std::string> models{"llama3_8b", "deepseek_v3", "mixtral_8x7b"};
  return models;
}
const std::vector<std::string>& card_gpus() {
  static const std::vector<std::string> gpus{"h100", "a100_80", "gb200"};
  return gpus;
}

void draw_dimensions(Draw& draw, CardTruth& card) {
  card.has_dimensions = true;
  const auto put = [&](const std::string& key, Count most) { card.dimensions[key] = draw.from_to(1, most); };
  const auto maybe = [&](const std::string& key, Count most) {
    if (draw.one_in(2))
      put(key, most);
    else if (draw.one_in(4))
      card.dimensions[key] = 0;  // as some models write that they have none
  };
  put(draw.pick<std::string>({"num_layers", "num_hidden_layers"}), 120);
  put(draw.pick<std::string>({"num_heads", "num_attention_heads"}), 128);
  put("intermediate_size", 65536);
  put("vocab_size", 200000);
  const auto width = draw.below(3);
  if (width != 0) put("hidden_size", 16384);
  if (width != 1) put("head_dim", 256);
  if (draw.one_in(2)) put("num_key_value_heads", 16);
  if (draw.one_in(3)) card.activation = draw.pick<std::string>({"silu", "swiglu", "gelu", "gelu_new", "relu2"});
  if (draw.one_in(3)) card.tied = draw.one_in(2);
  if (draw.one_in(3)) {
    for (const char* key : {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
      maybe(key, 2048);
  }
  if (draw.one_in(3)) {
    put(draw.pick<std::string>({"num_experts", "num_local_experts", "n_routed_experts"}), 512);
    for (const char* key : {"num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", "first_k_dense_replace",
                            "decoder_sparse_step"})
      maybe(key, 4096);
  }
}

CardTruth draw_card(std::uint64_t seed) {
  Draw draw(seed, "card/truth");
  CardTruth card;
  if (draw.one_in(2)) card.description = name_text(draw) + " and " + name_text(draw);
  if (draw.one_in(3)) draw_dimensions(draw, card);
  card.known_family = !card.has_dimensions || draw.one_in(2);
  card.family = card.known_family ? draw.pick(card_models()) : "my-own-model";
  card.latent_family = card.family == "deepseek_v3";
  if (draw.one_in(2)) card.precision = draw.pick<std::string>({"bf16", "fp8"});
  card.nic_gbit = static_cast<double>(draw.from_to(1, 8000)) / 4.0;
  card.scale_up_gbit = static_cast<double>(draw.from_to(1, 80000)) / 4.0;
  card.gpu = draw.pick(card_gpus());
  Count ranks = 1;
  for (const char* key : {"dp_replicate", "dp_shard", "tp", "pp", "cp"}) {
    if (!draw.one_in(2)) continue;
    card.plan[key] = draw.pick<Count>({1, 2, 3, 4, 8});
    ranks *= card.plan[key];
  }
  for (const char* key : {"ep", "pp_mb", "etp", "virtual_stages"}) {
    if (draw.one_in(3)) card.plan[key] = draw.from_to(1, 5);
  }
  card.total = ranks;
  card.per_node = draw.one_in(4) ? ranks * 8 : draw.pick<Count>({1, ranks});  // a card may count places that stay empty
  for (const Count part : {2, 4, 8}) {
    if (ranks % part == 0 && draw.one_in(2)) card.per_node = part;
  }
  card.batch = draw.from_to(1, 4096);
  card.sequence = draw.from_to(1, 1 << 20);
  if (draw.one_in(4)) card.zero1 = draw.one_in(2);
  if (draw.one_in(4)) card.schedule = draw.pick<std::string>({"gpipe", "1f1b"});
  return card;
}

// ---- writing

/// A name with other punctuation and other letters.
std::string respelled(Draw& style, const std::string& name) {
  std::string out = style.one_in(4) ? "some-org/" : "";
  for (const char c : name) {
    if (c == '_') {
      out += style.pick<std::string>({"_", "-", "", " "});
    } else {
      out += style.one_in(2) && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      if (c == '3' && name.starts_with("llama") && style.one_in(2)) out += ".1";
    }
  }
  return out;
}

std::string truth_word(Draw& style, bool value) {
  return value ? style.pick<std::string>({"true", "True", "yes", "on"}) : style.pick<std::string>({"false", "False", "no"});
}

Tree model_tree(Draw& style, const CardTruth& card) {
  Tree model = map({{"model_family", text(card.known_family ? respelled(style, card.family) : card.family)}});
  if (style.one_in(2)) model.set("phase", text("training"));
  if (card.precision) model.set("precision", text(*card.precision));
  if (style.one_in(2)) model.set("moe", plain("false"));  // not read
  Tree arch = map();
  for (const auto& [key, value] : card.dimensions) arch.set(key, plain(value));
  if (card.activation) arch.set("hidden_act", text(*card.activation));
  if (card.tied) arch.set("tie_word_embeddings", plain(truth_word(style, *card.tied)));
  if (style.one_in(3)) arch.set("num_params", plain(8030000000));
  if (style.one_in(3)) arch.set("rope_theta", plain("~"));
  if (!arch.members.empty()) model.set("model_arch", arch);
  return model;
}

Tree card_tree(Draw& style, const CardTruth& card) {
  Tree hardware = map();
  Tree rates = list({plain(number_text(style, card.nic_gbit)), plain(number_text(style, card.scale_up_gbit))});
  Tree topology = map({{"bandwidth_gbps", rates}});
  if (style.one_in(2)) topology.set("topology", text("slingshot"));
  hardware.set("network_topo", topology);
  Tree xpu = map({{"model", text((style.one_in(2) ? "nvidia_" : "") + respelled(style, card.gpu))},
                  {"total_count", plain(card.total)},
                  {"count_per_node", plain(card.per_node)}});
  if (style.one_in(2)) xpu.set("type", text("GPU"));
  hardware.set("xpu_spec", xpu);
  Tree workload =
      map({{"model", model_tree(style, card)},
           {"data", map({{"batch_size", plain(card.batch)}, {"seq_len", plain(card.sequence)}, {"dataset", text("c4")}})},
           {"hardware", hardware}});
  Tree plan = map();
  for (const auto& [key, value] : card.plan) plan.set(key, plain(value));
  if (card.zero1) plan.set("zero1", plain(truth_word(style, *card.zero1)));
  if (card.schedule) plan.set("schedule", text(*card.schedule));
  Tree executor = map({{"model_plan_parallelization", plan}});
  if (style.one_in(2)) executor.set("framework", map({{"name", text("torchtitan")}}));
  Tree root = map({{"workload", workload}, {"Model-executor", executor}});
  if (card.description) root.set("description", text(*card.description));
  if (style.one_in(2)) root.set("version", plain(1));
  return root;
}

// ---- the scenario that the truth means, by docs/formats/ccl-bench.md

struct Renaming {
  std::string card;
  std::string key;
};

json counts_of(const CardTruth& card, const std::vector<Renaming>& names) {
  json counts = json::object();
  for (const auto& [key, renamed] : names) {
    const auto at = card.dimensions.find(key);
    if (at != card.dimensions.end() && at->second > 0) counts[renamed] = at->second;
  }
  return counts;
}

json expected_model(const CardTruth& card) {
  if (!card.has_dimensions) return card.family;
  json model = counts_of(card, {{"num_layers", "layers"},
                                {"num_hidden_layers", "layers"},
                                {"num_heads", "heads"},
                                {"num_attention_heads", "heads"},
                                {"intermediate_size", "ffn"},
                                {"vocab_size", "vocabulary"},
                                {"hidden_size", "hidden"}});
  if (card.known_family) model["preset"] = card.family;
  const Count heads = model.at("heads");
  const bool has_hidden = model.contains("hidden");
  if (!has_hidden) model["hidden"] = heads * card.dimensions.at("head_dim");
  if (card.activation) {
    model["mlp"] = *card.activation == "relu2" ? "squared_relu" : card.activation->starts_with("gelu") ? "gelu" : "swiglu";
  }
  if (card.tied) model["tied_embeddings"] = *card.tied;
  const json latent = counts_of(card, {{"q_lora_rank", "query_rank"},
                                       {"kv_lora_rank", "kv_rank"},
                                       {"qk_nope_head_dim", "nope_head"},
                                       {"qk_rope_head_dim", "rope_head"},
                                       {"v_head_dim", "value_head"}});
  const json experts = counts_of(card, {{"num_experts", "experts"},
                                        {"num_local_experts", "experts"},
                                        {"n_routed_experts", "experts"},
                                        {"num_experts_per_tok", "top_k"},
                                        {"moe_intermediate_size", "ffn"},
                                        {"n_shared_experts", "shared"},
                                        {"first_k_dense_replace", "dense_layers"},
                                        {"decoder_sparse_step", "every"}});
  if (!latent.empty()) model["latent_attention"] = latent;
  if (!experts.empty()) model["moe"] = experts;
  if (!latent.empty() || card.latent_family) return model;  // as many heads for keys and values
  const json kv = counts_of(card, {{"num_key_value_heads", "kv_heads"}, {"head_dim", "head_dim"}});
  model["kv_heads"] = kv.value("kv_heads", heads);
  if (has_hidden && kv.contains("head_dim")) model["head_dim"] = kv.at("head_dim");
  return model;
}

json expected_scenario(const CardTruth& card) {
  const auto of_plan = [&](const char* key) {
    const auto at = card.plan.find(key);
    return at == card.plan.end() ? Count{1} : at->second;
  };
  const Count dp = of_plan("dp_replicate") * of_plan("dp_shard");
  json parallelism{{"tp", of_plan("tp")}, {"pp", of_plan("pp")}, {"dp", dp}};
  if (of_plan("dp_shard") > 1) parallelism["fsdp"] = true;
  if (of_plan("dp_shard") > 1 && of_plan("dp_replicate") > 1) parallelism["dp_replicate"] = of_plan("dp_replicate");
  for (const char* key : {"cp", "ep", "virtual_stages"}) {
    if (of_plan(key) > 1) parallelism[key] = of_plan(key);
  }
  if (card.plan.contains("etp")) parallelism["etp"] = of_plan("etp");
  if (card.zero1.value_or(false)) parallelism["zero1"] = true;
  json training{{"model", expected_model(card)},
                {"sequence", card.sequence},
                {"global_batch", card.batch},
                {"micro_batch", of_plan("pp") > 1 ? of_plan("pp_mb") : std::max<Count>(card.batch / dp, 1)},
                {"parallelism", parallelism}};
  if (card.schedule) {
    training["schedule"] = *card.schedule;
  } else if (of_plan("virtual_stages") > 1) {
    training["schedule"] = "interleaved";
  }
  if (card.precision) training["precision"] = {{"parameters", *card.precision}};
  const Count per_server = std::min(card.per_node, card.total);
  json scenario{{"schema", "photonrail.scenario/1"},
                {"name", "job"},
                {"cluster",
                 {{"servers", card.total / per_server},
                  {"gpus_per_server", per_server},
                  {"gpu", card.gpu},
                  {"scale_up", {{"gb_per_s", card.scale_up_gbit / 8.0}}},
                  {"nic", {{"port_gb_per_s", card.nic_gbit / 8.0}}},
                  {"rail", {{"kind", "electrical"}}}}},
                {"workload", {{"training", training}}}};
  if (card.description) scenario["why"] = *card.description;
  return scenario;
}

Differences read_card(std::uint64_t seed, const CardTruth& written, const CardTruth& truth, Cover& cover) {
  Draw style(seed, "card/style");
  const Tree tree = card_tree(style, written);
  cover_keys(tree, cover);
  const Folder folder;
  const auto file = folder.write("job.yaml", maybe_gzip(style, YamlText(style).of(tree)));
  formats::card::KnownNames known;
  for (const std::string& model : card_models()) known.models.push_back({model, model == "deepseek_v3"});
  known.gpus = card_gpus();
  const json read = json::parse(formats::card::read(file, known).dump());
  Differences found;
  const json expected = expected_scenario(truth);
  if (read != expected) found.add("difference (JSON patch): " + json::diff(expected, read).dump());
  return found;
}

TEST(DrawnCards, AreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(300, [&](std::uint64_t seed) {
    const CardTruth truth = draw_card(seed);
    return read_card(seed, truth, truth, cover);
  });
  std::set<std::string> known = words_in({"src/formats/card/reader.cpp"}, {R"rx(\.at\("([A-Za-z_0-9-]+)"\))rx"});
  known.merge(words_in({"src/formats/card/reader.cpp"}, {R"rx(\{"([a-z_]+)", "[a-z_]+"\})rx", R"rx(word == "(\w+)")rx"}));
  for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts", "num_attention_heads", "num_heads",
                          "num_hidden_layers", "num_layers", "cp", "ep", "virtual_stages"})
    known.insert(key);  // of lists
  cover.expect_all(known, {{"kind", "a key of the scenario that is written"}});
}

// The whole way: a card of a model that comes with the library, as the scenario of a run.
TEST(DrawnCards, GiveTheJobThatTheySay) {
  expect_read_as_written(20, [](std::uint64_t seed) {
    Draw draw(seed, "card/job");
    CardTruth card;
    card.family = draw.pick<std::string>({"llama3_8b", "llama3_70b", "llama2_7b"});
    card.known_family = true;
    card.nic_gbit = 400.0;
    card.scale_up_gbit = 3600.0;
    card.gpu = draw.pick<std::string>({"h100", "a100", "h200"});
    Count dp = 1;
    for (const char* key : {"dp_replicate", "dp_shard", "tp", "pp"}) {
      card.plan[key] = draw.pick<Count>({1, 2, 4});
      card.total *= card.plan[key];
      if (key[0] == 'd') dp *= card.plan[key];
    }
    card.plan["pp_mb"] = draw.from_to(1, 3);
    card.per_node = std::min<Count>(card.total, 4);
    card.batch = dp * card.plan["pp_mb"] * draw.from_to(1, 3);
    card.sequence = 128 * draw.from_to(1, 64);
    Draw style(seed, "card/style");
    const Folder folder;
    const auto file = folder.write("job.yaml", YamlText(style).of(card_tree(style, card)));
    const auto scenario_file = folder.write("job.json", scenario_from_card(file));
    const Scenario scenario = read_scenario(scenario_file);
    const TrainingSpec training = read_training_spec(scenario_file);
    Differences found;
    found.compare("servers", card.total / card.per_node, Count{scenario.cluster.servers});
    found.compare("gpus_per_server", card.per_node, Count{scenario.cluster.gpus_per_server});
    found.compare("gpu", card.gpu, scenario.cluster.gpu.name);
    found.compare("NIC", 50e9, scenario.cluster.nic.per_port.bytes_per_second * scenario.cluster.nic.ports);
    found.compare("scale-up", 450e9, scenario.cluster.scale_up.per_gpu.bytes_per_second);
    found.compare("ranks", card.total, Count{scenario.graph.ranks()});
    found.compare("sequence", card.sequence, Count{training.sequence});
    found.compare("batch", card.batch, Count{training.global_batch});
    found.compare("tp", card.plan["tp"], Count{training.parallelism.tp});
    found.compare("pp", card.plan["pp"], Count{training.parallelism.pp});
    found.compare("dp", dp, Count{training.parallelism.dp});
    found.compare("fsdp", card.plan["dp_shard"] > 1, training.parallelism.fsdp);
    found.compare("layers", model_preset(card.family).layers, training.model.layers);
    found.compare("hidden", model_preset(card.family).hidden, training.model.hidden);
    found.compare("micro_batch", card.plan["pp"] > 1 ? card.plan["pp_mb"] : card.batch / dp, Count{training.micro_batch});
    return found;
  });
}

TEST(DrawnCards, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"rate",      "swap of the rates", "batch",      "sequence",
                                    "dimension", "schedule",          "description"};
  expect_changes_noticed(80, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "card/planted");
    const CardTruth truth = draw_card(seed);
    CardTruth other = truth;
    name = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    if (name == "rate") other.nic_gbit += 0.25;
    if (name == "swap of the rates") std::swap(other.nic_gbit, other.scale_up_gbit);
    if (name == "batch") other.batch += 4096 * 64;
    if (name == "sequence") other.sequence += 1;
    if (name == "schedule") other.schedule = truth.schedule == "gpipe" ? "1f1b" : "gpipe";
    if (name == "description") other.description = truth.description.value_or("") + "x";
    if (name == "dimension") {
      if (other.dimensions.empty()) return name.clear(), true;
      other.dimensions["vocab_size"] += 1;
    }
    return !read_card(seed, other, truth, cover).none();
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
