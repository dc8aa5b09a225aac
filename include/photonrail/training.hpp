// A training job from a model and its parallelism: a dense decoder-only transformer under TP, PP and DP.
#pragma once

#include "photonrail/pipeline.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// Dimensions of a Llama-style dense transformer (RMSNorm, SwiGLU, grouped KV heads, untied embeddings).
struct ModelSpec {
  std::string name = "custom";
  std::uint32_t layers = 32;
  std::uint32_t hidden = 4096;
  std::uint32_t ffn = 14336;
  std::uint32_t heads = 32;
  std::uint32_t kv_heads = 8;
  std::uint32_t vocabulary = 128256;

  [[nodiscard]] double parameters() const;  ///< embeddings, layers, norms and output projection
};

enum class Recompute : std::uint8_t { kNone, kFull };

struct ParallelismSpec {
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  std::uint32_t dp = 1;
  bool fsdp = false;                 ///< shard parameters over dp: gathers before use, reduce-scatters of gradients
  std::uint32_t virtual_stages = 1;  ///< model chunks of a pipeline stage

  [[nodiscard]] std::uint32_t ranks() const { return tp * pp * dp; }
};

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
  /// Rank numbering, innermost first: a permutation of "tp", "dp", "pp".
  std::vector<std::string> order{"tp", "dp", "pp"};

  [[nodiscard]] std::uint32_t micro_batches() const;  ///< per data-parallel rank
  [[nodiscard]] PipelineShape pipeline() const {
    return {schedule, parallelism.pp, parallelism.virtual_stages, micro_batches()};
  }
  /// Throws ConfigError whose `where` is a JSON pointer below /workload/training.
  void validate() const;
};

struct ModelPreset {
  std::string_view key;
  std::string_view note;
  ModelSpec spec;
};
[[nodiscard]] const std::vector<ModelPreset>& model_presets();
/// Throws ConfigError that lists what is known.
[[nodiscard]] const ModelSpec& model_preset(std::string_view key);

/// Forward FLOPs of one transformer layer for `tokens` tokens in sequences of `sequence`, on one of `tp` ranks.
[[nodiscard]] double layer_forward_flops(const ModelSpec& model, double tokens, double sequence, std::uint32_t tp);

/// The task graph of one training step. Throws ConfigError (see validate()).
[[nodiscard]] TaskGraph make_training_graph(const TrainingSpec& spec);

}  // namespace photonrail
