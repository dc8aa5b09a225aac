// Pipeline schedules as pure functions: the order of passes on each stage, when they run, which messages they need.
#pragma once

#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace photonrail {

enum class PipelineSchedule : std::uint8_t {
  kGPipe,
  kOneFOneB,
  kInterleaved,
  kBreadthFirst,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kDualPipe
};

struct PipelineScheduleInfo {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::string_view name;  ///< in scenarios
  std::string_view summary;
  std::string_view paper;
};
/// All schedules, in the order of the enumeration.
[[nodiscard]] const std::vector<PipelineScheduleInfo>& pipeline_schedules();
[[nodiscard]] std::string_view name(PipelineSchedule schedule);

/// kBackward is the whole backward pass. Zero-bubble schedules split it: kBackwardInput computes the gradient of the input,
/// which the stage before waits for; kBackwardWeight that of the weights, which only the optimizer waits for.
enum class PassKind : std::uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight };

/// A pass of one micro-batch through one model chunk of a stage.
struct PipelineStep {
  PassKind kind = PassKind::kForward;
  std::uint32_t micro_batch = 0;
  std::uint32_t chunk = 0;     ///< which of the stage's model chunks
  bool overlaps_next = false;  ///< runs at the same time as the step after it (DualPipe: a forward with a backward pass)

  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};

/// Which stage runs a part of the model, and which of its chunks that is.
struct PipelinePlace {
  std::uint32_t stage = 0;
  std::uint32_t chunk = 0;

  friend bool operator==(const PipelinePlace&, const PipelinePlace&) = default;
};

/// The model is cut into stages x chunks parts, the virtual stages, in the order of the forward pass.
///
/// Chunk c of stage s is virtual stage c x stages + s (arXiv 2104.04473, section 2.2). DualPipe cuts the model into
/// `stages` parts and sends half of the micro-batches from either end: stage s holds virtual stage s as chunk 0, for the
/// micro-batches of the first half, and stages - 1 - s as chunk 1, for the others: every parameter exists twice.
struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;  ///< of a stage; 1 for DualPipe, whose second chunk is the other direction's copy
  std::uint32_t micro_batches = 1;
  /// 1f1b and interleaved: each forward pass runs together with the backward pass that follows it, of another micro-batch,
  /// so that one exchanges while the other computes (Megatron Core's "1F1B overlap", arXiv 2603.07685). One more forward
  /// pass goes ahead, and 1f1b goes ahead as far as interleaved.
  bool paired = false;

  /// Throws ConfigError whose `where` is the field when the schedule does not exist for the
  /// shape. The functions below require that it does.
  void validate() const;

  [[nodiscard]] std::uint32_t virtual_stages() const { return stages * chunks; }
  [[nodiscard]] std::uint32_t chunks_held() const { return schedule == PipelineSchedule::kDualPipe ? 2 : chunks; }
  [[nodiscard]] std::uint32_t virtual_stage(PipelinePlace place) const;
  [[nodiscard]] PipelinePlace place(std::uint32_t virtual_stage, std::uint32_t micro_batch) const;
};

/// Holds what runs beside computation that would otherwise wait for it.
struct OverlapSpec {
  /// Sequence-parallel exchanges of tp run beside the products next to them, piece by piece around the ring: all of a
  /// product but 1 / tp of it does not wait for the gather before it, and the reduction after it begins with its first
  /// tp-th (Wang et al., ASPLOS 2023; Transformer Engine's user buffers).
  bool tensor = false;
  /// Passes in pairs, so that the all-to-alls of one run beside the other (PipelineShape::paired).
  bool experts = false;
  /// With `experts`, how a pair runs. true: layer by layer of both, so that each exchange has a computation of the other
  /// pass beside it: the backward pass's combine runs beside attention forward, the dispatch forward beside the experts
  /// backward, the dispatch backward beside the experts forward, the combine forward beside attention backward (Megatron
  /// Core's combined 1F1B, arXiv 2603.07685). false: part by part in turn, which hides about half of the exchanges.
  bool by_layer = true;
  /// With `by_layer`: the gradients of routed experts' weights are computed once the tokens' gradients are on their way
  /// ("delayed weight gradients"), else before.
  bool delay_weights = true;

  friend bool operator==(const OverlapSpec&, const OverlapSpec&) = default;
};

/// Returns what a stage does, in order. Each micro-batch passes each chunk that is on its way forward once, and backward
/// once, or once for the input and later once for the weights.
///
/// gpipe (Huang et al., arXiv 1811.06965): all forward passes, then all backward passes, both in ascending order.
/// 1f1b (Narayanan et al., arXiv 2104.04473, section 2.2): as many forward passes ahead as there are stages behind, then a
/// forward and a backward pass in turn.
/// interleaved (the same paper and section): 1F1B over the chunks, groups of `stages` micro-batches through each chunk.
/// bfs (Lamy-Poirier, arXiv 2211.05953): all micro-batches through a chunk, then all through the next; back likewise.
/// zb_h1 (Qi et al., arXiv 2401.10241, section 2.3): 1F1B with a split backward pass; stage s runs the weight part s
/// micro-batches late, so that every stage holds as many micro-batches as stage 0 of 1F1B.
/// zb_h2 (section 2.3): twice the warm-up and twice the delay: no bubble between a stage's first pass and its last when
/// the three passes take the same time, for nearly twice the activations.
/// dualpipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1; the order is that of the published DualPipe code).
[[nodiscard]] std::vector<PipelineStep> pipeline_steps(const PipelineShape& shape, std::uint32_t stage);

/// The most activations of (micro-batch, chunk) that the steps hold at once. One is held from its forward pass to the end
/// of its backward pass, of the weight part where that is split off.
[[nodiscard]] std::uint32_t peak_in_flight(const std::vector<PipelineStep>& steps);

/// Describes how long the passes of one virtual stage take. A whole backward pass takes the sum of its parts.
struct PassTimes {
  Duration forward{1};
  Duration backward_input{1};
  Duration backward_weight{1};
  /// A forward pass of this virtual stage together with the backward pass that it overlaps; both end at the end of it.
  /// None: they run one after the other.
  std::optional<Duration> overlapped;
};

struct PlayedPass {
  PipelineStep step;
  Time start{};
  Time end{};
};

/// A schedule in time, on stages that exchange messages in no time.
struct PipelineTimeline {
  std::vector<std::vector<PlayedPass>> stages;  ///< passes in order, by stage

  [[nodiscard]] Duration makespan() const;  ///< when the last pass ends
  /// Time without a pass, from 0 to the makespan.
  [[nodiscard]] Duration idle(std::uint32_t stage) const;
  /// Time without a pass, from the start of the stage's first to the end of its last.
  [[nodiscard]] Duration bubble(std::uint32_t stage) const;
};

/// `times`: by virtual stage, or one for all. Each pass starts when the one before it on the stage has ended and its input
/// is there. Leaves out messages: a real run of the schedule is the simulation's business.
[[nodiscard]] PipelineTimeline simulate_pipeline(const PipelineShape& shape, const std::vector<PassTimes>& times);

}  // namespace photonrail
