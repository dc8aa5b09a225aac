// Plans of at most sixteen candidates around small jobs of any kind, some of which contradict themselves.
#include "worlds/family.hpp"

#include <string>

namespace photonrail::worlds {

namespace {

// A training job that has shapes, with cards whose memory may be too small.
Json draw_base_of_shapes(Dice& dice) {
  const std::uint32_t servers = dice.pick<std::uint32_t>({1, 2, 4});
  Json base{{"schema", "photonrail.scenario/1"}};
  base["cluster"] = {{"servers", servers},
                     {"gpus_per_server", 2},
                     {"gpu", {{"peak_tflops", 100}, {"memory_gb_per_s", 1000}}},
                     {"nic", {{"port_gb_per_s", dice.pick<double>({5, 50})}}},
                     {"rail", {{"kind", "electrical"}}}};
  if (!dice.one_in(3)) base["cluster"]["gpu"]["memory_gb"] = dice.pick<double>({0.001, 0.02, 80});
  base["workload"]["training"] = {
      {"model", {{"layers", 4}, {"hidden", 64}, {"ffn", 128}, {"heads", 4}, {"kv_heads", 2}, {"vocabulary", 256}}},
      {"sequence", 64},
      {"global_batch", 8 * servers},
      {"parallelism", {{"tp", 1}, {"dp", 2 * servers}}}};
  return base;
}

Json draw_shapes(Dice& dice) {
  Json shapes = Json::object();
  if (dice.one_in(2)) shapes["tp"] = dice.pick<Json>({"auto", {1, 2}, {2}, {3}});
  if (dice.one_in(2)) shapes["pp"] = dice.pick<Json>({{1, 2}, {1, 4}, {5}});
  if (dice.one_in(2)) shapes["micro_batch"] = {1, 2};
  if (dice.one_in(3)) shapes["sharding"] = dice.pick<Json>({{"none", "fsdp"}, {"zero1", "fsdp"}});
  if (dice.one_in(4)) shapes["recompute"] = {"none", "full"};
  if (dice.one_in(6)) shapes["virtual_stages"] = {1, 2};
  return shapes;
}

Json draw_rails(Dice& dice) {
  const Json rail{{"kind", "optical"}, {"switch", {{"reconfiguration_ms", dice.pick<double>({0.01, 5})}}}};
  Json variants{{"electrical", {{"/cluster/rail", {{"kind", "electrical"}}}, {"/controller", {{"name", "electrical"}}}}}};
  variants["optical"] = {{"/cluster/rail", rail}, {"/controller", {{"name", dice.pick<std::string>({"opus", "lru"})}}}};
  if (dice.one_in(3)) variants["as it is"] = Json::object();
  return {{"name", "rails"}, {"variants", variants}};
}

Json axis(const std::string& pointer, const Json& values) { return {{"pointer", pointer}, {"values", values}}; }

// Keys of this job, and of any.
Json draw_axis(Dice& dice, const Json& base) {
  const Json workload = base.value("workload", Json::object());
  const bool own = dice.one_in(2);
  if (own && workload.contains("serving")) {
    return dice.pick<Json>({axis("/workload/serving/engine/max_sequences", {1, 8}),
                            axis("/workload/serving/routing/arrivals", {"round_robin", "least_requests"}),
                            axis("/workload/serving/tp", {1, 2}), axis("/workload/serving/pools", {{{{"role", "mixed"}}}}),
                            axis("/workload/serving/requests/count", {5, 20})});
  }
  if (own && workload.contains("rl")) {
    return dice.pick<Json>({axis("/workload/rl/mode", {"on_policy", "one_step_off", "async"}),
                            axis("/workload/rl/refit/by", {"ring", "ring_per_rail"}), axis("/workload/rl/steps", {1, 2})});
  }
  if (own && workload.contains("training")) {
    return dice.pick<Json>({axis("/workload/training/micro_batch", {1, 2}), axis("/workload/training/sequence", {32, 64}),
                            axis("/workload/training/parallelism/tp", {1, 1000})});
  }
  switch (dice.from_to(0, 3)) {
    case 0:
      return axis("/cluster/nic/port_gb_per_s", {10, 40});
    case 1:
      return axis("/cluster/gpu/compute_efficiency", {0.5, 1});
    case 2:
      return axis("/cluster/servers", {1, 2, 3});
    default:
      return draw_rails(dice);
  }
}

void draw_objective(Dice& dice, const Json& base, Json& plan) {
  const bool serves = base.contains("/workload/serving"_json_pointer);
  if (!serves && !base.contains("/workload/training"_json_pointer)) return;  // steps are all that there is
  const std::string words = serves ? "request" : "token";
  switch (dice.from_to(0, 9)) {
    case 0:
      plan["objective"] = {"step", "usd"};
      break;
    case 1:
      plan["objective"] = serves ? "usd_per_million_tokens" : "usd_per_trillion_tokens";
      if (!dice.one_in(6)) plan["prices"] = {{"gpu_hour_usd", 2}, {"usd_per_kwh", 0.1}};
      break;
    case 2:
    case 3:
      plan["objective"] = "gpu_seconds_per_" + words;
      break;
    case 4:
      plan["objective"] = {"power_w", "step", "gpu_seconds_per_" + words};
      break;
    case 5:
      if (serves) break;
      plan["objective"] = "days";
      if (!dice.one_in(6)) plan["tokens"] = 1e12;
      break;
    default:
      break;
  }
  if (dice.one_in(6)) plan["limits"]["usd"] = dice.pick<double>({1, 1e9});
  if (dice.one_in(8)) plan["limits"]["power_w"] = dice.pick<double>({1, 1e9});
}

}  // namespace

World draw_plan_of_job(std::uint64_t seed) {
  Dice dice(seed, "plan");
  Json base;
  const std::uint32_t kind = dice.from_to(0, 9);
  if (kind < 4) {
    base = draw_base_of_shapes(dice);
  } else {
    base = (kind < 8 ? draw_agents(seed) : draw_ordinary(seed)).scenario;
    base.erase("agents");
    for (const char* key : {"jobs", "name", "why"}) base.erase(key);
  }
  Json plan{{"schema", "photonrail.plan/1"}, {"name", "plan " + std::to_string(seed)}};
  if (kind < 4 && !dice.one_in(4)) plan["shapes"] = draw_shapes(dice);
  plan["axes"] = Json::array();
  for (std::uint32_t left = dice.from_to(plan.contains("shapes") ? 0 : 1, 2); left > 0; --left)
    plan["axes"].push_back(draw_axis(dice, base));
  const bool serves = base.contains("/workload/serving"_json_pointer);
  if (serves && !dice.one_in(4)) {
    base["workload"]["serving"]["slo"] = {{"ttft_ms", dice.pick<double>({0.1, 10, 1000})}, {"share", 0.5}};
    if (dice.one_in(4)) base["workload"]["serving"]["find_rate"] = {{"within", 0.5}, {"most_runs", 4}};
  }
  draw_objective(dice, base, plan);
  if (dice.one_in(2)) base["cost"] = Json::object();
  plan["base"] = base;
  return {seed, plan};
}

}  // namespace photonrail::worlds
