// The order in which a pipeline stage works through the micro-batches.
#pragma once

#include "photonrail/training.hpp"

#include <cstdint>
#include <vector>

namespace photonrail {

/// A forward or backward pass of one micro-batch through one stage.
struct PipelineStep {
  bool forward = true;
  std::uint32_t micro_batch = 0;

  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};

/// GPipe (Huang et al., arXiv 1811.06965): all forward passes, then all backward passes, both in ascending order.
/// 1F1B (Narayanan et al., arXiv 2104.04473, section 2.2): a stage begins with as many forward passes as there are
/// stages behind it, then takes one forward and one backward pass in turn.
[[nodiscard]] std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, std::uint32_t stage, std::uint32_t stages,
                                                       std::uint32_t micro_batches);

/// Whether the stage posts its receive before its send where it changes between forward and backward passes. There the
/// two neighbours exchange at the same time, and one of them has to begin with the receive, or blocking sends would never
/// end. Only 1F1B's steady state exchanges like this; odd stages give way.
[[nodiscard]] bool receives_first(PipelineSchedule schedule, std::uint32_t stage, std::uint32_t stages,
                                  std::uint32_t micro_batches);

}  // namespace photonrail
