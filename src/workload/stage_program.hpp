// The program of one pipeline stage: what each of its ranks does in a training step.
#pragma once

#include "photonrail/pipeline.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <vector>

namespace photonrail {

/// What a slot of a stage's program stands for.
enum class SlotUse : std::uint8_t { kTensor, kData, kForwardIn, kForwardOut, kBackwardIn, kBackwardOut };

/// The slots of a stage's program, in order: only those that it needs.
[[nodiscard]] std::vector<SlotUse> stage_slots(const ParallelismSpec& parallelism, std::uint32_t stage);

/// The layers of a stage: [first, first + count). Stages differ by one layer at the most; the first ones have more.
struct LayerRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
[[nodiscard]] LayerRange stage_layers(std::uint32_t layers, std::uint32_t stages, std::uint32_t stage);

/// `actions`: the stage's, of pipeline_actions(). REQUIRES: spec is valid.
ProgramId write_stage_program(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage,
                              const std::vector<PipelineAction>& actions);

}  // namespace photonrail
