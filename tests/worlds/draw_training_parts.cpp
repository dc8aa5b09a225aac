// What else a training job may say: the parts of its model, its exchanges, and its operators one by one.
#include "worlds/world.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::worlds {

namespace {

std::uint32_t of_parallelism(const Json& training, const char* key) {
  return training["parallelism"].value(key, std::uint32_t{1});
}

bool is_sharded(const Json& training) { return training["parallelism"].value("fsdp", false); }

void draw_experts_of_model(Dice& dice, std::uint32_t tp, Json& moe) {
  if (dice.one_in(3)) moe["shared"] = tp;
  if (dice.one_in(5)) moe["every"] = 2;
  if (dice.one_in(5)) moe["dense_layers"] = 1;
  if (dice.one_in(6)) moe["latent"] = 8;
}

// Layers of one part each.
std::string draw_pattern(Dice& dice, std::uint32_t layers, bool mamba, bool moe) {
  std::vector<std::string> letters{"*", "-"};
  if (mamba) letters.insert(letters.end(), {"M", "M"});
  if (moe) letters.emplace_back("E");
  std::string pattern;
  while (pattern.size() < layers) pattern += dice.pick(letters);
  return pattern;
}

void draw_layers(Dice& dice, std::uint32_t tp, const Json& training, Json& model) {
  if (dice.one_in(4)) {
    model.erase("kv_heads");
    model["latent_attention"] = {{"kv_rank", 8}, {"nope_head", 8}, {"rope_head", 4}, {"value_head", 8}};
    if (dice.one_in(2)) model["latent_attention"]["query_rank"] = 12;
  }
  if (dice.one_in(5)) {
    model["window"] = dice.pick<std::uint32_t>({1, 16});
    model["window_every"] = dice.from_to(1, 3);
  }
  if (dice.one_in(5)) model["predicted_tokens"] = dice.pick<std::uint32_t>({1, 2, 5});
  if (dice.one_in(6)) model["mlp"] = dice.pick<std::string>({"gelu", "squared_relu"});
  if (dice.one_in(6)) model["tied_embeddings"] = true;
  const bool mamba = of_parallelism(training, "cp") == 1 && dice.one_in(2);
  if (!dice.one_in(6)) return;
  model["pattern"] = draw_pattern(dice, model["layers"], mamba, model.contains("moe"));
  if (model["pattern"].get<std::string>().find('M') == std::string::npos) return;
  model["mamba"] = {{"heads", 2 * tp}, {"head_dim", 8}, {"state", 16}, {"groups", tp}};
}

// A layer more here and one less there. Or the ends count as layers, where predictions may leave a middle stage without
// one.
void draw_stages(Dice& dice, Json& training) {
  const std::uint32_t layers = training["model"]["layers"];
  const std::uint32_t stages = of_parallelism(training, "pp") * of_parallelism(training, "virtual_stages");
  if (stages > 2 && dice.one_in(4)) {
    training["ends_count_as_layers"] = true;
    training["model"]["predicted_tokens"] = dice.pick<std::uint32_t>({1, 3, 5, 9});
    return;
  }
  if (stages == 1 || !dice.one_in(4)) return;
  std::vector<std::uint32_t> held(stages, layers / stages);
  const std::uint32_t from = dice.one_in(2) ? 0 : stages - 1;
  --held[from];
  ++held[dice.from_to(0, stages - 1)];
  training["stage_layers"] = held;
}

void draw_exchanges(Dice& dice, Json& training) {
  const bool experts = of_parallelism(training, "ep") > 1;
  if (!training.contains("sequence_parallel") && dice.one_in(3)) training["overlap"]["tensor"] = true;
  const bool paired = training["schedule"] == "1f1b" || training["schedule"] == "interleaved";
  if (paired && dice.one_in(3)) {
    training["overlap"]["experts"] = true;
    if (dice.one_in(2)) training["overlap"]["pairing"] = "turn_by_turn";
    if (dice.one_in(2)) training["overlap"]["delay_weights"] = false;
  }
  if (experts && dice.one_in(3)) {
    const Json kind = dice.pick<std::string>({"uniform", "zipf", "dirichlet"});
    training["moe"] = {{"router", dice.one_in(2) ? kind : Json{{"kind", kind}}}};
    if (training["moe"]["router"].is_object() && kind == "dirichlet") training["moe"]["router"]["concentration"] = 0.5;
  }
  if (experts && !training.contains("moe") && dice.one_in(2)) {
    training["dispatch"] = dice.pick<std::string>({"copy_per_rank", "hybrid_ep", "hybrid_ep"});
  }
  if (!is_sharded(training) && dice.one_in(4)) training["gradients"]["bucket_mb"] = dice.pick<double>({0.001, 1});
  if (training["parallelism"].value("zero1", false) && dice.one_in(2)) training["gradients"]["overlap_parameters"] = true;
  if (dice.one_in(4)) training["causal"] = true;
  if (dice.one_in(5)) training["precision"] = {{"parameters", "fp32"}, {"gradients", "bf16"}};
}

std::string draw_precision(Dice& dice) { return dice.pick<std::string>({"bf16", "fp8", "mxfp8", "nvfp4"}); }

void draw_precisions(Dice& dice, const Json& model, Json& operators) {
  operators["precision"] = draw_precision(dice);
  if (dice.one_in(4)) {
    operators["precision_of"] = {
        {dice.pick<std::string>({"attention", "mlp", "experts", "shared.up", "mamba.out"}), draw_precision(dice)}};
  }
  if (!dice.one_in(4)) return;
  operators["bf16_layers"] = {{"first", dice.from_to(0, 1)}, {"predictions", dice.one_in(2)}};
  if (model["layers"] > 1 && dice.one_in(2)) operators["bf16_layers"]["last"] = 1;
}

void draw_host(Dice& dice, Json& operators) {
  Json host{{"graphs", dice.pick<std::string>({"none", "layers", "step"})}};
  if (dice.one_in(3)) host["kernel_launch_us"] = dice.pick<double>({0, 1, 100});
  if (dice.one_in(3)) host["operator_call_us"] = dice.pick<double>({0, 22});
  if (dice.one_in(3)) host["waits_for_routing"] = false;
  operators["host"] = host;
}

void draw_kernels(Dice& dice, const Json& training, Json& operators) {
  if (dice.one_in(4)) operators["attention"] = dice.pick<std::string>({"unfused", "unfused_dropout"});
  if (training["model"].contains("latent_attention") && dice.one_in(3)) operators["rotary"] = "framework";
  if (dice.one_in(3)) operators["experts"] = "one_by_one";
  if (dice.one_in(5)) operators["expert_biases"] = dice.pick<std::string>({"bf16", "fp32"});
  if (dice.one_in(4)) operators["stash_experts"] = true;
  if (training.contains("dispatch") && dice.one_in(2)) {
    operators["ranks_a_copy"] = of_parallelism(training, "ep") % 2 == 0 ? 2u : of_parallelism(training, "ep");
  }
  for (const char* part : {"norms", "activations", "up_projections", "mlp", "experts"}) {
    if (dice.one_in(5)) operators["recompute"].push_back(part);
  }
  if (dice.one_in(8)) operators["frozen_weights"] = true;
}

Json draw_operators(Dice& dice, const Json& training) {
  Json operators{{"times", dice.one_in(4) ? "tables" : "roofline"}};
  if (operators["times"] == "tables") operators["gpu"] = dice.pick<std::string>({"h100", "gb200", "a100"});
  draw_precisions(dice, training["model"], operators);
  if (dice.one_in(2)) draw_host(dice, operators);
  if (dice.one_in(8)) operators["factor"] = 1.5;
  draw_kernels(dice, training, operators);
  return operators;
}

}  // namespace

void draw_training_parts(Dice& dice, Json& training) {
  Json& model = training["model"];
  const std::uint32_t tp = of_parallelism(training, "tp");
  if (model.contains("moe")) draw_experts_of_model(dice, tp, model["moe"]);
  draw_layers(dice, tp, training, model);
  draw_stages(dice, training);
  draw_exchanges(dice, training);
  if (dice.one_in(2)) training["operators"] = draw_operators(dice, training);
}

}  // namespace photonrail::worlds
