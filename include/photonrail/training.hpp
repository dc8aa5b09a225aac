// A training job from a model and its parallelism: a decoder-only transformer, dense or with experts, under tensor,
// context, expert, data and pipeline parallelism.
#pragma once

#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"
#include "photonrail/workload/model.hpp"
#include "photonrail/workload/moe.hpp"
#include "photonrail/workload/pipeline.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace photonrail {

/// The backward pass computes again instead of reading what was kept: nothing, the core of attention (scores, softmax and
/// their product with the values; Korthikanti et al., arXiv 2205.05198, section 5), or every layer.
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };

/// Ranks = tp x cp x dp x pp. Experts are laid over the ranks of a stage anew, as expert tensor parallelism x expert
/// parallelism x expert data parallelism, innermost first, over tp first, then cp, then dp: with etp = tp experts are
/// spread over data-parallel ranks, with etp = 1 over tensor-parallel ranks too.
struct ParallelismSpec {
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  bool fsdp = false;  ///< shard parameters over cp x dp: gathers before use, reduce-scatters of gradients
  std::uint32_t cp = 1;
  std::uint32_t ep = 1;
  std::uint32_t etp = 0;             ///< ranks that share the matrices of an expert, a divisor of tp; 0: tp
  std::uint32_t virtual_stages = 1;  ///< model chunks of a pipeline stage
  std::uint32_t dp_replicate = 1;    ///< with fsdp: the data-parallel ranks are so many replicas of a sharded model
  bool zero1 = false;  ///< shard the optimizer over cp x dp: reduce-scatter of gradients, all-gather of parameters

  [[nodiscard]] std::uint32_t ranks() const { return tp * cp * pp * dp; }
  [[nodiscard]] std::uint32_t expert_tp() const { return etp == 0 ? tp : etp; }
};

struct TrainingOperators;  // workload/training_operators.hpp
struct OperatorUsage;      // workload/training_operators.hpp

struct TrainingSpec {
  ModelSpec model{};
  ParallelismSpec parallelism{};
  std::uint32_t sequence = 4096;
  std::uint32_t global_batch = 1;  ///< sequences in a step
  std::uint32_t micro_batch = 1;   ///< sequences in a micro-batch of one data-parallel rank
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  Recompute recompute = Recompute::kNone;
  std::uint32_t parameter_bytes = 2;  ///< bf16; also activations
  std::uint32_t gradient_bytes = 4;   ///< fp32
  bool sequence_parallel = true;      ///< TP traffic as all-gather and reduce-scatter instead of all-reduce
  /// Without sequence parallelism, pp and tp above 1: each tensor-parallel rank sends a tp-th of an activation to its
  /// counterpart of the next stage, whose ranks gather it (Narayanan et al., arXiv 2104.04473, section 4.1); else each
  /// sends all of it. No difference under sequence parallelism, whose messages are a tp-th already.
  bool scatter_messages = false;
  /// Rank numbering, innermost first: a permutation of "tp", "cp", "dp", "pp"; "cp" may be left out where it is 1.
  std::vector<std::string> order{"tp", "cp", "dp", "pp"};

  /// With experts over ep: how the router spreads tokens, and the precisions on their way. The sizes in it come from the
  /// rest of the specification. None: every expert gets as many.
  std::optional<MoeSpec> moe{};
  bool causal = false;  ///< count only the scores below the diagonal: half of them
  bool ends_count_as_layers =
      false;  ///< the embedding and the head each take the place of a layer in the split over stages
  /// Layers of each virtual stage, in forward order; they add up to the layers of the model. The embedding is on the first
  /// one, modules that predict further tokens and the head on the last. Empty: split evenly.
  std::vector<std::uint32_t> stage_layers{};
  bool reshard_after_forward = true;     ///< fsdp: gather again for the backward pass
  std::uint32_t prefetch = 1;            ///< fsdp: units gathered ahead of the one in use
  bool reduce_every_micro_batch = true;  ///< fsdp: reduce-scatter after each backward pass, else after the last
  bool overlap_gradients = true;         ///< reduce gradients beside the backward pass, else after it
  bool overlap_parameters = false;  ///< zero1: gather parameters beside the first forward pass, else after the optimizer
  Bytes bucket{};                   ///< gradients are reduced in buckets of so many bytes; 0: layer by layer. Not for fsdp
  bool clip_gradients = false;      ///< all-reduce the norm of the gradients before the optimizer
  bool average_loss = false;        ///< all-reduce the loss over data-parallel ranks once a step
  OverlapSpec overlap{};
  /// Even dispatch: a token goes once to each rank that has some of its experts, and comes back once (DeepEP, HybridEP);
  /// else once for each expert.
  bool one_copy_per_rank = false;
  /// With one copy a rank: before tokens leave for their experts every rank learns which experts each token of the group
  /// chose, from an all-gather of a byte for each token and expert, and `operators` have the scan of it (HybridEP).
  bool gathers_routing = false;
  /// Operators one by one, with a time each; null: the GPU's roofline times whole parts of a layer.
  std::shared_ptr<const TrainingOperators> operators{};
  /// By rank, where GPUs are unlike: what times the rank's operators in place of `operators`. Null: `operators`. They may
  /// differ in times, precisions and hosts, not in what ranks exchange. Empty: every rank has `operators`.
  std::vector<std::shared_ptr<const TrainingOperators>> operators_of_ranks{};

  [[nodiscard]] std::uint32_t micro_batches() const;  ///< per data-parallel rank
  [[nodiscard]] PipelineShape pipeline() const {
    return {schedule, parallelism.pp, parallelism.virtual_stages, micro_batches(), overlap.experts};
  }
  [[nodiscard]] MoeSpec expert_traffic() const;  ///< `moe` with its sizes; REQUIRES: the model has experts
  /// Throws ConfigError whose `where` is the field, "parallelism.tp".
  void validate() const;
};

/// The task graph of one training step. Throws ConfigError (see validate()).
[[nodiscard]] TaskGraph make_training_graph(const TrainingSpec& spec);

/// Holds what one step of a training job does for its model, whatever is computed again or padded on the way.
struct TrainingWork {
  double tokens = 0.0;
  double flops = 0.0;  ///< forward and backward passes of all layers and the head, without recomputation
  std::shared_ptr<const OperatorUsage>
      operators{};  ///< with TrainingSpec::operators, of a step that was written; else null

  friend bool operator==(const TrainingWork&, const TrainingWork&) = default;
};

/// Throws ConfigError (see validate()).
[[nodiscard]] TrainingWork training_work(const TrainingSpec& spec);

/// Holds what a GPU of a pipeline stage holds at its fullest, in bytes.
struct StageMemory {
  double parameters = 0.0;   ///< at the precision of the parameters; with fsdp the shard and the units gathered at once
  double gradients = 0.0;    ///< at the precision of the gradients
  double optimizer = 0.0;    ///< master weights and two moments of Adam in fp32
  double activations = 0.0;  ///< of all micro-batches in flight

  [[nodiscard]] double total() const { return parameters + gradients + optimizer + activations; }
};

/// By pipeline stage. Adam in mixed precision: Rajbhandari et al., arXiv 1910.02054, section 3.1. Activations of a layer,
/// in elements per token: what its matrix products, its attention kernel and its activation function keep for the backward
/// pass (the tensors that arXiv 2205.05198, section 4.1, counts), without the scores, which stay on chip (arXiv
/// 2205.14135); divided by tp where the operator is, and everywhere under sequence parallelism. Leaves out: buffers of
/// communication, fragmentation, temporaries, the workspace of kernels, dropout masks. Throws ConfigError (see validate()).
[[nodiscard]] std::vector<StageMemory> training_memory(const TrainingSpec& spec);

}  // namespace photonrail
