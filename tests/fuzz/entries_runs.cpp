// Entries that carry out what they read: links between GPUs, histories of failures, slices of a pod. What asks for much is
// read only: how long a run may take is the user's.
#include "fuzz/entry.hpp"

#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/slices/study.hpp"

#include <algorithm>

namespace photonrail::fuzz {

namespace {

namespace fs = std::filesystem;

bool is_small(const Scenario& scenario) {
  constexpr std::uint64_t kMaxChunks = 16;
  return scenario.graph.ranks() <= 32 && scenario.graph.task_count() <= 2000 && scenario.run.iterations <= 4 &&
         scenario.collectives.chunks <= kMaxChunks;
}

bool is_small(const goodput::GoodputScenario& scenario) {
  return scenario.spec.days <= 200.0 && scenario.spec.servers() <= 64 && (!scenario.job || is_small(*scenario.job));
}

bool is_small(const slices::AllocationStudy& study) {
  return study.jobs.size() <= 500 && study.schedule.pod.torus.size() <= 4096;
}

}  // namespace

void run_links(std::string_view data, const fs::path& folder) {
  write(folder / "links.json", data);
  if (is_small(parse_scenario(data, folder, "links.json"))) act({"run", "links.json", "--quiet"}, folder);
}
std::vector<std::string> links_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 8,
    "scale_up": {"gb_per_s": 100, "latency_ns": 300, "torus": {"sides": [2, 2, 2], "wrap": true}},
    "nic": {"ports": 1, "port_gb_per_s": 50}, "rail": {"kind": "optical", "switch": {"reconfiguration_us": 15}}},
    "controller": {"name": "opus", "mode": "provisioned"}, "collectives": {"all_reduce": "auto", "chunks": 2},
    "workload": {"collective": {"op": "all_reduce", "bytes": 1000000, "ranks": 16}}, "run": {"fidelity": "exact"}})",
          R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 1, "gpus_per_server": 16,
    "scale_up": {"gb_per_s": 300, "latency_ns": 500, "torus": {"sides": [4, 4], "wrap": [true, false], "cube": 2,
      "face_latency_ns": 100, "twist": [1, 0]}, "pooled": true}},
    "workload": {"collective": {"op": "all_to_all", "algorithm": "torus", "bytes": 65536}}})",
          R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 4,
    "scale_up": {"gb_per_s": 50, "ring": {"reach": 2}}, "nic": {"ports": 2}, "rail": {"kind": "electrical"}},
    "collectives": {"all_reduce": "bucket"}, "jobs": [{"servers": [1], "start_us": 3,
      "workload": {"collective": {"op": "all_gather", "bytes": 4096, "repeat": 2}}},
      {"servers": [0], "workload": {"collective": {"op": "reduce_scatter", "bytes": 100000}}}]})"};
}

void run_goodput_text(std::string_view data, const fs::path& folder) {
  write(folder / "goodput.json", data);
  const auto scenario = goodput::parse_goodput(data, folder, "goodput.json", {}, Registries{});
  if (is_small(scenario)) act({"goodput", "goodput.json", "--seeds", "2", "--jobs", "1"}, folder);
}
std::vector<std::string> goodput_run_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.scenario/1", "name": "days", "cluster": {"servers": 4, "gpus_per_server": 1,
    "nic": {"ports": 2, "port_gb_per_s": 12.5}, "rail": {"kind": "optical", "planes": 2,
      "switch": {"reconfiguration_ms": 15}}}, "controller": {"name": "opus"},
    "placement": {"order": ["tp", "dp"]}, "workload": {"training": {"model": {"layers": 4, "hidden": 128, "ffn": 256,
      "heads": 2, "kv_heads": 2, "vocabulary": 256}, "sequence": 64, "global_batch": 4000, "parallelism": {"tp": 1, "dp": 4}}},
    "reliability": {"job": {"replicas": 4, "min_replicas": 3}, "spares": {"servers_per_rack": 4, "per_rack": 1},
    "days": 30, "seeds": 2, "failures": [
      {"name": "port", "of": "port", "mtbf_h": 2000, "degrade": "port", "detection_s": 10, "repair_h": 30},
      {"name": "plane", "of": "plane", "mtbf_h": 4000, "degrade": "plane", "detection_s": 10, "repair_h": 12},
      {"name": "slow", "of": "gpu", "mtbf_h": 800, "effect": "slow", "degrade": {"compute": 1.25}, "repair_h": 48},
      {"name": "gpu", "of": "gpu", "mtbf_h": 500, "detection_s": 30, "repair_h": 100}],
    "checkpoint": {"interval": "young", "stall_s": 10}, "recovery": [
      {"action": "restart", "name": "again", "rollback": "step", "sources": ["port", "plane"],
       "stages": [{"name": "links", "time_s": 1.1}]},
      {"action": "swap_in_rack", "stages": [{"name": "started", "time_s": 25}]},
      {"action": "drop_replica", "stages": [{"name": "groups", "time_s": 30}]},
      {"action": "wait", "stages": [{"name": "restart", "time_s": 300}]}]}})"};
}

void run_allocation(std::string_view data, const fs::path& folder) {
  write(folder / "study.json", data);
  if (!is_small(slices::read_study(folder / "study.json"))) return;
  fs::remove_all(folder / "slices");
  act({"allocate", "study.json", "--out", "slices"}, folder);
}
std::vector<std::string> allocation_run_seeds(const fs::path&) {
  const std::string head = R"({"schema": "photonrail.allocation/1", "name": "s", "why": "w", )";
  return {head + R"("pod": {"torus": [8, 8, 4], "block": 4, "server": [2, 2, 1]}, "policies": ["ocs_cubes", "firstfit"],
    "orders": ["fifo", "backfill", "srsf", "irs", "random"], "reconfiguration_s": 10, "failures": {"mean_between_days": 9,
    "mean_repair_h": 6, "checkpoint_s": 1800, "restart_s": 60}, "jobs": {"drawn": {"count": 30, "slices": "tpu_v4",
    "mean_interarrival_s": 621, "mean_duration_s": 4000}}, "run": {"seed": 1}})",
          head + R"("decisions": [{"id": "box", "dims": [8, 8], "block": 4, "policy": "reconfig", "job_shape": [4, 8],
    "idle": "f0f0f0f00f0f0f0f", "expect": {"decision": "admit", "shape": [4, 8]}}, {"id": "many", "dims": [4, 4, 4],
    "block": 4, "policy": "rfold", "job_shape": [8, 8, 1], "idle": "ffffffffffffffff"}]})"};
}

// What is announced to take longer is refused, so that what takes longer than announced is found.
void run_agents(std::string_view data, const fs::path& folder) {
  write(folder / "agents.json", data);
  act({"run", "agents.json", "--quiet", "--work-limit", "1s"}, folder);
}
std::vector<std::string> serving_run_seeds(const fs::path&) {
  const std::string cluster = R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 2,
    "gpu": {"preset": "h100", "compute_efficiency": 0.6}, "scale_up": {"gb_per_s": 450}, "nic": {"ports": 1},
    "rail": )";
  return {cluster + R"({"kind": "optical", "switch": {"reconfiguration_ms": 1}}}, "controller": {"name": "lru"},
    "workload": {"serving": {"model": "llama3_8b", "requests": {"arrivals": {"process": "poisson", "per_s": 20},
      "input": {"distribution": "log_normal", "median": 500, "sigma": 0.8, "most": 4096},
      "output": {"distribution": "log_normal", "median": 20, "sigma": 0.7, "most": 64}, "count": 20}, "warm_up": 2,
      "pools": [{"role": "prefill", "servers": [0, 1], "tp": 2}, {"role": "decode", "servers": [2, 3], "tp": 2}],
      "engine": {"token_budget": 2048, "max_sequences": 16}, "transfer": {"order": "fifo"},
      "slo": {"ttft_ms": 200, "tpot_ms": 15}}}, "run": {"seed": 1}})",
          cluster + R"({"kind": "electrical"}}, "workload": {"serving": {"model": "llama3_8b",
      "requests": {"arrivals": {"process": "gamma", "per_s": 50, "cv": 2}, "count": 15,
        "input": 300, "output": 12},
      "pools": [{"role": "mixed", "servers": [0, 1, 2], "tp": 1}]}}})"};
}
std::vector<std::string> rl_run_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 2,
    "gpu": {"preset": "h100", "compute_efficiency": 0.5}, "scale_up": {"gb_per_s": 450}, "nic": {"ports": 1},
    "rail": {"kind": "electrical"}}, "workload": {"rl": {"model": "llama3_8b",
      "prompts": {"count": 2, "responses": 2, "tokens": 50, "lengths": {"mean": 40, "sigma": 0.7, "most": 128}},
      "mode": "async", "steps": 2, "generation": {"engines": 2, "engine": {"ranks": 2, "tp": 2},
        "times": {"host": {"step_us": 500}}},
      "training": {"parallelism": {"tp": 2, "dp": 2}, "causal": true, "micro_batch_tokens": 4096},
      "tools": {"calls": 2, "call_s": {"distribution": "log_normal", "median": 2, "sigma": 0.8},
        "choices": [0.8, 0.2], "result_tokens": 10, "cache": "prefix_tree", "build_ms": 5, "fork_ms": 1,
        "sandboxes": 4, "look_up_us": 200}}}})"};
}

void run_rows(std::string_view data, const fs::path& folder) {
  write(folder / "rows.json", data);
  act({"calibrate", "--rows", "rows.json", "--work-limit", "1s"}, folder);
}
std::vector<std::string> rows_run_seeds(const fs::path&) {
  const std::string row = std::string(R"("group": "g", "note": "n", "measured_step_s": 0.01, "scenario": )") + kScenario;
  return {R"({"schema": "photonrail.rows/1", "name": "r", "source": "s", "rows": [{"name": "a", )" + row +
          R"(}, {"name": "b", )" + row + "}]}"};
}

}  // namespace photonrail::fuzz
