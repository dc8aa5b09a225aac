// The schema of a result. A result is written, not read, so that there is no reader to ask: this is what result_json.cpp
// writes, and a test holds results against it. Objects are open: a later version may write more keys.
#include "schema/schema_result.hpp"

namespace photonrail::schema {

namespace {

constexpr const char* kResultSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "photonrail.result/1",
  "type": "object",
  "required": ["schema", "name", "photonrail_version", "seed", "makespan_s", "iteration_s", "steady_iteration_s", "simulated",
    "infeasible", "per_rank_mean_s", "per_rank_spread_s", "communication", "reconfigurations", "quantiles_s", "windows_s",
    "folding", "warnings", "notes", "engine", "rank_classes"],
  "properties": {
    "schema": { "enum": ["photonrail.result/1"] },
    "name": { "type": "string" },
    "photonrail_version": { "type": "string" },
    "seed": { "type": "integer", "minimum": 0 },
    "seal": { "type": "string" },
    "makespan_s": { "$ref": "#/$defs/seconds" },
    "iteration_s": { "$ref": "#/$defs/list_of_seconds" },
    "steady_iteration_s": { "$ref": "#/$defs/number_or_null" },
    "spread": { "type": "object", "required": ["seeds", "unfinished", "min_s", "median_s", "max_s"],
      "properties": { "seeds": { "type": "integer", "minimum": 2 }, "unfinished": { "type": "integer", "minimum": 0 },
        "min_s": { "$ref": "#/$defs/seconds" }, "median_s": { "$ref": "#/$defs/seconds" }, "max_s": { "$ref": "#/$defs/seconds" } } },
    "simulated": { "type": "object" },
    "tokens_per_s": { "type": "number", "minimum": 0 },
    "mfu": { "type": "number", "minimum": 0 },
    "model_flops": { "type": "number", "minimum": 0 },
    "peak_memory_bytes": { "type": "number", "minimum": 0 },
    "stage_memory_bytes": { "type": "array", "items": { "type": "object", "additionalProperties": { "type": "number" } } },
    "infeasible": { "$ref": "#/$defs/text_or_null" },
    "per_rank_mean_s": { "$ref": "#/$defs/parts" },
    "per_rank_spread_s": { "type": "object", "required": ["compute", "exposed_communication", "reconfiguration_wait", "peer_wait"],
      "additionalProperties": { "type": "object", "required": ["least", "median", "most"], "additionalProperties": { "$ref": "#/$defs/seconds" } } },
    "communication": { "$ref": "#/$defs/communication" },
    "reconfigurations": { "$ref": "#/$defs/reconfigurations" },
    "utilisation": { "type": "object", "additionalProperties": { "type": "number", "minimum": 0 } },
    "quantiles_s": { "type": "object", "required": ["probabilities", "operation", "circuit_wait"],
      "properties": { "probabilities": { "type": "array", "items": { "type": "number", "minimum": 0, "maximum": 1 } },
        "operation": { "$ref": "#/$defs/quantiles" }, "circuit_wait": { "$ref": "#/$defs/quantiles" } } },
    "windows_s": { "type": "object", "additionalProperties": { "type": "array", "items": { "type": "number" } } },
    "windows_count": { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } },
    "cost": { "type": "object", "required": ["catalogue", "rule", "fabric", "usd", "power_w", "bill"],
      "properties": { "catalogue": { "type": "string" }, "rule": { "type": "string" }, "fabric": { "type": "string" },
        "usd": { "type": "number", "minimum": 0 }, "power_w": { "type": "number", "minimum": 0 },
        "network_energy_per_step_j": { "type": "number", "minimum": 0 },
        "gpu_energy_per_step_j": { "$ref": "#/$defs/number_or_null" }, "energy_per_step_j": { "$ref": "#/$defs/number_or_null" },
        "bill": { "type": "array", "items": { "type": "object", "required": ["item", "count", "usd", "power_w"] } } } },
    "folding": { "type": "object", "required": ["ranks", "classes"],
      "properties": { "ranks": { "type": "integer", "minimum": 0 }, "classes": { "type": "integer", "minimum": 0 }, "off": { "type": "string" } } },
    "warnings": { "$ref": "#/$defs/lines" },
    "notes": { "type": "array", "items": { "type": "object", "required": ["id", "key", "text", "value"],
      "properties": { "id": { "type": "string" }, "key": { "type": "string" }, "text": { "type": "string" },
        "value": { "type": "number" } } } },
    "critical_path": { "type": "object", "required": ["parts"],
      "properties": { "parts": { "type": "array", "items": { "type": "object", "required": ["part", "time_s", "share", "stretches"],
          "properties": { "part": { "type": "string" }, "time_s": { "$ref": "#/$defs/seconds" },
            "share": { "type": "number", "minimum": 0, "maximum": 1 }, "stretches": { "type": "integer", "minimum": 1 },
            "dimension": { "type": "string" }, "place": { "type": "string" } } } },
        "busiest": { "type": "object", "required": ["name", "place", "utilisation", "time_s"] } } },
    "choices": { "$ref": "#/$defs/lines" },
    "network": { "type": "object", "additionalProperties": { "type": "number", "minimum": 0 } },
    "engine": { "type": "object", "required": ["events", "sends", "wall_s", "peak_rss_mb"],
      "properties": { "events": { "type": "integer", "minimum": 0 }, "sends": { "type": "integer", "minimum": 0 },
        "wall_s": { "type": "number", "minimum": 0 }, "peak_rss_mb": { "type": "number", "minimum": 0 } } },
    "jobs": { "type": "array", "items": { "type": "object",
      "required": ["name", "start_s", "makespan_s", "simulated", "iteration_s", "per_rank_mean_s", "communication", "reconfigurations"],
      "properties": { "name": { "type": "string" }, "start_s": { "$ref": "#/$defs/seconds" }, "makespan_s": { "$ref": "#/$defs/seconds" },
        "alone_s": { "$ref": "#/$defs/seconds" }, "slowdown": { "type": "number", "minimum": 0 },
        "iteration_s": { "$ref": "#/$defs/list_of_seconds" }, "per_rank_mean_s": { "$ref": "#/$defs/parts" },
        "communication": { "$ref": "#/$defs/communication" }, "reconfigurations": { "$ref": "#/$defs/reconfigurations" } } } },
    "operators": { "type": "object" },
    "rank_classes": { "type": "array", "items": { "type": "object",
      "required": ["ranks", "count", "compute", "exposed_communication", "reconfiguration_wait", "peer_wait"],
      "properties": { "ranks": { "type": "string" }, "count": { "type": "integer", "minimum": 1 } },
      "additionalProperties": { "$ref": "#/$defs/seconds" } } },
    "plugins": { "type": "array", "items": { "type": "object", "required": ["file", "hash"],
      "properties": { "file": { "type": "string" }, "hash": { "type": "string" } } } }
  },
  "$defs": {
    "seconds": { "type": "number", "minimum": 0 },
    "list_of_seconds": { "type": "array", "items": { "$ref": "#/$defs/seconds" } },
    "lines": { "type": "array", "items": { "type": "string" } },
    "number_or_null": { "anyOf": [{ "type": "number" }, { "enum": [null] }] },
    "text_or_null": { "anyOf": [{ "type": "string" }, { "enum": [null] }] },
    "parts": { "type": "object", "required": ["compute", "exposed_communication", "reconfiguration_wait", "peer_wait"],
      "additionalProperties": { "$ref": "#/$defs/seconds" } },
    "quantiles": { "type": "object", "additionalProperties": { "type": "object", "required": ["count", "quantiles"],
      "properties": { "count": { "type": "integer", "minimum": 0 }, "quantiles": { "$ref": "#/$defs/list_of_seconds" } } } },
    "communication": { "type": "object", "additionalProperties": { "type": "object",
      "required": ["bytes", "operations", "busy_s", "exposed_s", "reconfiguration_wait_s", "commands"],
      "additionalProperties": { "type": "number", "minimum": 0 } } },
    "reconfigurations": { "type": "object",
      "required": ["count", "per_rail", "dark_port_s", "critical_path", "total_s", "exposed_s", "hidden_share", "circuits", "by_change"],
      "properties": { "count": { "type": "integer", "minimum": 0 }, "per_rail": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
        "dark_port_s": { "$ref": "#/$defs/seconds" }, "critical_path": { "type": "integer", "minimum": 0 },
        "total_s": { "$ref": "#/$defs/seconds" }, "exposed_s": { "$ref": "#/$defs/seconds" },
        "hidden_share": { "$ref": "#/$defs/number_or_null" }, "circuits": { "type": "integer", "minimum": 0 },
        "circuits_per_command": { "$ref": "#/$defs/number_or_null" },
        "blocking": { "type": "object", "required": ["waited", "displaced", "cells", "loss_db"],
          "additionalProperties": { "type": "number", "minimum": 0 } },
        "by_change": { "type": "array", "items": { "type": "object", "required": ["before", "after", "count", "circuits", "total_s", "exposed_s"] } } } }
  }
}
)json";

}  // namespace

const char* result_schema() { return kResultSchema; }

}  // namespace photonrail::schema
