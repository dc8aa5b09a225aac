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

void check_engine(const RlSpec& spec) {
  const GenerationSpec& g = spec.generation;
  require(g.engine.stage_ranks() == g.engine.tp, field("generation.engine.tp"),
          "must be the ranks of a stage: copies inside an engine are not modelled", "more engines of fewer ranks");
  require(g.times != nullptr, field("generation"), "has no times of steps");
  require(!g.flows || g.engine.tp > 1 || g.engine.pp > 1, field("generation.flows"),
          "are flows, but an engine is one GPU, which sends nothing", "remove it, or use more ranks an engine");
  const double tokens = kv_tokens(spec);
  const double most =
      spec.prompts.tokens + (spec.prompts.lengths.most > 0 ? spec.prompts.lengths.most : spec.prompts.lengths.mean);
  require(tokens > 0.0, field("generation.engine"),
          "of " + std::to_string(g.engine.ranks) + " ranks does not hold the weights", "use more ranks an engine");
  const bool given = g.batching.blocks > 0;
  require(
      tokens >= most + g.batching.block_tokens, field(given ? "generation.batching.blocks" : "generation.engine"),
      "has room for " + std::to_string(static_cast<std::int64_t>(tokens)) + " tokens of KV, less than one response needs",
      given ? "use more blocks, or shorter responses" : "use more ranks an engine, or shorter responses");
  for (std::size_t f = 0; f < g.failures.size(); ++f) {
    require(g.failures[f].engine < g.engines, field("generation.failures[].engine", f),
            "is not one of the " + std::to_string(g.engines) + " engines");
  }
}

// A batch of mean responses: what the generator refuses is said before the run.
void check_training(const RlSpec& spec) {
  const TrainingPhase& phase = spec.training;
  require(phase.mini_batches > 0 && spec.mode.batch % phase.mini_batches == 0, field("training.mini_batches"),
          "must divide the " + std::to_string(spec.mode.batch) + " samples of a step");
  require(!phase.step.moe, field("training.step.moe"),
          "is not for the training of this workload, whose experts get as many "
          "tokens each",
          "remove it");
  const auto mean = static_cast<std::uint32_t>(std::lround(spec.prompts.tokens + spec.prompts.lengths.mean));
  const std::vector<std::uint32_t> tokens(spec.mode.batch / phase.mini_batches, std::max(1u, mean));
  core::check_member(field("training.step"), [&] { phase.of(tokens).validate(); });
}

// Weights that go while training ends need engines that stand.
void check_overlap(const RlSpec& spec) {
  if (!spec.refit.overlap) return;
  const auto at = field("refit.overlap");
  require(!spec.mode.shared, at, "sends weights while training ends, when its GPUs are not the engines'",
          "remove it, or not {mode.shared}");
  require(!spec.mode.partial, at, "sends weights to engines that stand, and asynchronous ones generate until training ends",
          "remove it, or use the mode \"one_step_off\"");
  require(spec.training.step.parallelism.pp > 1, at,
          "sends the weights of a pipeline stage when it has trained, and there is one",
          "remove it, or more {training.step.parallelism.pp}");
}

}  // namespace

void RlSpec::validate() const {
  require(prompts.count > 0, field("prompts.count"), "must be at least 1");
  require(prompts.responses > 0, field("prompts.responses"), "must be at least 1");
  require(prompts.tokens > 0, field("prompts.tokens"), "must be at least 1");
  core::check_member(field("prompts.lengths"), [&] { prompts.lengths.validate(); });
  core::check_member(field("mode"), [&] { mode.validate(); });
  if (tools) core::check_member(field("tools"), [&] { tools->validate(); });
  require(mode.batch == prompts.count * prompts.responses, field("mode.batch"), "must be prompts x responses");
  check_training(*this);
  core::check_member(field("refit"), [&] { refit_spec(*this).validate(); });
  check_overlap(*this);
  check_engine(*this);
}

serving::ServedModel served_model(const RlSpec& spec) {
  const double bytes = spec.generation.weight_bytes;
  return {.model = spec.model,
          .tp = spec.generation.engine.tp,
          .precision = bytes < 1.0   ? OperatorPrecision::kFp4
                       : bytes < 2.0 ? OperatorPrecision::kFp8
                                     : OperatorPrecision::kBf16,
          .weight_bytes = spec.generation.weight_bytes,
          .kv_bytes = spec.generation.kv_element_bytes};
}

double kv_tokens(const RlSpec& spec) {
  const GenerationSpec& g = spec.generation;
  if (g.batching.blocks > 0) return static_cast<double>(g.batching.blocks) * g.batching.block_tokens;
  double weights = 0.0;
  for (const collective::WeightUnit& unit : workload::weight_units(spec.model, g.weight_bytes)) {
    weights += static_cast<double>(unit.dense.count) + static_cast<double>(unit.expert.count) * unit.experts;
  }
  const double free = spec.memory * g.memory_share - g.reserved - weights / g.engine.ranks;
  return free / (served_model(spec).kv_per_gpu() / g.engine.pp);
}

double offload_bytes(const RlSpec& spec) {
  if (!spec.mode.shared) return 0.0;
  double state = 0.0;
  if (spec.offload.training_state) {
    const std::vector<std::uint32_t> tokens(spec.training.ranks(), spec.prompts.tokens + 1);
    for (const StageMemory& stage : training_memory(spec.training.of(tokens))) {
      state = std::max(state, stage.parameters + stage.optimizer);
    }
  }
  return spec.offload.bytes + state;
}

double kv_bytes(const RlSpec& spec) { return served_model(spec).kv_per_gpu() * spec.generation.engine.tp; }

serving::EngineSpec batching_of(const RlSpec& spec) {
  serving::EngineSpec engine = spec.generation.batching;
  engine.blocks = static_cast<std::uint64_t>(std::max(1.0, kv_tokens(spec) / engine.block_tokens));
  const double block = served_model(spec).kv_per_gpu() * engine.block_tokens;
  if (spec.generation.swap_rate.bytes_per_second > 0.0)
    engine.swap_block = transfer_time(Bytes{static_cast<std::int64_t>(block)}, spec.generation.swap_rate);
  return engine;
}

collective::RefitSpec refit_spec(const RlSpec& spec) {
  const ParallelismSpec& p = spec.training.step.parallelism;
  return {.units = workload::weight_units(spec.model, spec.refit.weight_bytes * spec.refit.share),
          .training = {p.ranks(), p.pp, p.tp, p.ep, spec.model.moe ? p.expert_tp() : 1},
          .engine = spec.generation.engine,
          .engines = spec.generation.engines,
          .colocated = spec.mode.shared,
          .way = spec.refit.way,
          .pieces = spec.refit.pieces};
}

}  // namespace photonrail::rl
