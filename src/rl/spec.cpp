#include "rl/spec.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "workload/weights.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace photonrail::rl {

namespace {

using core::field;

Duration of_flops(const RlSpec& spec, double flops) {
  return round_up_picoseconds(flops / (spec.training.layout.ranks * spec.device.flops * spec.training.efficiency) * 1e12);
}

}  // namespace

void RlSpec::validate() const {
  require(prompts.count > 0, field("prompts.count"), "must be at least 1");
  require(prompts.responses > 0, field("prompts.responses"), "must be at least 1");
  core::check_member(field("prompts.lengths"), [&] { prompts.lengths.validate(); });
  core::check_member(field("mode"), [&] { mode.validate(); });
  if (tools) core::check_member(field("tools"), [&] { tools->validate(); });
  require(mode.batch == prompts.count * prompts.responses, field("mode.batch"), "must be prompts x responses");
  core::check_member(field("refit"), [&] { refit_spec(*this).validate(); });
  require(training.mini_batches > 0 && mode.batch % training.mini_batches == 0, field("training.mini_batches"),
          "must divide the " + std::to_string(mode.batch) + " samples of a step");
  const double most = prompts.tokens + (prompts.lengths.most > 0 ? prompts.lengths.most : prompts.lengths.mean);
  require(kv_tokens(*this) > 0.0, field("generation.engine"),
          "of " + std::to_string(generation.engine.ranks) + " ranks does not hold the weights", "use more ranks an engine");
  require(kv_tokens(*this) >= most, field("generation.engine"),
          "has room for " + std::to_string(static_cast<std::int64_t>(kv_tokens(*this))) +
              " tokens of KV, less than one response needs",
          "use more ranks an engine, or shorter responses");
}

double kv_bytes(const ModelSpec& model, double element_bytes) {
  double layers = 0.0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) layers += model.layer_kind(layer).attention ? 1.0 : 0.0;
  if (model.latent) return layers * (model.latent->kv_rank + model.latent->rope_head) * element_bytes;
  return 2.0 * layers * model.kv_heads * model.head_width() * element_bytes;
}

double kv_tokens(const RlSpec& spec) {
  const GenerationSpec& g = spec.generation;
  const double memory = spec.device.memory * g.memory_share * g.engine.ranks;
  // Ranks beyond tp have copies of what tensor parallelism divides.
  double dense = 0.0;
  double routed = 0.0;
  for (const collective::WeightUnit& unit : workload::weight_units(spec.model, g.weight_bytes)) {
    dense += static_cast<double>(unit.dense.count);
    routed += static_cast<double>(unit.expert.count) * unit.experts;
  }
  const double stage = g.engine.stage_ranks();
  const double weights = dense * stage / g.engine.tp + routed * stage / (g.engine.ep * g.engine.etp);
  return (memory - weights) / kv_bytes(spec.model, g.kv_element_bytes);
}

collective::RefitSpec refit_spec(const RlSpec& spec) {
  return {.units = workload::weight_units(spec.model, spec.refit.weight_bytes),
          .training = spec.training.layout,
          .engine = spec.generation.engine,
          .engines = spec.generation.engines,
          .colocated = spec.mode.shared,
          .way = spec.refit.way,
          .pieces = spec.refit.pieces};
}

// Two FLOPs for each active parameter and token forward, four backward.
Duration log_probability_time(const RlSpec& spec, double tokens) {
  const double passes = spec.training.passes + (spec.training.critic ? 1.0 : 0.0);
  return of_flops(spec, 2.0 * passes * spec.model.active_parameters() * tokens);
}

Duration training_time(const RlSpec& spec, double tokens) {
  const double models = spec.training.critic ? 2.0 : 1.0;
  const double flops = (6.0 + 2.0 * spec.training.recompute) * models * spec.model.active_parameters() * tokens;
  return of_flops(spec, flops) + spec.training.optimizer * static_cast<std::int64_t>(spec.training.mini_batches);
}

RooflineCost::RooflineCost(const RlSpec& spec) {
  const GenerationSpec& g = spec.generation;
  double dense = 0.0;
  double routed = 0.0;
  for (const collective::WeightUnit& unit : workload::weight_units(spec.model, g.weight_bytes)) {
    dense += static_cast<double>(unit.dense.count);
    routed += static_cast<double>(unit.expert.count) * unit.experts;
  }
  // A token looks one row of the embedding up. The stages of an engine follow each other: their times add up.
  dense -= static_cast<double>(workload::weight_units(spec.model, g.weight_bytes).front().dense.count);
  dense_bytes_ = dense / g.engine.tp;
  expert_bytes_ = routed / (g.engine.ep * g.engine.etp);
  if (spec.model.moe) {
    experts_ = spec.model.moe->experts;
    top_k_ = spec.model.moe->top_k;
  }
  const double replicas = static_cast<double>(g.engine.stage_ranks()) / g.engine.tp;
  const double shares = spec.model.latent ? 1.0 : std::min<double>(g.engine.tp, spec.model.kv_heads);
  kv_bytes_ = kv_bytes(spec.model, g.kv_element_bytes) / (replicas * shares);
  flops_ = 2.0 * spec.model.active_parameters() / g.engine.stage_ranks();
  fixed_ = static_cast<double>(g.step.count());
  flops_rate_ = spec.device.flops;
  prefill_rate_ = spec.device.flops * g.efficiency;
  memory_rate_ = spec.device.memory_bytes * g.memory_efficiency;
}

double RooflineCost::decode(double sequences, double cached) const {
  // A sequence misses an expert with 1 - k / E.
  const double used = experts_ > 0.0 ? 1.0 - std::pow(1.0 - top_k_ / experts_, sequences) : 0.0;
  const double memory = (dense_bytes_ + used * expert_bytes_ + cached * kv_bytes_) / memory_rate_;
  return fixed_ + std::max(memory, sequences * flops_ / flops_rate_) * 1e12;
}

double RooflineCost::prefill(double tokens) const { return tokens * flops_ / prefill_rate_ * 1e12; }

}  // namespace photonrail::rl
