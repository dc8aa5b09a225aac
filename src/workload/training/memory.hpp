// The memory of a training job for a caller that has checked the job.
#pragma once

#include "photonrail/training.hpp"

#include <vector>

namespace photonrail::workload {

/// training_memory() of a specification that is valid.
[[nodiscard]] std::vector<StageMemory> memory_of_stages(const TrainingSpec& spec);

}  // namespace photonrail::workload
