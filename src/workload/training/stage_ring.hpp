// Ring attention (Liu et al., arXiv 2310.01889): keys and values go around the context-parallel ranks while each computes
// its queries against the block that it has. Every block takes the same time, as ranks hold a piece from either end of the
// sequence. The backward pass sends the blocks around again, and with them the gradients that they gather on their way.
#pragma once

#include "workload/training/stage_model.hpp"
#include "workload/training/stage_tasks.hpp"

#include <string>

namespace photonrail::workload {

class RingWriter {
 public:
  /// Both must outlive the writer.
  RingWriter(const StageModel& model, StageTasks& tasks) : model_(model), tasks_(tasks) {}

  /// `work`: of all blocks. REQUIRES: the stage has the two links of the ring.
  void forward(StagePass& pass, const std::string& part, const Work& work);
  void backward(StagePass& pass, const std::string& part, const Work& work);

 private:
  [[nodiscard]] TaskId pass_on(StagePass& pass, TaskId block, std::uint32_t ring_tag, const std::string& task);

  const StageModel& model_;
  StageTasks& tasks_;
};

}  // namespace photonrail::workload
