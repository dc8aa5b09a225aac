#include "workload/pipeline_schedule.hpp"

#include <algorithm>

namespace photonrail {

namespace {

std::uint32_t warm_up(PipelineSchedule schedule, std::uint32_t stage, std::uint32_t stages, std::uint32_t micro_batches) {
  if (schedule == PipelineSchedule::kGPipe) return micro_batches;
  return std::min(stages - stage - 1, micro_batches);
}

}  // namespace

std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, std::uint32_t stage, std::uint32_t stages,
                                         std::uint32_t micro_batches) {
  std::vector<PipelineStep> steps;
  steps.reserve(2 * std::size_t{micro_batches});
  const std::uint32_t ahead = warm_up(schedule, stage, stages, micro_batches);
  for (std::uint32_t i = 0; i < ahead; ++i) steps.push_back({true, i});
  for (std::uint32_t i = 0; i < micro_batches; ++i) {
    if (ahead + i < micro_batches) steps.push_back({true, ahead + i});
    steps.push_back({false, i});
  }
  return steps;
}

bool receives_first(PipelineSchedule schedule, std::uint32_t stage, std::uint32_t stages, std::uint32_t micro_batches) {
  return stage % 2 == 1 && warm_up(schedule, stage, stages, micro_batches) < micro_batches;
}

}  // namespace photonrail
