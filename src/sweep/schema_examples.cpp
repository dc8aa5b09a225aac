#include "sweep/schema_examples.hpp"

namespace photonrail::sweep {

namespace {

constexpr const char* kScenarios[] = {
    R"json({ "schema": "photonrail.scenario/1", "name": "collective on optical rails",
  "cluster": { "servers": 4, "gpus_per_server": 1, "gpu": { "preset": "h200" }, "scale_up": {}, "nic": {},
    "rail": { "kind": "optical", "switch": { "reconfiguration_ms": 1 },
      "faults": [ { "kind": "failed" }, { "kind": "slow", "rate": 0.5 } ],
      "pods": { "servers": 2, "joined_by": "electrical" } } },
  "controller": { "name": "opus" }, "executor": {}, "collectives": {}, "run": {}, "cost": {},
  "workload": { "collective": { "op": "all_reduce", "bytes": 1000 } } })json",
    R"json({ "schema": "photonrail.scenario/1",
  "cluster": { "servers": 4, "gpus_per_server": 1, "gpu": { "peak_tflops": 1, "memory_gb_per_s": 1 },
    "rail": { "kind": "electrical" } },
  "placement": { "rank_to_gpu": [0, 1, 2, 3] },
  "stragglers": [{ "ranks": [0], "delay_us": 1 }, { "ranks": [0], "at_ms": 1, "stops": true, "lasts_ms": 2, "detection_ms": 1 }],
  "server_faults": [{ "server": 0, "at_ms": 1, "lasts_ms": 2, "detection_ms": 1 }],
  "workload": { "collective": { "op": "reduce", "root": 1, "bytes": 1000 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1 },
  "placement": { "order": ["a", "b"], "sizes": { "a": 2, "b": 2 }, "rank_order": ["a", "b"] },
  "workload": { "collective": { "op": "barrier" }, "checkpoint": { "to": "peer", "bytes_per_rank": 1 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1 },
  "workload": { "collective": { "op": "barrier", "ranks": 3 },
    "checkpoint": { "to": "storage", "mode": "asynchronous", "bytes_per_rank": 1 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1 },
  "workload": { "collective": { "op": "barrier" },
    "checkpoint": { "to": "own_network", "gb_per_s": 1, "bytes_per_rank": 1 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1 },
  "workload": { "collective": { "op": "all_to_all", "demand": [[0, 1], [1, 0]] } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 1, "gpus_per_server": 4,
    "scale_up": { "torus": { "sides": [2, 2], "wrap": [true, false], "cube": 2, "face_latency_ns": 1 }, "pooled": true,
      "faults": [{ "gpu": 0, "to": 1, "server": 0, "rate": 0.5, "at_ms": 1, "lasts_ms": 1 }, { "switch": { "dimension": 0, "at": [0] } }] } },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1000 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1, "gpu": "h100",
    "unlike_gpus": [{ "servers": [1], "gpu": { "preset": "a100" } }] },
  "workload": { "training": { "model": "llama3_8b", "sequence": 1024, "global_batch": 2, "parallelism": { "dp": 2 },
    "operators": { "times": "roofline", "unlike": { "a100": { "precision": "bf16", "host": {} } } } } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 1, "gpus_per_server": 4,
    "scale_up": { "ring": { "reach": 2, "bypassed": [3] } } },
  "placement": { "rank_to_gpu": [0, 1, 2] }, "workload": { "collective": { "op": "all_reduce", "bytes": 1000 } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1 },
  "workload": { "collective": { "op": "all_to_all",
    "moe": { "experts": 4, "top_k": 1, "tokens": 8, "hidden": 8, "router": { "kind": "zipf" } } } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1, "gpu": "h200" },
  "workload": { "moe_layer": { "experts": 4, "top_k": 1, "tokens": 8, "hidden": 8, "ffn": 8, "execution": "bulk" } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1, "gpu": "h200" },
  "placement": { "order": ["dp"] },
  "workload": { "training": { "model": { "layers": 2, "hidden": 64, "ffn": 64, "heads": 4, "kv_heads": 4, "vocabulary": 64 },
    "parallelism": { "dp": 2 }, "sequence": 64, "global_batch": 2 }, "checkpoint": { "to": "peer" } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1, "gpu": "h200" },
  "workload": { "training": { "model": { "layers": 2, "hidden": 64, "ffn": 64, "heads": 4, "vocabulary": 64,
      "latent_attention": { "kv_rank": 8, "nope_head": 8, "rope_head": 8, "value_head": 8 },
      "moe": { "experts": 4, "top_k": 1 } },
    "parallelism": { "dp": 2, "fsdp": true }, "sequence": 64, "global_batch": 2, "fsdp": {}, "gradients": {} } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1 },
  "workload": { "graph": { "schema": "photonrail.graph/1", "ranks": 2,
    "communicators": { "all": { "ranks": "all" } },
    "tasks": [ { "rank": "all", "collective": "all_reduce", "communicator": "all", "bytes": 1 },
      { "rank": 0, "compute_us": 1 }, { "rank": [0], "flops": 1 }, { "rank": 0, "send_to": 1, "bytes": 1 },
      { "rank": 1, "receive_from": 0, "bytes": 1 } ] } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1, "gpu": "h200" },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1000 } },
  "reliability": { "job": { "replicas": 4, "min_replicas": 2 }, "days": 1, "seeds": 1,
    "spares": { "servers_per_rack": 2, "per_rack": 1 },
    "failures": [ { "of": "gpu", "mtbf_h": 1, "repair_h": 1 },
      { "of": "nic", "per_1000_server_days": 1, "effect": "slow", "degrade": { "compute": 2 },
        "repair_d": { "distribution": "log_normal", "mean": 1, "sigma": 1 } } ],
    "checkpoint": { "interval": "daly", "stall_s": 1 },
    "recovery": [ { "action": "drop_replica", "stages": [ { "name": "a", "time_s": 1 } ],
        "rejoin": [ { "name": "b", "time_s": 1 } ] },
      { "action": "wait", "stages": [ { "name": "c", "time_s": { "distribution": "exponential", "mean": 1 } } ] } ] } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1 },
  "workload": { "chakra": { "prefix": "traces/t" } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 2, "gpus_per_server": 1 },
  "workload": { "kineto": { "files": "traces/*.json" } } })json",
    R"json({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": 1 },
  "jobs": [ { "servers": [0, 1], "workload": { "collective": { "op": "all_reduce", "bytes": 1 } } },
    { "servers": [2, 3], "workload": { "collective": { "op": "all_reduce", "bytes": 1 } } } ] })json",
};

constexpr const char* kSweeps[] = {
    R"json({ "schema": "photonrail.sweep/1", "base": {}, "seeds": [1], "repetitions": 1,
  "axes": [ { "pointer": "/cluster/servers", "values": [1, 2] },
    { "pointer": "/cluster/gpus_per_server", "values": [1], "when": { "servers": 1 } } ],
  "exclude": [ { "servers": 1 } ] })json",
    R"json({ "schema": "photonrail.sweep/1", "base": { "cluster": { "servers": 1 } },
  "axes": [ { "pointer": "/a", "range": { "from": 1, "to": 2, "step": 1 } },
    { "pointer": "/b", "range": { "from": 1, "to": 2, "points": 2 } },
    { "pointer": "/c", "log_range": { "from": 1, "to": 2, "points": 2 } } ],
  "derived": [ { "pointer": "/d", "product": ["/cluster/servers", 2], "divided_by": [1] } ] })json",
    R"json({ "schema": "photonrail.sweep/1", "base": {},
  "axes": [ { "zip": { "/a": [1, 2], "/b": { "range": { "from": 1, "to": 2, "step": 1 } } } },
    { "name": "kind", "variants": { "one": { "/c": 1 }, "two": { "/c": 2 } } } ] })json",
};

constexpr const char* kGraphs[] = {
    R"json({ "schema": "photonrail.graph/1", "ranks": 2,
  "communicators": { "all": { "ranks": "all" }, "row": { "ranks": [0, 1] } },
  "tasks": [ { "rank": "all", "collective": "all_reduce", "communicator": "all", "bytes": 1 },
    { "rank": 0, "id": "a", "compute_us": 1 }, { "rank": [0], "flops": 1 }, { "rank": 0, "send_to": 1, "bytes": 1 },
    { "rank": 1, "receive_from": 0, "bytes": 1 },
    { "rank": "all", "collective": "all_to_all", "communicator": "row", "demand": [[0, 1], [1, 0]] } ] })json",
};

constexpr const char* kModels[] = {
    R"json({ "schema": "photonrail.model/1",
  "layers": 2, "hidden": 64, "ffn": 64, "heads": 4, "kv_heads": 4, "vocabulary": 64 })json",
    R"json({ "schema": "photonrail.model/1", "layers": 2, "hidden": 64, "ffn": 64, "heads": 4, "vocabulary": 64,
  "latent_attention": { "kv_rank": 8, "nope_head": 8, "rope_head": 8, "value_head": 8 },
  "moe": { "experts": 4, "top_k": 1 } })json",
};

constexpr const char* kCatalogues[] = {
    R"json({ "schema": "photonrail.catalogue/1", "port_gb_per_s": 50, "gpus_per_server": 8,
  "electrical_switch": { "name": "a", "ports": 64, "usd": 1, "watts": 1, "source": "b" },
  "optical_switch": { "name": "a", "ports": 64, "usd": 1, "watts": 1, "source": "b" },
  "transceiver": { "name": "a", "usd": 1, "watts": 1, "source": "b" },
  "fibre_pair": { "name": "a", "usd": 1, "watts": 1, "source": "b" } })json",
};

}  // namespace

std::span<const char* const> scenario_examples() { return kScenarios; }
std::span<const char* const> sweep_examples() { return kSweeps; }
std::span<const char* const> graph_examples() { return kGraphs; }
std::span<const char* const> model_examples() { return kModels; }
std::span<const char* const> catalogue_examples() { return kCatalogues; }

}  // namespace photonrail::sweep
