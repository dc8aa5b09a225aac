#include "workload/training/memory.hpp"
#include "photonrail/training.hpp"
#include "workload/training/part_cost.hpp"
#include "workload/training/stage_slots.hpp"
#include "workload/training/stage_units.hpp"

#include <algorithm>
#include <functional>

namespace photonrail {

using workload::AttentionWidths;
using workload::CostShape;
using workload::expert_shards;
using workload::model_cost;
using workload::ModelCost;
using workload::part_units;
using workload::shards;
using workload::Unit;

namespace {

/// Elements that one rank keeps of a micro-batch for the backward pass of a unit.
class Kept {
 public:
  explicit Kept(const TrainingSpec& spec)
      : spec_(spec),
        shape_(spec),
        widths_(spec),
        tokens_(static_cast<double>(shape_.tokens)),
        // Input and output of a norm: the part of the sequence of the rank, or all of it.
        norm_(2.0 * static_cast<double>(shape_.hidden) / (spec.sequence_parallel ? static_cast<double>(shape_.tp) : 1.0)) {}

  [[nodiscard]] double bytes(const Unit& unit) const {
    if (unit.kind == Unit::Kind::kEmbedding) return 0.0;  // the numbers of the words
    if (unit.kind == Unit::Kind::kHead) {
      return tokens_ * (norm_ * spec_.parameter_bytes + 4.0 * spec_.model.vocabulary / static_cast<double>(shape_.tp));
    }
    if (spec_.recompute == Recompute::kFull) return tokens_ * norm_ / 2.0 * spec_.parameter_bytes;  // the input
    return whole_layer(unit);
  }

  [[nodiscard]] double whole_layer(const Unit& unit) const {
    double kept = unit.has.attention ? attention() : 0.0;
    if (unit.has.mamba) kept += mamba();
    if (unit.has.mlp) kept += mlp(spec_.model.ffn);
    if (unit.experts) kept += experts();
    return tokens_ * kept * spec_.parameter_bytes;
  }

 private:
  [[nodiscard]] double attention() const {
    const auto& latent = spec_.model.latent;
    const double latents = latent ? latent->query_rank + latent->kv_rank + latent->rope_head : 0.0;
    return norm_ + latents + static_cast<double>(widths_.query + widths_.key + widths_.value + widths_.out);
  }
  /// Returns what the in-projection gives, the convolution, and what the out-projection reads.
  [[nodiscard]] double mamba() const {
    const MambaSpec& a = *spec_.model.mamba;
    const double inner = static_cast<double>(a.heads) * a.head_dim;
    return norm_ + (5.0 * inner + 4.0 * a.groups * a.state) / static_cast<double>(shape_.tp);
  }
  /// Returns what the up projections give, and what the down projection reads.
  [[nodiscard]] double inner(double ffn) const { return matrices(spec_.model.mlp) * ffn; }
  [[nodiscard]] double mlp(double ffn) const { return norm_ + inner(ffn) / static_cast<double>(shape_.tp); }
  [[nodiscard]] double experts() const {
    const ExpertSpec& e = *spec_.model.moe;
    // The activations are what arrives, what the experts make of it, and what they return; fair, so as many as leave.
    const double routed = e.top_k * (2.0 * static_cast<double>(shape_.hidden) + inner(spec_.model.expert_ffn()));
    const double shared = inner(static_cast<double>(e.shared) * spec_.model.expert_ffn());
    return norm_ + (routed + shared) / static_cast<double>(shape_.tp);
  }

  const TrainingSpec& spec_;
  CostShape shape_;
  AttentionWidths widths_;
  double tokens_;
  double norm_;
};

/// The most that a stage holds at once of what forward passes add and backward passes free.
double peak(const std::vector<PipelineStep>& steps, const std::vector<double>& of_chunk) {
  double now = 0.0;
  double most = 0.0;
  for (const PipelineStep& step : steps) {
    if (step.kind == PassKind::kForward) most = std::max(most, now += of_chunk[step.chunk]);
    if (step.kind == PassKind::kBackward || step.kind == PassKind::kBackwardWeight) now -= of_chunk[step.chunk];
  }
  return most;
}

// Ahead of the first backward pass go less than two stages of forward passes a chunk; from then on both alternate, and what
// is held comes back after one micro-batch of each stage.
PipelineShape shape_of_peak(PipelineShape shape) {
  constexpr std::uint32_t kOfAStage = 6;
  const bool alternates = shape.schedule == PipelineSchedule::kOneFOneB || shape.schedule == PipelineSchedule::kInterleaved;
  if (alternates && !shape.paired) shape.micro_batches = std::min(shape.micro_batches, kOfAStage * shape.stages);
  return shape;
}

/// The units that are whole at once: with fsdp those gathered ahead, or all that are kept for the backward pass.
double gathered(const TrainingSpec& spec, std::vector<double> units) {
  std::sort(units.begin(), units.end(), std::greater<>());
  const std::size_t at_once = spec.reshard_after_forward ? std::size_t{spec.prefetch} + 1 : units.size();
  double sum = 0.0;
  for (std::size_t i = 0; i < std::min(at_once, units.size()); ++i) sum += units[i];
  return sum;
}

StageMemory stage_memory(const TrainingSpec& spec, std::uint32_t stage) {
  const PipelineShape shape = spec.pipeline();
  const ModelCost cost = model_cost(spec);
  const Kept kept(spec);
  const bool fsdp = spec.parallelism.fsdp;
  const double state = spec.parameter_bytes < 4 ? 12.0 : 8.0;  // fp32 parameters are their own master weights
  StageMemory memory;
  std::vector<double> of_chunk(shape.chunks_held(), 0.0);
  std::vector<double> whole;  // parameters of each unit
  double working = 0.0;       // full recomputation: the layer that is at work
  for (std::uint32_t c = 0; c < shape.chunks_held(); ++c) {
    for (const Unit& unit : part_units(spec, cost, shape.virtual_stage({stage, c}))) {
      const auto parameters = static_cast<double>(unit.parameters + unit.expert_parameters);
      const double own = static_cast<double>(unit.parameters) / shards(spec) +
                         static_cast<double>(unit.expert_parameters) / expert_shards(spec);
      whole.push_back(parameters * spec.parameter_bytes);
      memory.parameters += (fsdp ? own : parameters) * spec.parameter_bytes;
      memory.gradients += (fsdp ? own : parameters) * spec.gradient_bytes;
      memory.optimizer += own * state;
      of_chunk[c] += kept.bytes(unit);
      if (unit.kind == Unit::Kind::kLayer && spec.recompute == Recompute::kFull) {
        working = std::max(working, kept.whole_layer(unit));
      }
    }
  }
  if (fsdp) memory.parameters += gathered(spec, whole);
  memory.activations = peak(pipeline_steps(shape_of_peak(shape), stage), of_chunk) + working;
  return memory;
}

}  // namespace

std::vector<StageMemory> workload::memory_of_stages(const TrainingSpec& spec) {
  std::vector<StageMemory> stages;
  for (std::uint32_t s = 0; s < spec.parallelism.pp; ++s) stages.push_back(stage_memory(spec, s));
  return stages;
}

std::vector<StageMemory> training_memory(const TrainingSpec& spec) {
  spec.validate();
  return workload::memory_of_stages(spec);
}

}  // namespace photonrail
