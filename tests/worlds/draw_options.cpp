// Options are drawn from a table of keys that need no more than the object that they are in. What is drawn for other
// reasons is not touched, and half of all worlds have none of these.
#include "photonrail/collective.hpp"
#include "worlds/options.hpp"
#include "worlds/twins.hpp"
#include "worlds/world.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::worlds {

namespace {

constexpr Option kOptions[] = {
    {"why", "", "why", R"(["drawn"])", 30},
    {"critical path", "/run", "critical_path", "[true, false]", 4},
    {"cost", "", "cost",
     R"([{"rule": "physical"}, {"rule": "opus_artifact", "spare_share": 0.1}, {"catalogue": "h200_400g"}])", 20},
    {"gpu", "/cluster", "gpu", R"(["a100", "b200", "gb200", "gb200_opus", "h100", "h200"])", 6, "", true},
    {"gpu memory", "/cluster/gpu", "memory_gb", "[0, 80, 1000]"},
    {"gpu power", "/cluster/gpu", "power_w", "[0, 700]", 12},
    {"gpu efficiency", "/cluster/gpu", "compute_efficiency", "[0.4, 1]"},
    {"gpu preset", "/cluster/gpu", "preset", R"(["a100", "b200", "gb200", "gb200_opus", "h100", "h200"])", 12},
    {"calibration", "/cluster/gpu", "calibration",
     R"([{"measured_step_s": 1, "simulated_step_s": 1.5, "source": "a log", "photonrail_version": "1"}])", 20},
    {"other gpu", "/cluster/unlike_gpus", "gpu", R"(["a100", "b200", "gb200", "gb200_opus", "h100", "h200"])", 4, "", true},
    {"other memory", "/cluster/unlike_gpus/gpu", "memory_gb", "[40]", 4},
    {"other power", "/cluster/unlike_gpus/gpu", "power_w", "[400]", 4},
    {"other efficiency", "/cluster/unlike_gpus/gpu", "compute_efficiency", "[0.5]", 4},
    {"other preset", "/cluster/unlike_gpus/gpu", "preset", R"(["a100", "b200", "gb200", "gb200_opus", "h100", "h200"])", 3},
    {"other calibration", "/cluster/unlike_gpus/gpu", "calibration",
     R"([{"measured_step_s": 1, "simulated_step_s": 1.5, "source": "a log", "photonrail_version": "1"}])", 4},
    {"scale-up", "/cluster", "scale_up",
     R"(["a100", "b200", "gb200", "h100", "h200", "nccl_tuner_a100", "nccl_tuner_h100",
         {"preset": "a100", "curve": "measured"}, {"preset": "b200", "curve": "flat"}, {"preset": "gb200", "latency_ns": 500},
         {"preset": "h100", "gb_per_s": 300}, {"preset": "h200", "curve": "measured"}, {"preset": "nccl_tuner_a100"},
         {"preset": "nccl_tuner_h100", "curve": "flat"}])",
     4, "", true},
    {"flat", "/cluster/scale_up", "curve", R"(["flat"])", 30},
    {"preset of links", "/cluster/scale_up", "preset", R"(["a100", "h100", "nccl_tuner_h100"])", 40, "gb_per_s"},
    {"link", "/cluster/scale_up/faults", "to", "[0, 1, 2]", 3, "gpu"},
    {"dark", "/cluster/rail", "on_dark", R"(["error"])", 8, "kind=optical"},
    {"dark ports", "/cluster/rail/switch", "dark", R"(["ports"])", 8},
    {"ports of the switch", "/cluster/rail/switch", "ports", "[320, 1024]", 12},
    {"power of the switch", "/cluster/rail/switch", "power_w", "[50]", 12},
    {"price of the switch", "/cluster/rail/switch", "usd_per_port", "[100]", 12},
    {"preset of the switch", "/cluster/rail/switch", "preset",
     R"(["awgr_tunable_laser", "dicon_mems", "lumentum_r300", "mems_2d", "mzi_interposer", "palomar_mems", "polatis_6000",
         "polatis_7000", "rotor", "silicon_photonic", "telescent_robotic"])",
     10},
    {"switch", "/cluster/rail", "switch",
     R"(["awgr_tunable_laser", "dicon_mems", "lumentum_r300", "mems_2d", "mzi_interposer", "palomar_mems", "polatis_6000",
         "polatis_7000", "rotor", "silicon_photonic", "telescent_robotic"])",
     4, "switch", true},
    {"in turn", "/executor", "concurrent_collectives", R"(["in_turn"])", 4},
    {"share of cp", "/executor/sm_share", "cp", "[0.25]", 2},
    {"share of pp", "/executor/sm_share", "pp", "[0.125]", 2},
    {"share of others", "/executor/sm_share", "other", "[0.5]", 2},
    {"share of kv", "/executor/sm_share", "kv", "[0.25]", 2},
    {"share of refits", "/executor/sm_share", "refit", "[0.25]", 2},
    {"electrical", "", "controller", R"([{"name": "electrical"}])", 8},
    {"starvation", "/controller", "starvation_us", "[1, 100, 5000]", 24},
    {"detection", "/stragglers", "detection_us", "[1, 30]", 3, "stops"},
    {"blocking", "/workload/checkpoint", "mode", R"(["blocking"])", 2},
    {"distance", "/workload/checkpoint", "distance", "[1, 2]", 3, "to=peer"},
    {"latency", "/workload/checkpoint", "latency_us", "[1, 100]", 3, "to=own_network"},
    {"all of storage", "/workload/checkpoint", "total_gb_per_s", "[1, 100]", 3, "to=own_network"},
    {"storage", "/workload", "checkpoint",
     R"([{"to": "storage", "bytes_per_rank": 5000, "servers": 1},
         {"to": "storage", "bytes_per_rank": 100000, "mode": "asynchronous", "over_steps": 2}])",
     20, "", true},
    {"names of tasks", "/workload/graph/tasks", "name", R"(["task"])", 6},
    {"gated", "/workload/moe_layer", "gated", "[true, false]", 4},
    {"processors", "/workload/moe_layer", "processors", "[1, 132]", 4},
    {"tile columns", "/workload/moe_layer", "tile_columns", "[8, 64]", 4},
    {"tile rows", "/workload/moe_layer", "tile_rows", "[4, 16]", 4},
    {"copy per expert", "/workload/training", "dispatch", R"(["copy_per_expert"])", 6},
    {"ends", "/workload/training", "ends_count_as_layers", "[true, false]", 8},
    {"micro-batch", "/workload/training", "micro_batch", "[1, 1, 2]", 6},
    {"biases", "/workload/training/model", "biases", "[true]"},
    {"layer norm", "/workload/training/model", "layer_norm", "[true]"},
    {"norm of queries", "/workload/training/model", "query_key_norm", "[true]"},
    {"head", "/workload/training/model", "head_dim", "[8, 16]"},
    {"positions", "/workload/training/model", "positions", "[4096]"},
    {"swiglu", "/workload/training/model", "mlp", R"(["swiglu"])"},
    {"preset of a model", "/workload/training/model", "preset", R"(["llama3_8b", "megatron_22b"])", 30},
    {"chunk", "/workload/training/model/mamba", "chunk", "[8]", 2},
    {"convolution", "/workload/training/model/mamba", "convolution", "[2]", 2},
    {"shared", "/workload/training/model/moe", "shared_ffn", "[32]", 3, "shared"},
    {"replicas of shards", "/workload/training/parallelism", "dp_replicate", "[1, 2]", 3, "fsdp"},
    {"expert tensor", "/workload/training/parallelism", "etp", "[1, 1, 2]", 3, "ep"},
    {"fused attention", "/workload/training/operators", "attention", R"(["fused"])", 3},
    {"fused biases", "/workload/training/operators", "expert_biases", R"(["fused"])", 3},
    {"grouped experts", "/workload/training/operators", "experts", R"(["grouped"])", 3},
    {"fused rotary", "/workload/training/operators", "rotary", R"(["fused"])", 6},
    {"scores", "/workload/training/operators", "scores", R"(["bf16", "fp8"])", 3},
    {"borrowed", "/workload/training/operators", "borrowed_by",
     R"([{"bf16_tflops": 400, "fp8_tflops": 800, "fp4_tflops": 800, "memory_gb_per_s": 2000}])", 4, "gpu"},
    {"operators of others", "/workload/training/operators", "unlike",
     R"([{"a100": {"precision": "bf16", "scores": "bf16", "factor": 1.25, "host": {"graphs": "none", "kernel_launch_us": 2,
            "operator_call_us": 3, "waits_for_routing": false}}},
         {"h100": {"precision": "fp8", "scores": "fp8", "host": {"graphs": "layers"}, "precision_of": {"mlp": "bf16", "attention": "fp8"},
            "bf16_layers": {"first": 1, "last": 0, "predictions": true}}},
         {"b200": {"precision": "mxfp8", "host": {"graphs": "step"}, "tables": "h100", "precision_of": {"mlp": "mxfp8"},
            "borrowed_by": {"bf16_tflops": 400, "fp8_tflops": 800, "fp4_tflops": 800, "memory_gb_per_s": 2000}}},
         {"gb200": {"precision": "nvfp4", "precision_of": {"mlp": "nvfp4"}}}])",
     3},
    {"pairing", "/workload/training/overlap", "pairing", R"(["by_layer"])", 3, "experts"},
    {"precision", "/workload/training", "precision",
     R"([{"parameters": "bf16", "gradients": "fp32"}, {"parameters": "fp16", "gradients": "fp16"},
         {"parameters": "fp8", "gradients": "bf16"}, {"gradients": "fp8"}])",
     8, "", true},
};

// Sections of mixtures of experts have the same keys, wherever they are.
constexpr const char* kMixtures[] = {"/workload/collective/moe", "/workload/moe_layer", "/workload/training/moe"};
constexpr Option kOfMixtures[] = {
    {"combine", "", "combine", R"(["bf16", "fp16", "fp32", "fp8"])", 2},
    {"dispatch", "", "dispatch", R"(["bf16", "fp16", "fp32", "fp8"])", 2},
    {"padded", "", "padded", "[true, false]", 2},
    {"capacity", "", "capacity_factor", "[1, 2]", 6},
    {"router", "", "router",
     R"(["uniform", "zipf", "dirichlet", {"kind": "zipf", "exponent": 1}, {"kind": "dirichlet", "concentration": 0.5},
         {"kind": "uniform"}])",
     2, "", true},
    {"fresh layers", "/router", "fresh_layers", "[true, false]", 2},
    {"drift of layers", "/router", "layer_drift", "[0.5]", 4},
    {"drift of iterations", "/router", "iteration_drift", "[0.5]", 4},
    {"spread of sources", "/router", "source_spread", "[0.5]", 4},
};

bool has(const Json& object, std::string_view beside) {
  const std::size_t is = beside.find('=');
  const std::string key(beside.substr(0, is));
  if (beside.empty()) return true;
  if (!object.contains(key)) return false;
  return is == std::string_view::npos || object[key] == std::string(beside.substr(is + 1));
}

// Calls `change` with each object at the place; `at` is the rest of its pointer.
template <class Change>
void at_each(Json& value, std::string_view at, const Change& change) {
  if (value.is_array()) {
    for (Json& element : value) at_each(element, at, change);
    return;
  }
  if (!value.is_object()) return;
  if (at.empty()) return change(value);
  const std::size_t end = std::min(at.find('/', 1), at.size());
  const auto inner = value.find(std::string(at.substr(1, end - 1)));
  if (inner != value.end()) at_each(*inner, at.substr(end), change);
}

// Each is parsed once: a search draws some hundred of them for every world.
const Json& values_of(const Option& option) {
  static std::map<const Option*, Json> parsed;
  const auto [at, fresh] = parsed.try_emplace(&option);
  if (fresh) at->second = Json::parse(option.values);
  return at->second;
}

}  // namespace

void draw_option(std::uint64_t seed, const Option& option, const std::string& at, Json& into) {
  Dice dice(seed, option.name);
  const bool drawn = dice.from_to(1, option.one_in) == 1;
  const Json& values = values_of(option);
  const Json& value = values[dice.from_to(0, static_cast<std::uint32_t>(values.size()) - 1)];
  if (!drawn) return;
  at_each(into, at, [&](Json& object) {
    if (has(object, option.beside) && (option.replaces || !object.contains(option.key))) object[option.key] = value;
  });
}

namespace {

// Each collective gets any algorithm, also those that cannot carry it out, which is refused where it comes to that.
void draw_algorithms(std::uint64_t seed, Json& collectives) {
  static const CollectiveRegistry registry = CollectiveRegistry::builtin();
  Dice dice(seed, "algorithms");
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    const bool any = dice.from_to(1, 2) == 1;
    std::vector<std::string> names{"auto"};
    for (const auto& algorithm : registry.all()) {
      if (any || (algorithm->supports(op, 2) && algorithm->supports(op, 4))) names.emplace_back(algorithm->name());
    }
    const bool drawn = dice.from_to(1, 2) == 1;
    const std::string& chosen = names[dice.from_to(0, static_cast<std::uint32_t>(names.size()) - 1)];
    if (op != CollectiveOp::kSend && drawn) collectives[std::string(name(op))] = chosen;
  }
}

// Layers with experts say more of their traffic.
void draw_experts(Dice& dice, Json& training) {
  const bool has_experts = training.contains("/model/moe"_json_pointer);
  if (has_experts && !training.contains("dispatch") && !training.contains("moe") && dice.from_to(0, 3) > 0)
    training["moe"] = Json::object();
  const bool is_sharded = training.value("/parallelism/fsdp"_json_pointer, false);
  if (is_sharded && dice.from_to(0, 2) == 0) training["gradients"]["every_micro_batch"] = dice.one_in(2);
}

// Weights of the experts, by layer or by member.
void draw_weights(Dice& dice, const Json& job, Json& moe) {
  if (dice.one_in(2)) return;
  const std::uint32_t experts =
      moe.value("experts", job.value("/workload/training/model/moe/experts"_json_pointer, std::uint32_t{0}));
  Json row = Json::array();
  for (std::uint32_t expert = 0; expert < experts; ++expert) row.push_back(dice.from_to(1, 10));
  moe["router"] = {{"kind", "weights"}, {"weights", Json::array({row})}};
  if (dice.one_in(3)) return;
  moe["router"]["rows"] = dice.pick<std::string>({"layers", "members"});
  const std::uint32_t members = job.value("/workload/collective/ranks"_json_pointer,
                                          job.value("/workload/moe_layer/ranks"_json_pointer, std::uint32_t{0}));
  if (moe["router"]["rows"] == "members" && members > 0) moe["router"]["weights"] = std::vector<Json>(members, row);
}

// A job that is no training gets two dimensions that a trace numbers the other way round.
void draw_sizes(Dice& dice, Json& scenario) {
  if (!dice.one_in(10) || scenario.contains("jobs") || scenario["workload"].contains("training")) return;
  if (scenario.contains("placement") || scenario["workload"].contains("checkpoint")) return;
  const std::uint32_t ranks = ranks_of(scenario);
  const std::uint32_t inner = ranks % 2 == 0 ? 2 : 1;
  scenario["placement"] = {
      {"order", {"a", "b"}}, {"sizes", {{"a", inner}, {"b", ranks / inner}}}, {"rank_order", {"b", "a"}}};
}

// Draws for the file, or for one of its jobs.
void draw_sections(std::uint64_t seed, Dice& dice, bool file, Json& job) {
  for (const Option& option : kOptions) {
    if (file || *option.at != '\0') draw_option(seed, option, option.at, job);
  }
  at_each(job, "/workload/training", [&](Json& training) { draw_experts(dice, training); });
  for (const char* const mixture : kMixtures) {
    for (const Option& option : kOfMixtures) draw_option(seed, option, mixture + std::string(option.at), job);
    at_each(job, mixture, [&](Json& moe) { draw_weights(dice, job, moe); });
  }
}

}  // namespace

void draw_options(std::uint64_t seed, Json& scenario) {
  Dice dice(seed, "options");
  if (dice.from_to(0, 1) == 0) return;
  if (dice.from_to(1, 2) == 1) draw_algorithms(seed, scenario["collectives"]);
  draw_sections(seed, dice, true, scenario);
  draw_sizes(dice, scenario);
  if (!scenario.contains("jobs")) return;
  for (std::size_t j = 0; j < scenario["jobs"].size(); ++j) {
    Json& job = scenario["jobs"][j];
    draw_sections(seed, dice, false, job);
    if (dice.one_in(6)) job["name"] = "job " + std::to_string(j);
  }
}

// A GPU more in each server, which is bypassed, and ranks on the others.
void draw_bypass(Dice& dice, Json& scenario) {
  Json& cluster = scenario["cluster"];
  if (!cluster.contains("/scale_up/ring"_json_pointer) || scenario.contains("jobs")) return;
  if (cluster["scale_up"]["ring"].value("reach", 1U) < 2 || cluster["gpus_per_server"] < 2 || !dice.one_in(2)) return;
  const bool given = scenario.value("/controller/name"_json_pointer, std::string()) == "static";
  if (given || cluster.contains("/nic/gpus"_json_pointer)) return;
  if (scenario.contains("placement") && !scenario["placement"].contains("rank_to_gpu")) return;
  std::vector<std::uint32_t> placed;
  if (scenario.contains("placement")) {
    placed = scenario["placement"]["rank_to_gpu"].get<std::vector<std::uint32_t>>();
  } else {
    for (std::uint32_t rank = 0; rank < ranks_of(scenario); ++rank) placed.push_back(rank);
    for (const char* kind : {"collective", "moe_layer"}) {
      Json& workload = scenario["workload"];
      if (workload.contains(kind) && !workload[kind].contains("demand")) workload[kind]["ranks"] = placed.size();
    }
  }
  const std::uint32_t gpus = cluster["gpus_per_server"];
  cluster["gpus_per_server"] = gpus + 1;
  cluster["scale_up"]["ring"]["bypassed"] = {gpus};
  for (std::uint32_t& gpu : placed) gpu = gpu / gpus * (gpus + 1) + gpu % gpus;
  scenario["placement"] = {{"rank_to_gpu", placed}};
}

// The smallest torus that has a twisted form; most of its GPUs have no rank.
void draw_twist(Dice& dice, Json& scenario) {
  Json& cluster = scenario["cluster"];
  if (!dice.one_in(2) || cluster.contains("/nic/gpus"_json_pointer) || cluster.contains("unlike_gpus")) return;
  for (const char* kind : {"collective", "moe_layer"}) {
    const Json::json_pointer at(std::string("/workload/") + kind);
    if (!scenario.contains(at) || scenario[at].contains("ranks") || scenario[at].contains("demand")) continue;
    scenario[at]["ranks"] = ranks_of(scenario);
  }
  if (scenario.contains("jobs") || scenario.value("/controller/name"_json_pointer, std::string()) == "static") return;
  cluster["gpus_per_server"] = 54;
  Json& links = cluster["scale_up"];
  for (const char* key : {"ring", "curve", "faults"}) links.erase(key);
  links["torus"] = {{"sides", {3, 3, 6}}, {"twisted", true}};
  if (!dice.one_in(3)) return;
  links["faults"] =
      Json::array({{{"gpu", dice.from_to(0, 5)}, {"at_us", dice.pick<double>({0, 5, 70})}, {"lasts_us", 40}}});
}

}  // namespace photonrail::worlds
