// A reinforcement learning job: prompts are answered by engines, answers are scored, the policy is trained on them, and its
// new weights go back to the engines.
#pragma once

#include "collective/refit/refit.hpp"
#include "photonrail/workload/model.hpp"
#include "rl/lengths.hpp"
#include "rl/schedule.hpp"
#include "rl/tool_cache.hpp"
#include "rl/training_phase.hpp"
#include "serving/engine/engine_spec.hpp"
#include "serving/engine/model_kernels.hpp"
#include "serving/engine/step_time.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace photonrail::rl {

/// An engine stops: what it had of responses is lost, and others make them from the beginning.
struct EngineFailure {
  std::uint32_t engine = 0;
  Time at{};
  std::optional<Duration> lasts{};  ///< until it is there again, with weights; none: never
};

struct GenerationSpec {
  collective::WeightLayout engine{};  ///< tensor-parallel in each stage; stages follow each other
  std::uint32_t engines = 1;
  serving::EngineSpec batching{};  ///< blocks 0: those that the memory has
  double memory_share = 0.9;       ///< of a GPU's, for weights, KV and what is reserved
  double reserved = 2e9;           ///< bytes of a GPU, for activations and the framework
  Bandwidth swap_rate{};           ///< of preempted KV, where batching swaps it
  double weight_bytes = 2.0;       ///< of a parameter
  double kv_element_bytes = 2.0;
  std::shared_ptr<const serving::StepTime> times{};
  std::uint32_t longest_run = 64;  ///< asynchronous: decode steps after which an engine looks at what has come
  std::vector<EngineFailure> failures{};
  bool flows = false;  ///< messages inside an engine are traffic, and no part of `times`

  [[nodiscard]] std::uint32_t ranks() const { return engines * engine.ranks; }
};

enum class KvAfter : std::uint8_t { kKept, kRecomputed };
/// What becomes of the KV of a sample that waits for a tool.
enum class WaitingKv : std::uint8_t {
  kStays,    ///< its blocks are held
  kSwapped,  ///< its blocks are free once it is on the host or a peer, and it comes back before the sample goes on
  kDropped   ///< its blocks are free; what others have not taken until it goes on is found, the rest computed again
};

/// What is asked: each prompt is answered several times.
struct PromptSpec {
  std::uint32_t count = 32;
  std::uint32_t responses = 16;  ///< of each
  std::uint32_t tokens = 100;
  LengthSpec lengths{};  ///< of responses
};

struct RewardSpec {
  Duration response{};
  std::uint32_t workers = 0;  ///< 0: any number
};

struct RefitPhase {
  collective::RefitWay way = collective::RefitWay::kRingPerRail;
  double weight_bytes = 2.0;  ///< of a parameter on the wire
  double share = 1.0;         ///< of the bytes; below 1: a delta to the weights before
  std::uint32_t pieces = 64;
  bool overlap = false;  ///< the weights of a pipeline stage go when it has trained, while others still train
  KvAfter kv_after = KvAfter::kKept;
};

/// On shared GPUs: what makes room for generation on the host, and comes back for training.
struct OffloadSpec {
  bool training_state = false;                    ///< parameters and optimizer of the fullest GPU, beside `bytes`
  double bytes = 0.0;                             ///< of a GPU
  Bandwidth rate = Bandwidth::from_gb_per_s(25);  ///< of a link to a host, each way
  std::uint32_t gpus_per_link = 1;                ///< neighbouring GPUs that share one
};

struct RlSpec {
  ModelSpec model{};
  PromptSpec prompts{};
  ModeSpec mode{};  ///< its batch is prompts x responses
  GenerationSpec generation{};
  TrainingPhase training{};  ///< its model is that of the job
  RewardSpec rewards{};
  std::optional<ToolSpec> tools{};
  WaitingKv waiting_kv = WaitingKv::kStays;
  Bandwidth swap_rate = Bandwidth::from_gb_per_s(25);  ///< of waiting KV, from all ranks of an engine together, each way
  RefitPhase refit{};
  OffloadSpec offload{};
  double memory = 80e9;  ///< bytes of a GPU
  Duration other{};      ///< of each step: data, scheduling
  std::uint64_t seed = 1;

  [[nodiscard]] std::uint32_t ranks() const {
    return mode.shared ? std::max(training.ranks(), generation.ranks()) : training.ranks() + generation.ranks();
  }
  /// The first rank of the engines.
  [[nodiscard]] std::uint32_t first_engine() const { return mode.shared ? 0 : training.ranks(); }
  /// Throws ConfigError whose `where` is the field.
  void validate() const;
};

/// What engines serve.
[[nodiscard]] serving::ServedModel served_model(const RlSpec& spec);
/// Tokens of KV that an engine holds beside its weights; at most 0 where the weights do not fit.
[[nodiscard]] double kv_tokens(const RlSpec& spec);
/// What `spec.generation.batching` is with the blocks of kv_tokens(), where it has none.
[[nodiscard]] serving::EngineSpec batching_of(const RlSpec& spec);
/// What a GPU moves to its host and back in each step.
[[nodiscard]] double offload_bytes(const RlSpec& spec);
/// Bytes of KV that a token has, all ranks of an engine together.
[[nodiscard]] double kv_bytes(const RlSpec& spec);
[[nodiscard]] collective::RefitSpec refit_spec(const RlSpec& spec);

}  // namespace photonrail::rl
