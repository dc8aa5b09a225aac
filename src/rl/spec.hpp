// A reinforcement learning job: prompts are answered by engines, answers are scored, the policy is trained on them, and its
// new weights go back to the engines.
#pragma once

#include "collective/refit/refit.hpp"
#include "photonrail/workload/model.hpp"
#include "rl/generation_engine.hpp"
#include "rl/lengths.hpp"
#include "rl/schedule.hpp"
#include "rl/tool_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace photonrail::rl {

/// What a GPU does a second, as the job's phases need it.
struct DeviceRates {
  double flops = 989e12;          ///< at the precision of the phase, its efficiency included
  double memory_bytes = 3.35e12;  ///< a second, its efficiency included
  double memory = 80e9;           ///< bytes of it
};

struct GenerationSpec {
  collective::WeightLayout engine{};
  std::uint32_t engines = 1;
  std::uint32_t max_sequences = 256;  ///< of an engine
  double memory_share = 0.9;          ///< of a GPU's, for weights and KV
  std::uint32_t longest_run = 64;     ///< decode steps after which an engine looks at what has come
  double weight_bytes = 2.0;          ///< of a parameter
  double kv_element_bytes = 2.0;
  double efficiency = 0.5;         ///< share of the peak that prefill reaches
  double memory_efficiency = 0.8;  ///< share of the memory's bandwidth that decode reaches
  Duration step{};  ///< fixed part of a decode step: host, launches, messages of tensor and expert parallelism

  [[nodiscard]] std::uint32_t ranks() const { return engines * engine.ranks; }
};

struct TrainingPhase {
  collective::WeightLayout layout{};
  double efficiency = 0.3;         ///< share of the peak that training reaches, pipeline bubbles and communication included
  double passes = 2.0;             ///< forward passes beside training: log-probabilities of the policy, of a reference
  bool critic = false;             ///< a second model of the size is trained, and values the answers
  double recompute = 0.0;          ///< forward passes that training repeats
  std::uint32_t mini_batches = 1;  ///< optimizer steps
  Duration optimizer{};            ///< of each
};

enum class KvAfter : std::uint8_t { kKept, kRecomputed };
/// What becomes of the KV of a sample that waits for a tool.
enum class WaitingKv : std::uint8_t { kStays, kDropped };

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
  std::uint32_t pieces = 64;
  KvAfter kv_after = KvAfter::kKept;
};

/// Engines that share GPUs with training move to the host and back around it.
struct OffloadSpec {
  double bytes = 0.0;                             ///< of a GPU
  Bandwidth rate = Bandwidth::from_gb_per_s(25);  ///< each way
};

struct RlSpec {
  ModelSpec model{};
  PromptSpec prompts{};
  ModeSpec mode{};  ///< its batch is prompts x responses
  GenerationSpec generation{};
  TrainingPhase training{};
  RewardSpec rewards{};
  std::optional<ToolSpec> tools{};
  WaitingKv waiting_kv = WaitingKv::kStays;
  RefitPhase refit{};
  OffloadSpec offload{};
  DeviceRates device{};  ///< peaks
  Duration other{};      ///< of each step: data, scheduling
  std::uint64_t seed = 1;

  [[nodiscard]] std::uint32_t ranks() const {
    return mode.shared ? std::max(training.layout.ranks, generation.ranks()) : training.layout.ranks + generation.ranks();
  }
  /// The first rank of the engines.
  [[nodiscard]] std::uint32_t first_engine() const { return mode.shared ? 0 : training.layout.ranks; }
  /// Throws ConfigError whose `where` is the field.
  void validate() const;
};

/// Bytes of KV that a token has in all layers.
[[nodiscard]] double kv_bytes(const ModelSpec& model, double element_bytes);
/// Tokens of KV that an engine holds beside its weights; at most 0 where the weights do not fit.
[[nodiscard]] double kv_tokens(const RlSpec& spec);
[[nodiscard]] collective::RefitSpec refit_spec(const RlSpec& spec);
/// Of forward passes, training and the critic over so many tokens, on all training ranks together.
[[nodiscard]] Duration log_probability_time(const RlSpec& spec, double tokens);
[[nodiscard]] Duration training_time(const RlSpec& spec, double tokens);

/// The roofline of an engine's decode step: the weights that its sequences need once, their KV, and their FLOPs.
class RooflineCost final : public GenerationCost {
 public:
  explicit RooflineCost(const RlSpec& spec);
  [[nodiscard]] double decode(double sequences, double cached) const override;
  [[nodiscard]] double prefill(double tokens) const override;

 private:
  double dense_bytes_ = 0.0;   ///< a rank reads in each step
  double expert_bytes_ = 0.0;  ///< a rank reads where every expert is used
  double experts_ = 0.0;
  double top_k_ = 0.0;
  double kv_bytes_ = 0.0;  ///< a rank reads for a token of the engine
  double flops_ = 0.0;     ///< of a token, on each rank
  double fixed_ = 0.0;
  double flops_rate_ = 1.0;
  double prefill_rate_ = 1.0;
  double memory_rate_ = 1.0;
};

}  // namespace photonrail::rl
