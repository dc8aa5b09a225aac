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

/// Bytes that one rank keeps of a micro-batch for the backward pass of a unit.
class Kept {
 public:
  explicit Kept(const TrainingSpec& spec)
      : spec_(spec),
        shape_(spec),
        widths_(spec),
        tokens_(static_cast<double>(shape_.tokens)),
        element_(spec.parameter_bytes),
        norm_(static_cast<double>(shape_.hidden) / (spec.sequence_parallel ? static_cast<double>(shape_.tp) : 1.0)) {
    if (spec.operators) again_ = spec.operators->again;
  }

  [[nodiscard]] double bytes(const Unit& unit) const {
    if (unit.kind == Unit::Kind::kEmbedding) return 0.0;  // the numbers of the words
    if (unit.kind == Unit::Kind::kHead) {
      return tokens_ * (2.0 * norm_ * element_ + 4.0 * spec_.model.vocabulary / static_cast<double>(shape_.tp));
    }
    if (spec_.recompute == Recompute::kFull) return tokens_ * norm_ * element_;  // the input
    return whole_layer(unit);
  }

  [[nodiscard]] double whole_layer(const Unit& unit) const {
    double kept = unit.has.attention ? attention(unit) : 0.0;
    if (unit.has.mamba) kept += mamba(unit);
    if (unit.has.mlp) kept += mlp(unit);
    if (unit.experts) kept += experts(unit);
    return tokens_ * kept;
  }

 private:
  /// Of an element that a product reads: its own copy where it is quantised.
  [[nodiscard]] double read(const Unit& unit, const char* product) const {
    if (!spec_.operators || unit.in_bf16) return element_;
    const TrainingOperators& how = *spec_.operators;
    const OperatorPrecision precision = how.times.device().available(how.mixed.of(product, how.precision));
    return precision == OperatorPrecision::kBf16 ? element_ : workload::kept_bytes(precision);
  }
  /// The input of a norm, and its output, of which an element has so many bytes.
  [[nodiscard]] double norm(double output) const { return norm_ * (element_ + (again_.norms ? 0.0 : output)); }

  // Attention keeps what it returns as it is; a product that quantises it has its copy beside.
  [[nodiscard]] double attention(const Unit& unit) const {
    const auto& latent = spec_.model.latent;
    const double latents = latent ? latent->query_rank + latent->kv_rank + latent->rope_head : 0.0;
    const bool made_again = latent && again_.up_projections;
    const double inputs = made_again ? 0.0 : static_cast<double>(widths_.query + widths_.key + widths_.value);
    const double output = read(unit, "attention.output");
    return norm(read(unit, latent ? "attention.query_down" : "attention.qkv")) + (latents + inputs) * element_ +
           static_cast<double>(widths_.out) * (element_ + (output < element_ ? output : 0.0));
  }
  /// Returns what the in-projection gives, the convolution, and what the out-projection reads.
  [[nodiscard]] double mamba(const Unit& unit) const {
    const MambaSpec& a = *spec_.model.mamba;
    const double inner = static_cast<double>(a.heads) * a.head_dim;
    const double between = (4.0 * inner + 4.0 * a.groups * a.state) * element_ + inner * read(unit, "mamba.out");
    return norm(read(unit, "mamba.in")) + between / static_cast<double>(shape_.tp);
  }
  /// Returns what the up projections give, and what the down projection reads.
  [[nodiscard]] double inner(double ffn, double down) const {
    return ffn * ((matrices(spec_.model.mlp) - 1.0) * element_ + (again_.activations ? 0.0 : down));
  }
  [[nodiscard]] double mlp(const Unit& unit) const {
    const double inside = again_.mlp ? 0.0 : inner(spec_.model.ffn, read(unit, "mlp.down"));
    return norm(read(unit, "mlp.up")) + inside / static_cast<double>(shape_.tp);
  }
  // The router reads the norm too, as it is.
  [[nodiscard]] double experts(const Unit& unit) const {
    const ExpertSpec& e = *spec_.model.moe;
    // The activations are what arrives, what the experts make of it, and what they return; fair, so as many as leave.
    const double pair = static_cast<double>(shape_.hidden) * (read(unit, "experts.up") + element_) +
                        inner(spec_.model.expert_ffn(), read(unit, "experts.down"));
    const double shared = inner(static_cast<double>(e.shared) * spec_.model.expert_ffn(), read(unit, "shared.down"));
    return norm(element_) + ((again_.experts ? 0.0 : e.top_k * pair) + shared) / static_cast<double>(shape_.tp);
  }

  const TrainingSpec& spec_;
  CostShape shape_;
  AttentionWidths widths_;
  RecomputedOperators again_{};
  double tokens_;
  double element_;  // bytes, of what is not quantised
  double norm_;     // elements: the part of the sequence of the rank, or all of it
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
