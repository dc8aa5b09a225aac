// The program of one pipeline stage: what each of its ranks does in a training step.
#pragma once

#include "photonrail/training.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "workload/pipeline/actions.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// `actions`: the stage's, of pipeline_actions(). `experts`: the demands of all-to-alls, or null when they are even.
/// REQUIRES: spec is valid.
ProgramId write_stage_program(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage,
                              const std::vector<PipelineAction>& actions, const MoeTraffic* experts);

}  // namespace photonrail::workload
