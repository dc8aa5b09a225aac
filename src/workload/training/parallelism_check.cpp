#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/spec_check.hpp"
#include "workload/training/stage_units.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::workload {

namespace {

using core::field;
using core::FieldError;

void check_tensor(const TrainingSpec& s) {
  const std::uint32_t tp = s.parallelism.tp;
  const ModelSpec& m = s.model;
  require_divides(field("parallelism.tp"), "heads are split over tp", tp, m.heads);
  if (!m.latent && m.kv_heads % tp != 0 && tp % m.kv_heads != 0) {
    throw FieldError(
        field("parallelism.tp"),
        std::to_string(m.kv_heads) + " KV heads can be neither split nor repeated evenly over " + core::counted(tp, "rank"),
        "a divisor or a multiple of kv_heads");
  }
  require_divides(field("parallelism.tp"), "hidden is split over tp", tp, m.hidden);
  require_divides(field("parallelism.tp"), "ffn is split over tp", tp, m.ffn);
  if (m.moe && m.moe->shared > 0) {
    require_divides(field("parallelism.tp"), "the shared experts are split over tp", tp,
                    std::uint64_t{m.moe->shared} * m.expert_ffn());
  }
  require_divides(field("parallelism.tp"), "the vocabulary is split over tp (pad it)", tp, m.vocabulary);
}

void check_sequence(const TrainingSpec& s) {
  const ParallelismSpec& p = s.parallelism;
  require_divides(field("parallelism.cp"), "the sequence is split over cp", p.cp, s.sequence);
  if (!s.sequence_parallel && !s.scatter_messages) return;
  require_divides(field("parallelism.tp"),
                  p.cp > 1 ? "the sequence is split over cp, then over tp" : "the sequence is split over tp",
                  std::uint64_t{p.tp} * p.cp, s.sequence);
}

void check_traffic(const TrainingSpec& s) {
  core::check_member(field("moe"), [&] { s.expert_traffic().validate(); });
}

void check_experts(const TrainingSpec& s) {
  const ParallelismSpec& p = s.parallelism;
  const auto& moe = s.model.moe;
  if (s.moe && (!moe || p.ep == 1)) {
    throw FieldError(field("moe"), "no tokens travel to experts",
                     moe ? "set {parallelism.ep}" : "the model has no \"moe\"");
  }
  if (!moe) {
    if (p.ep > 1)
      throw FieldError(field("parallelism.ep"), "the model has no experts", "set it to 1, or add \"moe\" to the model");
    if (p.etp > 1) throw FieldError(field("parallelism.etp"), "the model has no experts", "leave it out");
    return;
  }
  require_divides(field("parallelism.ep"), "experts are spread over ep", p.ep, moe->experts);
  require_divides(field("parallelism.etp"), "expert tensor parallelism takes ranks of tp", p.expert_tp(), p.tp);
  require_divides(field("parallelism.etp"), "the width of an expert is split over etp", p.expert_tp(),
                  s.model.expert_ffn());
  const std::uint64_t ranks = std::uint64_t{p.tp} * p.cp * (p.dp / p.dp_replicate);
  if (ranks % (std::uint64_t{p.expert_tp()} * p.ep) != 0) {
    throw FieldError(field("parallelism.ep"),
                     "etp x ep = " + std::to_string(std::uint64_t{p.expert_tp()} * p.ep) +
                         " does not divide the ranks of a stage, tp x cp x dp = " + std::to_string(ranks) +
                         (p.dp_replicate > 1 ? " of a replica" : ""),
                     p.expert_tp() > 1 ? "a smaller ep, or \"etp\": 1 to lay experts over tp too" : "a smaller ep");
  }
  if (s.moe) check_traffic(s);
  if (p.tp > 1 && !s.sequence_parallel) {
    throw FieldError(field("sequence_parallel"),
                     "experts under tp need it: without it every tp rank would send the same tokens",
                     "set it to true, or tp to 1");
  }
}

// The first stage has the embedding and the last one the head: these may have no layer.
void check_stage_layers(const TrainingSpec& s) {
  const std::vector<std::uint32_t>& layers = s.stage_layers;
  const core::Field where = field("stage_layers");
  if (layers.size() != s.pipeline().virtual_stages()) {
    throw FieldError(where,
                     "has " + core::counted(layers.size(), "number") + " for " +
                         core::counted(s.pipeline().virtual_stages(), "virtual stage"),
                     "one for each of {parallelism.pp} x {parallelism.virtual_stages}");
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    sum += layers[i];
    if (layers[i] == 0 && i > 0 && i + 1 < layers.size()) {
      throw FieldError(where, "virtual stage " + std::to_string(i) + " has no layer", "at least 1 between the ends");
    }
  }
  if (sum != s.model.layers) {
    throw FieldError(where, "adds up to " + std::to_string(sum) + " of " + core::counted(s.model.layers, "layer"));
  }
  if (s.ends_count_as_layers) {
    throw FieldError(field("ends_count_as_layers"), "is for layers that are split evenly", "remove it, or {stage_layers}");
  }
}

// Where the ends count, predictions of further tokens may leave the last stages before the end without a layer: these have
// nothing to compute. Layers come first, so that the last stage but one tells it for all.
void check_middle_stages(const TrainingSpec& s) {
  const std::uint32_t parts = s.pipeline().virtual_stages();
  if (!s.stage_layers.empty() || parts < 3 || part_layers(s, parts - 2).count > 0) return;
  throw FieldError(s.parallelism.virtual_stages > 1 ? field("parallelism.virtual_stages") : field("parallelism.pp"),
                   "leaves stage " + std::to_string(parts - 2) + " of " + std::to_string(parts) +
                       " without a layer: " + core::counted(s.model.layers, "layer") + ", the ends and " +
                       core::counted(s.model.predicted_tokens, "predicted token") + " are spread evenly",
                   "fewer stages, or {stage_layers}");
}

void check_pipeline(const TrainingSpec& s) {
  if (!s.stage_layers.empty()) check_stage_layers(s);
  const std::uint32_t parts = s.pipeline().virtual_stages();
  const std::uint32_t places = s.model.layers + (s.ends_count_as_layers ? 2 + s.model.predicted_tokens : 0);
  if (s.stage_layers.empty() && std::uint64_t{s.parallelism.pp} * s.parallelism.virtual_stages > places) {
    throw FieldError(s.parallelism.virtual_stages > 1 ? field("parallelism.virtual_stages") : field("parallelism.pp"),
                     core::counted(parts, "stage") + " for " + core::counted(places, "layer"), "each stage needs a layer");
  }
  if (s.parallelism.virtual_stages > 1 && !s.ends_count_as_layers && s.stage_layers.empty()) {
    require_divides(field("parallelism.virtual_stages"), "layers are split over pp x virtual_stages", parts, places);
  }
  check_middle_stages(s);
  core::check_member(field("pipeline"), [&] { s.pipeline().validate(); });
  if (s.schedule == PipelineSchedule::kDualPipe && s.parallelism.fsdp) {
    throw FieldError(field("parallelism.fsdp"),
                     "the two copies of a layer under \"dualpipe\" are in use at different times and cannot share gathers",
                     "\"zero1\": true shards the optimizer");
  }
}

// "attention" stands for all of attention's products.
void check_mixed_precision(const MixedPrecision& mixed, std::uint32_t layers) {
  for (const MixedPrecision::Product& given : mixed.products) {
    const std::string& name = given.name;
    const std::string inner = name + ".";
    const auto& known = product_names();
    const auto fits = [&](std::string_view product) { return product == name || product.starts_with(inner); };
    if (!name.empty() && std::any_of(known.begin(), known.end(), fits)) continue;
    std::string list;
    for (const std::string_view product : known) list += (list.empty() ? "" : ", ") + std::string(product);
    throw FieldError(field("operators.mixed.products"), "names no product of a layer: \"" + name + "\"",
                     "one of " + list + ", or the part in front of the dot for all of its products");
  }
  if (std::uint64_t{mixed.first_layers} + mixed.last_layers > layers) {
    throw FieldError(field("operators.mixed.last_layers"), "are more than the model's " + core::counted(layers, "layer"));
  }
}

void check_operators(const TrainingSpec& s) {
  if (s.overlap.tensor && !s.sequence_parallel) {
    throw FieldError(field("overlap.tensor"), "is for the exchanges of sequence parallelism",
                     "set \"sequence_parallel\" to true");
  }
  if (s.one_copy_per_rank && s.moe) {
    throw FieldError(field("one_copy_per_rank"), "a router sends a copy for each expert", "remove \"moe\", or this");
  }
  if (s.gathers_routing && !s.one_copy_per_rank) {
    throw FieldError(field("gathers_routing"), "is for tokens that are sent once to a rank", "set one_copy_per_rank");
  }
  if (s.model.mamba && (s.model.mamba->heads % s.parallelism.tp != 0 || s.parallelism.cp > 1)) {
    throw FieldError(field("parallelism"), "heads of Mamba are spread over tp evenly, and their sequence is not cut",
                     "a tp that divides the heads, and cp 1");
  }
  if (!s.operators) return;
  if (s.operators->factor <= 0.0) throw FieldError(field("operators.factor"), "must be above 0");
  check_mixed_precision(s.operators->mixed, s.model.layers);
  if (s.parallelism.ep % std::max(s.operators->ranks_a_copy, 1u) != 0 || s.operators->ranks_a_copy == 0) {
    throw FieldError(field("operators.ranks_a_copy"), "does not divide ep = " + std::to_string(s.parallelism.ep),
                     "the ranks of a server, where ep spans several");
  }
  if (s.operators->attention.dropout && s.operators->attention.fused) {
    throw FieldError(field("operators.attention.dropout"), "is for attention that is not fused");
  }
}

// Programs of one stage meet in the same collectives.
void check_operators_of_ranks(const TrainingSpec& s) {
  if (s.operators_of_ranks.empty()) return;
  const core::Field where = field("operators_of_ranks");
  core::require(s.operators != nullptr, where, "is there without operators");
  core::require(s.operators_of_ranks.size() == s.parallelism.ranks(), where,
                "has " + std::to_string(s.operators_of_ranks.size()) + " entries for " +
                    core::counted(s.parallelism.ranks(), "rank"));
  const TrainingOperators* checked = s.operators.get();
  for (const auto& other : s.operators_of_ranks) {
    if (other == nullptr || other.get() == std::exchange(checked, other.get())) continue;
    core::require(other->frozen_weights == s.operators->frozen_weights &&
                      other->ranks_a_copy == s.operators->ranks_a_copy &&
                      other->again.experts == s.operators->again.experts,
                  where, "differ in what ranks exchange: frozen_weights, ranks_a_copy or again.experts");
    core::require(other->factor > 0.0, where, "has a factor that is not above 0");
    check_mixed_precision(other->mixed, s.model.layers);
    core::require(!other->attention.dropout || !other->attention.fused, where, "has dropout of attention that is fused");
  }
}

void check_sharding(const TrainingSpec& s) {
  const ParallelismSpec& p = s.parallelism;
  if (p.fsdp && p.zero1) {
    throw FieldError(field("parallelism.zero1"), "fsdp shards the optimizer already", "set one of \"fsdp\" and \"zero1\"");
  }
  if (p.dp_replicate > 1 && !p.fsdp) {
    throw FieldError(field("parallelism.dp_replicate"), "only a sharded model has replicas of its shards",
                     "set \"fsdp\" to true");
  }
  require_divides(field("parallelism.dp_replicate"), "dp is split into replicas", p.dp_replicate, p.dp);
  if (s.overlap_parameters && !p.zero1) {
    throw FieldError(field("overlap_parameters"), "is for \"zero1\"", "fsdp has \"prefetch\"");
  }
  if (s.bucket.count > 0 && p.fsdp) {
    throw FieldError(field("bucket"), "fsdp reduces unit by unit", "remove it");
  }
}

}  // namespace

namespace {

void check_layers(const ModelSpec& m) {
  if (m.predicted_tokens > 16) throw FieldError(field("model.predicted_tokens"), "is more than 16");
  if (m.window > 0) require_positive(field("model.window_every"), m.window_every);
  if (m.mamba) {
    require_positive(field("model.mamba.heads"), m.mamba->heads);
    require_positive(field("model.mamba.head_dim"), m.mamba->head_dim);
    require_positive(field("model.mamba.state"), m.mamba->state);
    require_positive(field("model.mamba.groups"), m.mamba->groups);
    require_positive(field("model.mamba.chunk"), m.mamba->chunk);
  }
  if (m.pattern.empty()) {
    if (m.mamba) throw FieldError(field("model.mamba"), "no layer is one", "a \"pattern\" with the letter M");
    return;
  }
  if (m.pattern.size() != m.layers) {
    throw FieldError(field("model.pattern"),
                     "has " + core::counted(m.pattern.size(), "letter") + " for " + core::counted(m.layers, "layer"));
  }
  for (const char letter : m.pattern) {
    const bool known = letter == '*' || letter == '-' || (letter == 'M' && m.mamba) || (letter == 'E' && m.moe);
    if (known) continue;
    throw FieldError(field("model.pattern"), std::string("the letter '") + letter + "' is of no part of the model",
                     "M with \"mamba\", E with \"moe\", * attention, - MLP");
  }
}

}  // namespace

void check_model(const ModelSpec& m) {
  if (m.head_dim == 0 && !m.latent) require_divides(field("model.heads"), "hidden is cut into heads", m.heads, m.hidden);
  if (!m.latent) require_divides(field("model.kv_heads"), "query heads share KV heads evenly", m.kv_heads, m.heads);
  check_layers(m);
  if (!m.moe) return;
  const ExpertSpec& e = *m.moe;
  require_positive(field("model.moe.experts"), e.experts);
  require_positive(field("model.moe.top_k"), e.top_k);
  require_positive(field("model.moe.every"), e.every);
  if (e.top_k > e.experts) {
    throw FieldError(field("model.moe.top_k"),
                     core::counted(e.top_k, "expert") + " a token, but there are " + std::to_string(e.experts),
                     "at most as many as \"experts\"");
  }
  if (e.dense_layers > m.layers) {
    throw FieldError(field("model.moe.dense_layers"),
                     "is more than the " + core::counted(m.layers, "layer") + " of the model");
  }
}

void check_parallelism(const TrainingSpec& spec) {
  check_tensor(spec);
  check_sequence(spec);
  check_sharding(spec);
  check_experts(spec);
  check_pipeline(spec);
  check_operators(spec);
  check_operators_of_ranks(spec);
}

}  // namespace photonrail::workload
