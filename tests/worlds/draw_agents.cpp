// Worlds whose work is decided while they run: served requests, reinforcement learning, agents by name, and an agent that
// launches what its dice say ("agents", which the judge takes out of the file). All else is that of an ordinary world.
#include "photonrail/control/needs.hpp"
#include "photonrail/controller.hpp"
#include "worlds/family.hpp"
#include "worlds/options.hpp"
#include "worlds/twins.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::worlds {

namespace {

// ---- Served requests.

constexpr const char* kTokens =
    R"([1, 7, 40, {"distribution": "uniform", "least": 1, "greatest": 60}, {"distribution": "normal", "mean": 20, "deviation": 9},
        {"distribution": "log_normal", "median": 12, "sigma": 0.8, "most": 100}])";
constexpr Option kServed[] = {
    {"served precision", "", "precision", R"(["bf16", "fp8", "fp8_block", "fp4", "fp16", "fp32"])", 4},
    {"kv precision", "", "kv_precision", R"(["bf16", "fp8", "fp16", "fp32"])", 4},
    {"warm up", "", "warm_up", "[1, 5, 1000]", 4},
    {"prompts", "/requests", "input", kTokens, 1},
    {"answers", "/requests", "output", kTokens, 1},
    {"count", "/requests", "count", "[1, 3, 20, 20, 60]", 1},
    {"turns", "/requests", "turns", "[1, 2, 3]", 4},
    {"think", "/requests", "think_us", R"([0, 30, {"distribution": "uniform", "least": 0, "greatest": 90},
        {"distribution": "normal", "mean": 20, "deviation": 9}, {"distribution": "log_normal", "median": 9, "sigma": 1},
        {"distribution": "empirical", "samples": [0, 5]}])",
     3},
    {"prefix", "/requests", "prefix", R"([{"groups": 1, "tokens": 16}, {"groups": 3, "tokens": 32}])", 4},
    {"routing", "", "routing", "[{}]", 2},
    {"of arrivals", "/routing", "arrivals",
     R"(["round_robin", "random", "least_requests", "least_blocks", "prefix", "sticky", "nearest"])", 2},
    {"of decode", "/routing", "decode",
     R"(["round_robin", "random", "least_requests", "least_blocks", "prefix", "sticky", "nearest"])", 2},
    {"age", "/routing", "signal_age_us", "[1, 100]", 4},
    {"waiting", "/routing", "max_waiting", "[1, 3]", 6},
    {"transfer", "", "transfer", "[{}]", 2},
    {"when", "/transfer", "when", R"(["at_end", "layer_by_layer", "layer_by_layer"])", 2},
    {"order of transfers", "/transfer", "order", R"(["fair", "fifo", "fifo"])", 2},
    {"circuits of transfers", "/transfer", "open", R"(["when_sent", "at_prefill", "at_prefill"])", 3},
    {"first token", "/transfer", "first_token", R"(["decode", "prefill", "prefill"])", 2},
    {"slo", "", "slo", R"([{"ttft_us": 100}, {"tpot_us": 20}, {"ttft_ms": 1, "tpot_us": 30}])", 3},
    {"horizon", "", "horizon_us", "[1, 300, 100000]", 10},
    {"request_host", "", "request_host_us", "[1, 300]", 12},
    {"collectives", "", "collectives", R"(["timed", "flows"])", 6},
    {"find rate", "", "find_rate", R"([{"within": 0.5, "most_runs": 2}])", 10, "slo"},
    {"share of slo", "/slo", "share", "[0.5, 1]", 4},
    {"classes", "/requests", "classes",
     R"([[{"name": "a", "share": 2, "priority": 1, "ttft_ms": 1}, {"name": "b", "tpot_us": 50, "shed_above": 2}]])", 6},
    {"tp of pools", "", "tp", "[1, 2]", 6},
    {"pp of pools", "", "pp", "[1, 2]", 12},
    {"dp of pools", "", "dp", "[1, 2]", 12},
    {"copies of engines", "/pools", "dp", "[1, 2]", 8},
    {"experts of GPUs", "/pools", "ep", "[1, 2]", 8},
    {"offload", "/pools", "offload",
     R"([{"to": "host", "link_gb_per_s": 8, "gpus_per_link": 2}, {"blocks": 20}, {"to": "decode", "keep": 0.2}])", 6},
    {"scaling", "/pools", "scaling",
     R"([{"least": 1, "up": 2, "down": 1, "cool_down_us": 20, "start_us": 10}, {"up": 4, "down": 0.5}])", 6},
    {"stages of engines", "/pools", "pp", "[1, 2]", 8},
    {"name of a pool", "/pools", "name", R"(["a pool"])", 4, "role=mixed"},
};
// Of the section, and of a pool.
constexpr Option kOfEngines[] = {
    {"sequences", "/engine", "max_sequences", "[1, 2, 8]", 2},
    {"budget", "/engine", "token_budget", "[1, 8, 64]", 2},
    {"long prefill", "/engine", "long_prefill_tokens", "[0, 5]", 4},
    {"block", "/engine", "block_tokens", "[1, 4, 16]", 2},
    {"blocks", "/engine", "blocks", "[3, 12, 40, 5000]", 1},
    {"share of memory", "/engine", "memory_share", "[0.5, 1]", 5},
    {"reserved", "/engine", "reserved_gb", "[0, 4]", 5},
    {"slices", "/engine", "slice_tokens", "[3]", 6},
    {"caching", "/engine", "prefix_caching", "[true, false]", 3},
    {"preemption", "/engine", "preemption", R"(["recompute", "swap"])", 3},
    {"swap", "/engine", "swap_gb_per_s", "[1, 20]", 1, "preemption=swap"},
    {"admission", "/engine", "admission", R"(["first_chunk", "prompt", "prompt_and_output"])", 3},
    {"scheduler", "/engine", "scheduler", R"(["shortest_first"])", 8},
    {"order of requests", "/engine", "order", R"(["arrival", "priority", "shortest"])", 3},
    {"steps ahead", "/engine", "decide_ahead", "[true]", 5},
    {"polls", "/engine", "poll_steps", "[2, 5]", 6},
    {"steps to wait", "/engine", "wait_steps", "[1, 4]", 6},
    {"tokens to wait for", "/engine", "wait_tokens", "[1, 6]", 8},
    {"prompts alone", "/engine", "prompts_alone", "[true]", 5},
    {"speculation", "/engine", "speculation",
     R"([{"drafts": 3, "acceptance": 0.7}, {"drafts": 1, "acceptance": 0}, {"drafts": 2, "acceptance": 1, "draft_us": 2}])",
     5},
    {"law", "", "times", R"([{"law": {"fixed_us": 10}},
        {"law": {"fixed_us": 5, "prefill_token_us": 1, "decode_us": 2, "cached_token_ns": 100}},
        {"operators": "roofline", "rotary": "in_attention", "host": {"step_us": 3, "request_us": 1, "token_ns": 50}},
        {"reduce_us": 2, "reduce_gb_per_s": 100, "graph_tokens": 0, "eager_layer_us": 4}, {"operators": "tables", "rotary": "apart"}])",
     2},
};

Json draw_arrivals(Dice& dice) {
  Json arrivals{{"per_s", dice.pick<double>({100, 20'000, 1e6})}};
  if (dice.one_in(4)) {
    arrivals = {{"stages", {{{"per_s", 20'000}, {"lasts_us", 300}}, {{"per_s", 1e6}, {"lasts_ms", 1}}}}};
  }
  if (!dice.one_in(2)) return arrivals;
  const std::string process = dice.pick<std::string>({"poisson", "gamma", "weibull", "constant"});
  arrivals["process"] = process;
  if (process == "gamma") arrivals["cv"] = dice.pick<double>({0.5, 3});
  if (process == "weibull") arrivals["shape"] = dice.pick<double>({0.6, 2});
  return arrivals;
}

std::uint32_t draw_divisor(Dice& dice, std::uint32_t n) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t d = 1; d <= n; ++d) {
    if (n % d == 0) list.push_back(d);
  }
  return dice.pick(list);
}

// The parts of a model are those of training.
Json draw_model(std::uint64_t seed, Dice& dice) {
  if (dice.one_in(4)) return dice.pick<std::string>({"llama3_8b", "qwen3_30b_a3b"});
  Json training{{"model", {{"layers", 2}, {"hidden", 64}, {"ffn", 128}, {"heads", 4}, {"kv_heads", 2}, {"vocabulary", 64}}},
                {"parallelism", {{"tp", 1}}}};
  if (dice.one_in(4)) training["model"]["moe"] = {{"experts", 4}, {"top_k", 2}, {"ffn", 32}};
  if (dice.one_in(2)) return training["model"];
  draw_training_parts(dice, training);
  Json job{{"workload", {{"training", training}}}};
  draw_options(seed, job);
  Json model = job["workload"]["training"]["model"];
  if (model.contains("mamba") && !dice.one_in(4)) {  // which engines refuse
    model.erase("mamba");
    model.erase("pattern");
  }
  return model;
}

Json draw_pools(Dice& dice, const Extent& extent) {
  Json pools = Json::array({{{"role", "mixed"}}});
  if (extent.servers > 1 && !dice.one_in(4)) {
    const std::uint32_t first = dice.from_to(1, extent.servers - 1);
    std::vector<std::uint32_t> servers;
    for (std::uint32_t server = 0; server < first; ++server) servers.push_back(server);
    pools = Json::array({{{"role", "prefill"}, {"servers", servers}}, {{"role", "decode"}}});
  }
  for (Json& pool : pools) {
    if (!dice.one_in(4)) pool["tp"] = draw_divisor(dice, extent.gpus_per_server);
  }
  return pools;
}

// Keys that would have no effect, and be refused: of the section what each pool has, of pools what their engines do not
// use.
void leave_out_idle(Json& serving) {
  Json& pools = serving["pools"];
  for (const char* key : {"tp", "pp", "dp"}) {
    if (std::all_of(pools.begin(), pools.end(), [&](const Json& pool) { return pool.contains(key); })) serving.erase(key);
  }
  const Json& model = serving["model"];
  const bool has_experts = model.is_object() ? model.contains("moe") : model == "qwen3_30b_a3b";
  const auto swaps = [](const Json& of) { return of.value("/engine/preemption"_json_pointer, "") == "swap"; };
  for (Json& pool : pools) {
    if (!has_experts) pool.erase("ep");
    if (!swaps(pool) && !swaps(serving)) pool.erase("offload");
  }
}

Json draw_serving(std::uint64_t seed, Dice& dice, const Extent& extent) {
  Json serving{{"model", draw_model(seed, dice)}, {"requests", Json::object()}};
  if (dice.one_in(2)) {
    serving["requests"]["concurrency"] = dice.pick<std::uint32_t>({1, 3, 16});
  } else {
    serving["requests"]["arrivals"] = draw_arrivals(dice);
  }
  if (!dice.one_in(8)) serving["pools"] = draw_pools(dice, extent);
  if (!dice.one_in(6)) serving["engine"] = Json::object();
  if (serving.contains("pools") && dice.one_in(4)) serving["pools"][0]["engine"] = Json::object();
  for (const Option& option : kServed) draw_option(seed, option, option.at, serving);
  for (const Option& option : kOfEngines) {
    draw_option(seed, option, option.at, serving);
    if (serving.contains("pools")) draw_option(seed + 1, option, std::string("/pools") + option.at, serving);
  }
  if (serving.contains("pools") && !dice.one_in(8)) leave_out_idle(serving);
  return serving;
}

// ---- Reinforcement learning.

constexpr Option kLearned[] = {
    {"tokens of prompts", "/prompts", "tokens", "[1, 50]", 3},
    {"batching", "/generation", "batching",
     R"([{}, {"max_sequences": 1}, {"max_sequences": 3, "block_tokens": 4}, {"token_budget": 16}])", 2},
    {"times of engines", "/generation", "times",
     R"([{"host": {"step_us": 500}}, {"law": {"fixed_us": 300, "decode_us": 5}}])", 3},
    {"failures", "/generation", "failures",
     R"([[{"engine": 0, "at_ms": 10, "lasts_ms": 50}], [{"engine": 0, "at_ms": 1, "lasts_ms": 3}]])", 5},
    {"passes", "/training", "passes", "[0, 1]", 3},
    {"recompute", "/training", "recompute", R"(["selective", "full"])", 4},
    {"packing", "/training", "packing", "[false]", 4},
    {"micro batches", "/training", "micro_batch_tokens", "[200, 1000]", 4},
    {"law of lengths", "/prompts/lengths", "distribution", R"(["constant", "uniform", "log_normal"])", 2},
    {"sigma", "/prompts/lengths", "sigma", "[0, 1.5]", 2, "distribution=log_normal"},
    {"most", "/prompts/lengths", "most", "[30, 100]", 4},
    {"mode", "", "mode", R"(["on_policy", "one_step_off", "async"])", 2},
    {"ahead", "", "ahead", "[0, 0.5, 2]", 2, "mode=async"},
    {"oldest", "", "oldest", "[1, 2]", 6},
    {"weights", "/generation", "precision", R"(["fp4", "fp8", "bf16", "fp32"])", 3},
    {"kv", "/generation", "kv_precision", R"(["fp4", "fp8", "bf16", "fp32"])", 4},
    {"run", "/generation", "longest_run", "[1, 8]", 4},
    {"critic", "/training", "critic", "[true]", 5},
    {"mini batches", "/training", "mini_batches", "[1, 2]", 4},
    {"rewards", "", "rewards", R"([{"response_ms": 2}, {"response_us": 10, "workers": 1}])", 3},
    {"tools", "", "tools", R"([{"call_ms": 3}, {"call_us": {"distribution": "uniform", "least": 0, "greatest": 5000}},
        {"call_us": {"distribution": "normal", "mean": 500, "deviation": 90}},
        {"call_ms": {"distribution": "log_normal", "median": 1, "sigma": 1}},
        {"call_ms": {"distribution": "empirical", "samples": [0, 2]}}])",
     2},
    {"calls", "/tools", "calls", "[0, 1, 5]", 2},
    {"choices", "/tools", "choices", "[[1], [0.5, 0.5], [0.2, 0.3, 0.5]]", 2},
    {"results", "/tools", "result_tokens", "[0, 5]", 2},
    {"cache", "/tools", "cache", R"(["none", "prefix_tree", "prefix_tree"])", 2},
    {"tree", "/tools", "budget", "[1, 3]", 3},
    {"to live", "/tools", "time_to_live_ms", "[0, 20]", 3},
    {"in flight", "/tools", "in_flight", R"(["wait", "run_twice"])", 2},
    {"build", "/tools", "build_ms", "[1]", 3},
    {"fork", "/tools", "fork_us", "[200]", 3},
    {"forks ahead", "/tools", "forks_ahead", "[true, false]", 3},
    {"sandboxes", "/tools", "sandboxes", "[1, 2]", 3},
    {"servers of tools", "/tools", "servers", "[1, 2]", 3},
    {"look up", "/tools", "look_up_us", "[50]", 3},
    {"way to tools", "/tools", "network_us", "[100]", 3},
    {"refit", "", "refit", "[{}]", 2},
    {"by", "/refit", "by", R"(["funnel", "ring", "ring_per_rail", "sharded", "sharded_matchings"])", 1},
    {"wire", "/refit", "precision", R"(["fp4", "fp8", "bf16", "fp32"])", 3},
    {"pieces", "/refit", "pieces", "[1, 5]", 3},
    {"delta", "/refit", "share", "[0.01]", 3},
    {"beside training", "/refit", "overlap", "[true, false]", 2},
    {"kv after", "/refit", "kv_after", R"(["kept", "recomputed"])", 3},
    {"offload", "", "offload_bytes", "[1e6, 1e9]", 2, "colocated"},
    {"offload rate", "", "offload_gb_per_s", "[5]", 2, "offload_bytes"},
    {"links to hosts", "", "offload_gpus_per_link", "[2]", 3, "colocated"},
    {"messages of engines", "/generation", "collectives", R"(["timed", "flows"])", 3},
    {"waiting kv", "", "waiting_kv", R"(["stays", "dropped", "swapped"])", 3, "tools"},
    {"swapped kv", "", "swap_gb_per_s", "[1]", 2, "waiting_kv=swapped"},
    {"batches", "", "batches", R"(["in_order", "as_completed"])", 3, "mode=async"},
    {"offloaded training", "", "offload", "[true]", 3, "colocated"},
    {"other", "", "other_ms", "[1]", 4},
};

// Powers of two, which divide heads and layers of models.
std::uint32_t draw_power(Dice& dice, std::uint32_t most) {
  std::uint32_t power = 1;
  while (2 * power <= std::min(most, 8U) && dice.from_to(0, 2) > 0) power *= 2;
  return power;
}

Json draw_engine(Dice& dice, std::uint32_t most) {
  const std::uint32_t tp = draw_power(dice, most);
  const std::uint32_t pp = dice.one_in(4) ? draw_power(dice, most / tp) : 1;
  Json layout{{"ranks", tp * pp}, {"tp", tp}};
  if (pp > 1) layout["pp"] = pp;
  if (dice.one_in(6)) layout["ep"] = 1;
  if (dice.one_in(6)) layout["etp"] = 1;
  return layout;
}

Json draw_parallelism(Dice& dice, std::uint32_t ranks) {
  const std::uint32_t tp = ranks % 2 == 0 && dice.one_in(2) ? 2 : 1;
  const std::uint32_t pp = ranks / tp % 2 == 0 && dice.one_in(3) ? 2 : 1;
  Json sizes{{"tp", tp}, {"dp", ranks / tp / pp}};
  if (pp > 1) sizes["pp"] = pp;
  if (ranks > tp && dice.one_in(3)) sizes[dice.one_in(2) ? "fsdp" : "zero1"] = true;
  return sizes;
}

Json draw_rl(std::uint64_t seed, Dice& dice, std::uint32_t gpus) {
  const bool colocated = dice.one_in(3);
  const std::uint32_t training = colocated ? gpus : dice.from_to(1, gpus - 1);
  const std::uint32_t left = colocated ? gpus : gpus - training;
  const Json engine = draw_engine(dice, left);
  Json rl{{"model", "llama3_8b"},
          {"steps", dice.from_to(1, 2)},
          {"prompts",
           {{"count", 2 * dice.from_to(1, 4)},
            {"responses", dice.from_to(1, 4)},
            {"lengths", {{"mean", dice.from_to(5, 25)}}}}},
          {"generation", {{"engines", dice.from_to(1, left / engine["ranks"].get<std::uint32_t>())}, {"engine", engine}}},
          {"training", {{"parallelism", draw_parallelism(dice, training)}}}};
  if (colocated) rl["colocated"] = true;
  for (const Option& option : kLearned) draw_option(seed, option, option.at, rl);
  if (colocated && !dice.one_in(12)) rl.erase("mode");  // one that generates ahead is refused
  // So is a refit beside training where engines have no GPUs or no pause, and where there is one stage.
  const bool stands = !colocated && rl.value("mode", "") != "async" && rl["training"]["parallelism"].contains("pp");
  if (!stands && rl.contains("refit") && !dice.one_in(12)) rl["refit"].erase("overlap");
  return rl;
}

// ---- Agents by name, with a step of their own.

Json draw_named(Dice& dice, std::uint32_t gpus) {
  Json workload{{"collective",
                 {{"op", dice.pick<std::string>({"all_reduce", "all_gather", "all_to_all", "reduce_scatter"})},
                  {"bytes", dice.pick<std::uint64_t>({1, 1000, 3'000'000})},
                  {"ranks", dice.from_to(2, gpus)}}}};
  Json& agent = workload["agent"];
  if (dice.one_in(3)) {
    agent = {{"name", "repeat"}};
  } else if (agent = {{"name", "arrivals"}}; dice.one_in(2)) {
    agent["at_s"] = dice.pick<Json>({Json::array({0, 0, 1e-5, 2e-5}), Json::array({0.001})});
  } else {
    agent["jobs"] = dice.pick<std::uint32_t>({1, 5, 20});
    agent["per_s"] = dice.pick<double>({100, 20'000, 1e6});
  }
  if (dice.one_in(2)) agent["steps"] = dice.from_to(1, 4);
  if (agent["name"] == "arrivals" && dice.one_in(3)) agent["ranks"] = dice.from_to(2, gpus);
  if (agent["name"] == "arrivals" && dice.one_in(2))
    agent["placement"] = dice.pick<std::string>({"lowest_ranks", "whole_servers"});
  if (dice.one_in(6) && agent["name"] == "arrivals") agent["most_events"] = 1'000'000;
  return workload;
}

// ---- What is around them.

bool may_be_decided(const Json& controller, std::uint32_t ports) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  const ControllerFactory& factory = registry.find(controller.value("name", std::string("electrical")));
  ControllerSpec spec;
  spec.name = factory.name;
  const PolicyNeeds needs = factory.needs_of(factory.complete(spec)).with_ports(ports);
  // A rotor turns for as long as a run takes, which is a long time for weights.
  return !factory.bound && factory.name != "rotor" && factory.name != "coalesce" &&
         !needs.view.has_any({ViewPart::kSchedule, ViewPart::kDueTimes}) && !needs.ranks.announces_any() &&
         controller.dump().find("\"mode\"") == std::string::npos && !controller.contains("rehearse");
}

// Most policies that need a known schedule make way for one that needs none.
void draw_policy(Dice& dice, const Extent& extent, Json& controller) {
  for (int tries = 0; tries < 6 && !may_be_decided(controller, extent.ports); ++tries)
    controller = draw_controller(dice, extent);
  if (!may_be_decided(controller, extent.ports))
    controller = {{"name", dice.pick<std::string>({"lru", "max_weight", "mixnet", "polling"})}};
}

struct JobOfAgent {
  Json& job;
  const Extent& extent;
  std::uint64_t seed;
};

void draw_job_of_agent(Dice& dice, const JobOfAgent& of) {
  const auto& [job, extent, seed] = of;
  for (const char* const key : {"placement", "iterations"}) job.erase(key);
  const std::uint32_t kind = dice.from_to(0, 9);
  const std::uint32_t gpus = extent.gpus();
  if (kind < 4 || gpus < 2) {
    job["workload"] = {{"serving", draw_serving(seed, dice, extent)}};
  } else if (kind < 6) {
    job["workload"] = {{"rl", draw_rl(seed, dice, gpus)}};
  } else if (kind < 8) {
    job["workload"] = draw_named(dice, gpus);
  } else {
    job["workload"] = {{"collective", {{"op", "barrier"}, {"ranks", dice.from_to(2, gpus)}}}};
  }
  if (job.contains("controller")) draw_policy(dice, extent, job["controller"]);
}

}  // namespace

World draw_agents(std::uint64_t number) {
  Dice dice(number, "agents");
  World world = draw_ordinary(number);
  Json& scenario = world.scenario;
  scenario["agents"] = {{"launches", dice.pick<std::uint32_t>({1, 5, 40})}};
  for (const char* const key : {"iterations", "critical_path", "spread_seeds"}) scenario["run"].erase(key);
  scenario.erase("placement");
  Extent extent;
  const Json& cluster = scenario["cluster"];
  extent.servers = cluster["servers"];
  extent.gpus_per_server = cluster["gpus_per_server"];
  extent.ports = cluster.value("/nic/ports"_json_pointer, 1U);
  extent.optical = cluster["rail"]["kind"] == "optical";
  if (extent.gpus() > 256) scenario["cluster"]["servers"] = extent.servers = 4;
  Json& gpu = scenario["cluster"]["gpu"];
  if (gpu.is_object() && gpu.value("memory_gb", 0.0) == 0.0 && !dice.one_in(20))
    gpu["memory_gb"] = dice.pick<double>({80, 1000});
  if (extent.optical) draw_policy(dice, extent, scenario["controller"]);
  if (!scenario.contains("jobs")) {
    draw_job_of_agent(dice, {scenario, extent, number});
    return world;
  }
  for (Json& job : scenario["jobs"]) {
    Extent own = extent;
    if (job.contains("servers")) own.servers = static_cast<std::uint32_t>(job["servers"].size());
    if (!dice.one_in(4)) draw_job_of_agent(dice, {job, own, number + 7 * own.servers});
  }
  return world;
}

}  // namespace photonrail::worlds
