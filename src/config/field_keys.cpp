#include "config/field_keys.hpp"

#include "config/allocation/parts.hpp"
#include "config/reliability_parts.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "photonrail/config.hpp"

#include <filesystem>
#include <new>

namespace photonrail {

namespace config {

std::span<const FieldKey> scenario_keys() {
  static constexpr FieldKey kKeys[] = {
      {"graph", "workload"},
      {"jobs", "jobs"},
      {"jobs[]", "jobs/[]"},
      {"jobs[].name", "jobs/[]/name"},
      {"jobs[].jobs", "jobs/[]/jobs"},
      {"jobs[].cluster", "jobs/[]/cluster"},
      {"jobs[].start", "jobs/[]/start", "s"},
      {"run.network_accuracy", "network/accuracy"},
  };
  return kKeys;
}

namespace {

constexpr FieldKey kClusterKeys[] = {
    {"servers", "servers"},
    {"gpus_per_server", "gpus_per_server"},
    {"gpu.peak_tflops", "gpu/peak_tflops"},
    {"gpu.memory_gb_per_s", "gpu/memory_gb_per_s"},
    {"gpu.memory_gb", "gpu/memory_gb"},
    {"gpu.compute_efficiency", "gpu/compute_efficiency"},
    {"scale_up.per_gpu", "scale_up/gb_per_s"},
    {"scale_up.latency", "scale_up/latency", "ns"},
    {"scale_up.face_latency", "scale_up/torus/face_latency", "ns"},
    {"scale_up.shape", "scale_up"},
    {"scale_up.shape.sides", "scale_up/torus/sides"},
    {"scale_up.shape.wraps", "scale_up/torus/wrap"},
    {"scale_up.shape.twisted", "scale_up/torus/twisted"},
    {"scale_up.shape.block", "scale_up/torus/cube"},
    {"scale_up.shape.rail_rings", "scale_up/torus/rail_rings"},
    {"scale_up.faults", "scale_up/faults"},
    {"scale_up.faults[].server", "scale_up/faults/[]/server"},
    {"scale_up.faults[].gpu", "scale_up/faults/[]/gpu"},
    {"scale_up.faults[].to", "scale_up/faults/[]/to"},
    {"scale_up.faults[].dimension", "scale_up/faults/[]/switch"},
    {"scale_up.faults[].position", "scale_up/faults/[]/switch"},
    {"scale_up.faults[].rate", "scale_up/faults/[]/rate"},
    {"scale_up.faults[].at", "scale_up/faults/[]/at", "ms"},
    {"scale_up.faults[].lasts", "scale_up/faults/[]/lasts", "ms"},
    {"scale_up.shape.reach", "scale_up/ring/reach"},
    {"scale_up.shape.bypassed", "scale_up/ring/bypassed"},
    {"scale_up.lines", "scale_up/curve"},
    {"scale_up.lines[].step", "scale_up/curve/[]/step", "us"},
    {"scale_up.lines[].rate", "scale_up/curve/[]/gb_per_s"},
    {"unlike[].servers", "unlike_gpus/[]/servers"},
    {"unlike[].gpus", "unlike_gpus/[]/gpus"},
    {"unlike[].speed", "unlike_gpus/[]/speed"},
    {"unlike[].memory_gb", "unlike_gpus/[]/memory_gb"},
    {"unlike[].gpu", "unlike_gpus/[]/gpu"},
    {"unlike[].gpu.peak_tflops", "unlike_gpus/[]/gpu/peak_tflops"},
    {"unlike[].gpu.memory_gb_per_s", "unlike_gpus/[]/gpu/memory_gb_per_s"},
    {"unlike[].gpu.memory_gb", "unlike_gpus/[]/gpu/memory_gb"},
    {"unlike[].gpu.compute_efficiency", "unlike_gpus/[]/gpu/compute_efficiency"},
    {"nic.gpus", "nic/gpus"},
    {"nic.ports", "nic/ports"},
    {"nic.per_port", "nic/port_gb_per_s"},
    {"nic.latency", "nic/latency", "ns"},
    {"nic.message_overhead", "nic/message_overhead", "ns"},
    {"nic.optical_budget_db", "nic/optical_budget_db"},
    {"rail.kind", "rail/kind"},
    {"rail.switch_radix", "rail/radix"},
    {"rail.oversubscription", "rail/oversubscription"},
    {"rail.tier_latency", "rail/tier_latency", "ns"},
    {"rail.optical.ports", "rail/switch/ports"},
    {"rail.optical.reconfiguration", "rail/switch/reconfiguration", "ms"},
    {"rail.optical.settle", "rail/switch/settle", "ms"},
    {"rail.optical.link_up", "rail/switch/link_up", "ms"},
    {"rail.optical.batching", "rail/switch/batching", "us"},
    {"rail.optical.command_gap", "rail/switch/commands_per_s"},
    {"rail.optical.insertion_loss_db", "rail/switch/insertion_loss_db"},
    {"rail.optical.pip", "rail/switch/pip"},
    {"rail.optical.pip.rows", "rail/switch/pip/rows"},
    {"rail.optical.pip.columns", "rail/switch/pip/columns"},
    {"rail.optical.pip.cell_loss_db", "rail/switch/pip/cell_loss_db"},
    {"rail.optical.pip.port_loss_db", "rail/switch/pip/port_loss_db"},
    {"rail.optical.pip.crosstalk_db", "rail/switch/pip/crosstalk_db"},
    {"rail.optical.power_w", "rail/switch/power_w"},
    {"rail.optical.usd_per_port", "rail/switch/usd_per_port"},
    {"rail.planes", "rail/planes"},
    {"rail.pods", "rail/pods"},
    {"rail.forwarding", "rail/forwarding"},
    {"rail.pods.servers", "rail/pods/servers"},
    {"rail.pods.oversubscription", "rail/pods/oversubscription"},
    {"rail.pods.latency", "rail/pods/latency", "ns"},
    {"rail.faults[].kind", "rail/faults/[]/kind"},
    {"rail.faults[].rate", "rail/faults/[]/rate"},
    {"rail.faults[].rail", "rail/faults/[]/rail"},
    {"rail.faults[].server", "rail/faults/[]/server"},
    {"rail.faults[].port", "rail/faults/[]/port"},
    {"rail.faults[].plane", "rail/faults/[]/plane"},
    {"rail.faults[].detection", "rail/faults/[]/detection", "ms"},
    {"rail.faults[].at", "rail/faults/[]/at", "ms"},
    {"rail.faults[].lasts", "rail/faults/[]/lasts", "ms"},
};

}  // namespace

std::span<const FieldKey> cluster_keys() { return kClusterKeys; }

// The prices are those of a catalogue, which is read from a file of its own.
std::span<const FieldKey> cost_keys() {
  static constexpr FieldKey kKeys[] = {{"catalogue.spare_share", "spare_share"}, {"catalogue.*", "catalogue"}};
  return kKeys;
}

std::span<const FieldKey> run_keys() {
  static constexpr FieldKey kKeys[] = {{"iterations", "iterations"}};
  return kKeys;
}

std::span<const FieldKey> controller_keys() {
  static constexpr FieldKey kKeys[] = {
      {"name", "name"},
      {"request", "request", "us"},
      {"service", "service", "us"},
      {"command", "command", "us"},
      {"acknowledgement", "acknowledgement", "us"},
      {"starvation", "starvation", "ms"},
      {"circuits[]", "circuits/[]"},
      {"circuits[].from", "circuits/[]/from"},
      {"circuits[].from_port", "circuits/[]/from_port"},
      {"circuits[].to", "circuits/[]/to"},
      {"circuits[].to_port", "circuits/[]/to_port"},
      {"control.root_request", "root_request", "us"},
      {"control.root_service", "root_service", "us"},
      {"control.messages.loss", "messages/loss"},
      {"control.messages.timeout", "messages/timeout", "us"},
      {"control.messages.delay", "messages/delay", "us"},
      {"control.restarts[].at", "restarts/[]/at", "ms"},
      {"control.restarts[].down", "restarts/[]/down", "ms"},
      {"control.restarts[].rail", "restarts/[]/rail"},
      {"control.shims[].request", "shims/[]/request", "us"},
      {"control.shims[].ranks[]", "shims/[]/ranks/[]"},
      {"parameters.slot", "slot", "us"},
      {"parameters.*", "*"},
  };
  return kKeys;
}

std::span<const FieldKey> executor_keys() {
  static constexpr FieldKey kKeys[] = {{"buffered_send", "buffered_send_bytes"}, {"sm_share", "sm_share"}};
  return kKeys;
}

std::span<const FieldKey> collectives_keys() {
  static constexpr FieldKey kKeys[] = {{"algorithm.*", "*"}, {"chunks", "chunks"}, {"straggler_rank", "straggler"}};
  return kKeys;
}

std::span<const FieldKey> stragglers_keys() {
  static constexpr FieldKey kKeys[] = {{"[].ranks[]", "[]/ranks/[]"},
                                       {"[].slowdown", "[]/slowdown"},
                                       {"[].delay", "[]/delay", "us"},
                                       {"[].detection", "[]/detection", "ms"},
                                       {"[].at", "[]/at", "ms"}};
  return kKeys;
}

std::span<const FieldKey> workload_keys() {
  static constexpr FieldKey kKeys[] = {
      {"", ""},
      {"checkpoint.bytes", "checkpoint/bytes_per_rank"},
      {"checkpoint.over_steps", "checkpoint/over_steps"},
      {"checkpoint.distance", "checkpoint/distance"},
      {"checkpoint.servers", "checkpoint/servers"},
      {"checkpoint.own_rate", "checkpoint/gb_per_s"},
      {"checkpoint.own_latency", "checkpoint/latency", "us"},
  };
  return kKeys;
}

std::span<const FieldKey> placement_keys() {
  static constexpr FieldKey kKeys[] = {{"", ""}, {"[]", "rank_to_gpu/[]"}};
  return kKeys;
}

namespace {

constexpr FieldKey kTrainingKeys[] = {
    {"model", "model"},
    {"model.layers", "model/layers"},
    {"model.hidden", "model/hidden"},
    {"model.ffn", "model/ffn"},
    {"model.heads", "model/heads"},
    {"model.kv_heads", "model/kv_heads"},
    {"model.vocabulary", "model/vocabulary"},
    {"model.moe.experts", "model/moe/experts"},
    {"model.moe.top_k", "model/moe/top_k"},
    {"model.moe.every", "model/moe/every"},
    {"model.moe.dense_layers", "model/moe/dense_layers"},
    {"parallelism", "parallelism"},
    {"parallelism.tp", "parallelism/tp"},
    {"parallelism.cp", "parallelism/cp"},
    {"parallelism.pp", "parallelism/pp"},
    {"parallelism.dp", "parallelism/dp"},
    {"parallelism.ep", "parallelism/ep"},
    {"parallelism.etp", "parallelism/etp"},
    {"parallelism.virtual_stages", "parallelism/virtual_stages"},
    {"parallelism.dp_replicate", "parallelism/dp_replicate"},
    {"parallelism.fsdp", "parallelism/fsdp"},
    {"parallelism.zero1", "parallelism/zero1"},
    {"pipeline.stages", "parallelism/pp"},
    {"pipeline.chunks", "parallelism/virtual_stages"},
    {"pipeline.micro_batches", "global_batch"},
    {"sequence", "sequence"},
    {"global_batch", "global_batch"},
    {"micro_batch", "micro_batch"},
    {"parameter_bytes", "precision/parameters"},
    {"gradient_bytes", "precision/gradients"},
    {"sequence_parallel", "sequence_parallel"},
    {"overlap_parameters", "gradients/overlap_parameters"},
    {"bucket", "gradients/bucket_mb"},
    {"overlap.tensor", "overlap/tensor"},
    {"stage_layers", "stage_layers"},
    {"ends_count_as_layers", "ends_count_as_layers"},
    {"pipeline.paired", "overlap/experts"},
    {"one_copy_per_rank", "dispatch"},
    {"gathers_routing", "dispatch"},
    {"operators.factor", "operators/factor"},
    {"operators.mixed.products", "operators/precision_of"},
    {"operators.mixed.last_layers", "operators/bf16_layers"},
    {"operators_of_ranks", "operators/unlike"},
    {"operators.ranks_a_copy", "operators/ranks_a_copy"},
    {"operators.attention.dropout", "operators/attention"},
    {"model.window_every", "model/window_every"},
    {"model.predicted_tokens", "model/predicted_tokens"},
    {"model.mamba", "model/mamba"},
    {"model.mamba.heads", "model/mamba/heads"},
    {"model.mamba.head_dim", "model/mamba/head_dim"},
    {"model.mamba.state", "model/mamba/state"},
    {"model.mamba.groups", "model/mamba/groups"},
    {"model.mamba.chunk", "model/mamba/chunk"},
    {"model.pattern", "model/pattern"},
    // The traffic of experts takes these from the model and the batch.
    {"moe.experts", "model/moe/experts"},
    {"moe.top_k", "model/moe/top_k"},
    {"moe.tokens", "micro_batch"},
    {"moe", "moe", {}, moe_keys},
};

}  // namespace

std::span<const FieldKey> training_keys() { return kTrainingKeys; }

std::span<const FieldKey> moe_keys() {
  static constexpr FieldKey kKeys[] = {
      {"", ""},
      {"experts", "experts"},
      {"top_k", "top_k"},
      {"tokens", "tokens"},
      {"router.weights", "router/weights"},
      {"router.weights[]", "router/weights/[]"},
      {"router.exponent", "router/exponent"},
      {"router.concentration", "router/concentration"},
      {"router.layer_drift", "router/layer_drift"},
      {"router.iteration_drift", "router/iteration_drift"},
      {"router.source_spread", "router/source_spread"},
      {"capacity_factor", "capacity_factor"},
      {"padded", "padded"},
  };
  return kKeys;
}

std::span<const FieldKey> moe_layer_keys() {
  static constexpr FieldKey kKeys[] = {
      {"", ""},
      {"traffic", "", {}, moe_keys},
      {"ffn", "ffn"},
      {"tile_rows", "tile_rows"},
      {"tile_columns", "tile_columns"},
      {"processors", "processors"},
      {"fence", "fence", "us"},
  };
  return kKeys;
}

ConfigError below(const std::string& pointer, const ConfigError& e) {
  if (e.where().starts_with('/')) return ConfigError(pointer + e.where(), e.problem(), e.hint());
  return e.inside(pointer);
}

}  // namespace config

namespace {

// A job of several has the sections of a scenario that is one job.
void add_job(json::FieldPlaces& places, const std::string& field, const std::string& pointer) {
  places.add(field + "controller", pointer + "/controller", nullptr, config::controller_keys());
  places.add(field + "executor", pointer + "/executor", nullptr, config::executor_keys());
  places.add(field + "collectives", pointer + "/collectives", nullptr, config::collectives_keys());
  places.add(field + "stragglers", pointer + "/stragglers", nullptr, config::stragglers_keys());
  places.add(field + "gpu_of_rank", pointer + "/placement", nullptr, config::placement_keys());
  places.add(field + "graph", pointer + "/workload", nullptr, config::workload_keys());
}

}  // namespace

std::string file_words(const std::exception& error) {
  if (const auto* const of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return ConfigError(of_file->path1().string(), of_file->code().message(), "check the path").what();
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const auto* const of_field = dynamic_cast<const core::FieldError*>(&error);
  if (of_field == nullptr) return error.what();
  json::FieldPlaces places;
  places.add("cluster", "/cluster", nullptr, config::cluster_keys());
  places.add("pricing", "/cost", nullptr, config::cost_keys());
  places.add("run", "/run", nullptr, config::run_keys());
  places.add("reliability", "/reliability", nullptr, config::reliability_keys());
  add_job(places, "", "");
  const core::Field& field = of_field->field();
  if (field.pattern.starts_with("jobs[].") && !field.indices.empty()) {
    core::Field of_job{field.pattern.substr(7), {field.indices.begin() + 1, field.indices.end()}};
    json::FieldPlaces places_of_job;
    add_job(places_of_job, "", "/jobs/" + std::to_string(field.indices.front()));
    if (auto pointer = places_of_job.pointer(of_job))
      return ConfigError(*std::move(pointer), of_field->problem(), of_field->hint()).what();
  }
  places.add("", "", nullptr, config::scenario_keys());
  places.add("", "", nullptr, formats::synthesis::topology_keys());
  places.add("sketch", "", nullptr, formats::synthesis::sketch_keys());
  places.add("", "", nullptr, config::allocation_keys());
  return places.located(*of_field).what();
}

}  // namespace photonrail
