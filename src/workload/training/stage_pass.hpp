// One pass of a micro-batch on its way through the units of a stage.
#pragma once

#include "workload/pipeline/actions.hpp"

#include <functional>
#include <string>
#include <vector>

namespace photonrail::workload {

struct StagePass {
  PipelineStep step;
  std::string prefix;                          ///< of the names of its tasks
  TaskId data = TaskId::none();                ///< what carries the activation or its gradient now
  TaskId issued = TaskId::none();              ///< after this task the next weights are asked for
  std::vector<TaskId> gathered;                ///< the weights of the present unit, until something waits for them
  std::vector<std::vector<TaskId>> asked_for;  ///< the weights of the units, in the order of the pass

  [[nodiscard]] bool forward() const { return step.kind == PassKind::kForward; }
};

/// A pass in pieces that other work may stand between.
using PassSegments = std::vector<std::function<void(StagePass&)>>;

}  // namespace photonrail::workload
