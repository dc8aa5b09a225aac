// The forward passes of a training job alone, as log-probabilities need them.
#pragma once

#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

namespace photonrail::workload {

/// All micro-batches go forward once, in the order of the schedule: no gradients, no optimizer. Throws ConfigError (see
/// TrainingSpec::validate()).
[[nodiscard]] TaskGraph make_forward_graph(const TrainingSpec& spec);

}  // namespace photonrail::workload
