// A job as a CCL-Bench workload card.
#include "formats/card/card.hpp"
#include "photonrail/version.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace photonrail::formats::card {

namespace {

using YAML::BeginMap;
using YAML::EndMap;
using YAML::Key;
using YAML::Value;

struct Plan {
  std::uint64_t dp_replicate = 1, dp_shard = 1, tp = 1, pp = 1, cp = 1, ep = 1, pp_mb = 1;
};

// Reads the plan of a training workload from its section.
Plan plan_of(const TrainingSpec& training) {
  const ParallelismSpec& p = training.parallelism;
  Plan plan;
  plan.dp_replicate = p.fsdp ? p.dp_replicate : p.dp;
  plan.dp_shard = p.dp / plan.dp_replicate;
  plan.tp = p.tp;
  plan.pp = p.pp;
  plan.cp = p.cp;
  plan.ep = p.ep;
  plan.pp_mb = training.micro_batch;
  return plan;
}

// Reads the plan of any other job from its groups: the largest of each dimension; pipeline stages are what is left of the
// ranks.
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

template <class T>
void put(YAML::Emitter& out, const char* key, const T& value) {
  out << Key << key << Value << value;
}

const char* activation(MlpKind kind) {
  switch (kind) {
    case MlpKind::kSwiGlu:
      return "silu";
    case MlpKind::kGelu:
      return "gelu";
    case MlpKind::kSquaredRelu:
      return "relu2";
  }
  return "";
}

void put_latent(YAML::Emitter& out, const LatentAttention& latent) {
  if (latent.query_rank != 0) put(out, "q_lora_rank", latent.query_rank);
  put(out, "kv_lora_rank", latent.kv_rank);
  put(out, "qk_nope_head_dim", latent.nope_head);
  put(out, "qk_rope_head_dim", latent.rope_head);
  put(out, "v_head_dim", latent.value_head);
}

void put_experts(YAML::Emitter& out, const ModelSpec& model) {
  put(out, "num_params_active", std::llround(model.active_parameters()));
  put(out, "num_experts", model.moe->experts);
  put(out, "num_experts_per_tok", model.moe->top_k);
  put(out, "moe_intermediate_size", model.expert_ffn());
  if (model.moe->shared > 0) put(out, "n_shared_experts", model.moe->shared);
  if (model.moe->dense_layers > 0) put(out, "first_k_dense_replace", model.moe->dense_layers);
  if (model.moe->every > 1) put(out, "decoder_sparse_step", model.moe->every);
}

void put_dimensions(YAML::Emitter& out, const ModelSpec& model) {
  out << Key << "model_arch" << Value << BeginMap;
  put(out, "num_params", std::llround(model.parameters()));
  put(out, "num_params_embedding", std::uint64_t{model.vocabulary} * model.hidden);
  put(out, "num_layers", model.layers);
  put(out, "num_heads", model.heads);
  put(out, "head_dim", model.head_width());
  put(out, "hidden_size", model.hidden);
  put(out, "intermediate_size", model.ffn);
  if (!model.latent) put(out, "num_key_value_heads", model.kv_heads);
  put(out, "vocab_size", model.vocabulary);
  put(out, "hidden_act", activation(model.mlp));
  put(out, "tie_word_embeddings", model.tied_embeddings);
  if (model.latent) put_latent(out, *model.latent);
  if (model.moe) put_experts(out, model);
  out << EndMap;
}

void put_model(YAML::Emitter& out, const ModelSpec* model, const std::string& precision, std::uint32_t iterations) {
  out << Key << "model" << Value << BeginMap;
  put(out, "phase", "training");
  put(out, "moe", model != nullptr && model->moe.has_value());
  put(out, "granularity", "model_fwd_bwd_pass");
  put(out, "model_family", model != nullptr ? model->name : std::string("unknown"));
  put(out, "precision", precision);
  put(out, "epochs", 1);
  put(out, "iteration", iterations);
  if (model != nullptr) put_dimensions(out, *model);
  out << EndMap;
}

void put_hardware(YAML::Emitter& out, const Card& card, std::size_t ranks) {
  out << Key << "hardware" << Value << BeginMap;
  out << Key << "network_topo" << Value << BeginMap;
  put(out, "topology", card.topology);
  out << Key << "bandwidth_gbps" << Value << YAML::BeginSeq;
  out << card.nic_gbit_per_s << card.scale_up_gbit_per_s;
  out << YAML::EndSeq << EndMap;
  out << Key << "xpu_spec" << Value << BeginMap;
  put(out, "type", "GPU");
  put(out, "model", card.gpu);
  put(out, "total_count", ranks);
  put(out, "count_per_node", card.gpus_per_server);
  out << EndMap << EndMap;
}

// Writes settings that a card has no standard key for, where they differ from their defaults.
void put_more(YAML::Emitter& out, const TrainingSpec& training) {
  const ParallelismSpec& p = training.parallelism;
  if (p.expert_tp() != p.tp) put(out, "etp", p.expert_tp());
  if (p.virtual_stages > 1) put(out, "virtual_stages", p.virtual_stages);
  if (p.zero1) put(out, "zero1", true);
  if (training.schedule != PipelineSchedule::kOneFOneB) put(out, "schedule", std::string(name(training.schedule)));
}

void put_executor(YAML::Emitter& out, const Plan& plan, const TrainingSpec* training) {
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
  if (training != nullptr) put_more(out, *training);
  out << EndMap << EndMap;
}

}  // namespace

std::string write(const Card& card, const TaskGraph& graph) {
  const TrainingSpec* const training = card.training ? &*card.training : nullptr;
  YAML::Emitter out;
  out << BeginMap;
  put(out, "version", 1);
  put(out, "description", card.description);
  out << Key << "workload" << Value << BeginMap;
  put_model(out, training != nullptr ? &training->model : nullptr, card.precision, card.iterations);
  if (training != nullptr) {
    out << Key << "data" << Value << BeginMap;
    put(out, "batch_size", training->global_batch);
    put(out, "batch_size_scope", "global");
    put(out, "seq_len", training->sequence);
    out << EndMap;
  }
  put_hardware(out, card, graph.ranks());
  out << EndMap;
  put_executor(out, training != nullptr ? plan_of(*training) : plan_of(graph), training);
  out << EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace photonrail::formats::card
