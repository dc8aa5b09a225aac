// A scenario as a CCL-Bench workload card.
#include "config/gzip.hpp"
#include "config/scenario_parts.hpp"
#include "photonrail/config.hpp"
#include "photonrail/training.hpp"
#include "photonrail/version.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace photonrail {

namespace {

using config::Json;
using YAML::BeginMap;
using YAML::EndMap;
using YAML::Key;
using YAML::Value;

struct Plan {
  std::uint64_t dp_replicate = 1, dp_shard = 1, tp = 1, pp = 1, cp = 1, ep = 1, pp_mb = 1;
};

// Of a training workload, what its section says.
Plan plan_of(const Json& training) {
  const Json parallelism = training.value("parallelism", Json::object());
  const auto size = [&](const char* key) { return parallelism.value(key, std::uint64_t{1}); };
  Plan plan;
  const bool sharded = parallelism.value("fsdp", false);
  (sharded ? plan.dp_shard : plan.dp_replicate) = size("dp");
  plan.tp = size("tp");
  plan.pp = size("pp");
  plan.cp = size("cp");
  plan.ep = size("ep");
  plan.pp_mb = training.value("micro_batch", std::uint64_t{1});
  return plan;
}

// Of any other, what its groups show: the largest of each dimension; pipeline stages are what is left of the ranks.
Plan plan_of(const TaskGraph& graph) {
  std::array<std::uint64_t, kDimensionCount> largest;
  largest.fill(1);
  for (const Communicator& c : graph.communicators()) {
    if (c.point_to_point) continue;
    std::uint64_t& size = largest[static_cast<std::size_t>(c.dimension)];
    size = std::max<std::uint64_t>(size, c.members.size());
  }
  const auto size = [&](Dimension d) { return largest[static_cast<std::size_t>(d)]; };
  Plan plan;
  plan.dp_replicate = size(Dimension::kDp);
  plan.tp = size(Dimension::kTp);
  plan.cp = size(Dimension::kCp);
  plan.ep = size(Dimension::kEp);
  const std::uint64_t product = plan.dp_replicate * plan.tp * plan.cp;
  if (graph.ranks() % product == 0) plan.pp = graph.ranks() / product;
  return plan;
}

// The dimensions of the model, where the workload has one.
std::optional<ModelSpec> model_of(const Json& training) {
  const auto found = training.find("model");
  if (found == training.end()) return std::nullopt;
  if (found->is_string()) return model_preset(found->get<std::string>());
  const Json& given = *found;
  ModelSpec spec;
  if (given.contains("preset")) spec = model_preset(given["preset"].get<std::string>());
  spec.name = given.value("preset", std::string("custom"));
  const auto read = [&](const char* key, std::uint32_t& into) { into = given.value(key, into); };
  read("layers", spec.layers);
  read("hidden", spec.hidden);
  read("ffn", spec.ffn);
  read("heads", spec.heads);
  read("kv_heads", spec.kv_heads);
  read("vocabulary", spec.vocabulary);
  return spec;
}

template <class T>
void put(YAML::Emitter& out, const char* key, const T& value) {
  out << Key << key << Value << value;
}

void put_model(YAML::Emitter& out, const Json& training, std::uint32_t iterations) {
  const std::optional<ModelSpec> model = model_of(training);
  out << Key << "model" << Value << BeginMap;
  put(out, "phase", "training");
  put(out, "moe", false);
  put(out, "granularity", "model_fwd_bwd_pass");
  put(out, "model_family", model ? model->name : std::string("unknown"));
  put(out, "precision", training.value("precision", Json::object()).value("parameters", std::string("bf16")));
  put(out, "epochs", 1);
  put(out, "iteration", iterations);
  if (model) {
    out << Key << "model_arch" << Value << BeginMap;
    put(out, "num_params", std::llround(model->parameters()));
    put(out, "num_params_embedding", std::uint64_t{model->vocabulary} * model->hidden);
    put(out, "num_layers", model->layers);
    put(out, "num_heads", model->heads);
    put(out, "head_dim", model->hidden / model->heads);
    put(out, "hidden_size", model->hidden);
    put(out, "intermediate_size", model->ffn);
    put(out, "num_key_value_heads", model->kv_heads);
    put(out, "vocab_size", model->vocabulary);
    out << EndMap;
  }
  out << EndMap;
}

void put_hardware(YAML::Emitter& out, const ClusterSpec& cluster, std::size_t ranks) {
  constexpr double kBits = 8.0;  // GB/s to Gbit/s
  out << Key << "hardware" << Value << BeginMap;
  out << Key << "network_topo" << Value << BeginMap;
  put(out, "topology", cluster.rail.kind == RailKind::kOptical ? "optical_rails" : "electrical_rails");
  out << Key << "bandwidth_gbps" << Value << YAML::BeginSeq;
  out << cluster.nic.per_port.bytes_per_second * cluster.nic.ports / 1e9 * kBits;
  out << cluster.scale_up.per_gpu.bytes_per_second / 1e9 * kBits;
  out << YAML::EndSeq << EndMap;
  out << Key << "xpu_spec" << Value << BeginMap;
  put(out, "type", "GPU");
  const auto& presets = gpu_presets();
  const bool known =
      std::any_of(presets.begin(), presets.end(), [&](const GpuPreset& p) { return p.key == cluster.gpu.name; });
  put(out, "model", (known ? "nvidia_" : "") + cluster.gpu.name);
  put(out, "total_count", ranks);
  put(out, "count_per_node", cluster.gpus_per_server);
  out << EndMap << EndMap;
}

void put_executor(YAML::Emitter& out, const Plan& plan) {
  out << Key << "Model-executor" << Value << BeginMap;
  out << Key << "framework" << Value << BeginMap;
  put(out, "name", "photonrail");
  put(out, "version", std::string(version()));
  out << EndMap << Key << "model_plan_parallelization" << Value << BeginMap;
  put(out, "dp_replicate", plan.dp_replicate);
  put(out, "dp_shard", plan.dp_shard);
  put(out, "tp", plan.tp);
  put(out, "pp", plan.pp);
  put(out, "cp", plan.cp);
  put(out, "ep", plan.ep);
  put(out, "pp_mb", plan.pp_mb);
  out << EndMap << EndMap;
}

}  // namespace

std::string card_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides) {
  const Scenario scenario = read_scenario(file, overrides);  // complains where something is wrong
  Json root = config::parse_json(config::read_file(file), file.string());
  config::apply_overrides(root, overrides);
  const Json training = root["workload"].value("training", Json::object());
  YAML::Emitter out;
  out << BeginMap;
  put(out, "version", 1);
  put(out, "description", scenario.why.empty() ? scenario.name : scenario.why);
  out << Key << "workload" << Value << BeginMap;
  put_model(out, training, scenario.run.iterations);
  if (!training.empty()) {
    out << Key << "data" << Value << BeginMap;
    put(out, "batch_size", training.value("global_batch", std::uint64_t{1}));
    put(out, "batch_size_scope", "global");
    put(out, "seq_len", training.value("sequence", std::uint64_t{1}));
    out << EndMap;
  }
  put_hardware(out, scenario.cluster, scenario.graph.ranks());
  out << EndMap;
  put_executor(out, training.empty() ? plan_of(scenario.graph) : plan_of(training));
  out << EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace photonrail
