// Plans of a small job, for tests.
#pragma once

#include "photonrail/study/plan.hpp"

#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <vector>

namespace photonrail::test {

/// A model of eight equal layers on 16 GPUs.
inline nlohmann::json base_of_plan() {
  return nlohmann::json::parse(R"({
    "schema": "photonrail.scenario/1", "name": "small",
    "cluster": {"servers": 4, "gpus_per_server": 4, "rail": {"kind": "electrical"},
                "gpu": {"peak_tflops": 100, "memory_gb_per_s": 1000, "memory_gb": 8, "compute_efficiency": 0.5},
                "nic": {"port_gb_per_s": 25}},
    "workload": {"training": {"model": {"layers": 8, "hidden": 1024, "ffn": 4096, "heads": 16, "kv_heads": 4,
                                        "vocabulary": 32000},
                              "parallelism": {"tp": 1, "pp": 1, "dp": 16}, "sequence": 1024, "global_batch": 64}},
    "run": {"iterations": 2}})");
}

inline nlohmann::json plan_file() {
  return {{"schema", "photonrail.plan/1"},
          {"base", base_of_plan()},
          {"shapes", {{"tp", "auto"}, {"pp", {1, 2, 4, 8}}, {"micro_batch", {1, 2}}, {"sharding", {"zero1", "fsdp"}}}},
          {"axes",
           {{{"name", "rails"},
             {"variants",
              {{"electrical", {{"/cluster/rail", {{"kind", "electrical"}}}}},
               {"optical",
                {{"/cluster/rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}}}}},
                 {"/controller", {{"name", "opus"}, {"mode", "provisioned"}}}}}}}}}}};
}

inline Plan parsed_plan(const nlohmann::json& file) { return parse_plan(file.dump(), "small.json"); }

/// A space of 200 to 2,000 candidates; 64 where few are examined.
inline nlohmann::json drawn_plan(std::mt19937_64& random, bool large) {
  using nlohmann::json;
  const auto pick = [&random](const std::vector<double>& from) { return from[random() % from.size()]; };
  json file = plan_file();
  json& cluster = file["base"]["cluster"];
  cluster["nic"]["port_gb_per_s"] = pick({5, 25, 100});
  cluster["gpu"]["memory_gb"] = pick({2, 4, 8, 80});
  cluster["gpu"]["peak_tflops"] = pick({50, 100, 400});
  json& training = file["base"]["workload"]["training"];
  training["model"]["layers"] = pick({8, 10, 12, 16});
  training["global_batch"] = pick({32, 64});
  if (!large) return file;
  json& shapes = file["shapes"];
  shapes["micro_batch"] = {1, 2, 4};
  shapes["recompute"] = "auto";
  shapes["virtual_stages"] = {1, 2};
  if (random() % 2 == 0) training["schedule"] = "gpipe";
  if (random() % 2 == 0) shapes.erase("recompute");
  json& rails = file["axes"][0]["variants"];
  for (const double delay : {0.1, 20.0}) {
    json& variant = rails["on demand, " + std::to_string(delay)];
    variant["/cluster/rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", delay}}}};
    variant["/controller"] = {{"name", "opus"}, {"mode", "on_demand"}};
  }
  return file;
}

}  // namespace photonrail::test
