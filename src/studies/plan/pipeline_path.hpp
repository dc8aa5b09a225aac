// The longest way through all passes of a pipeline: of each stage in the order of its schedule, of each micro-batch from
// stage to stage, with the messages between.
#pragma once

#include "photonrail/units.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "studies/plan/program_path.hpp"
#include "workload/pipeline/actions.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace photonrail::plan {

/// The actions of each stage in order, without the sends.
using StageOrders = std::vector<std::vector<workload::PipelineAction>>;

/// Orders of schedules that jobs share. Safe to use from several threads.
class PipelineOrders {
 public:
  [[nodiscard]] std::shared_ptr<const StageOrders> of(const PipelineShape& shape);

 private:
  using Key = std::array<std::uint32_t, 4>;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const StageOrders>> known_;
  std::size_t actions_ = 0;  // in all of them
};

/// The least time of a step of the first stage: all passes of all stages lie between its first pass and its last one,
/// since the first micro-batch comes from there, and the gradients of the last one go there. `stages`: of the shape, with
/// the same chunks. `switching`: as that of PathFacts. REQUIRES: no passes run in pairs.
[[nodiscard]] Duration pipeline_path(const PipelineShape& shape, const StageOrders& orders,
                                     const std::vector<StagePasses>& stages, Duration switching);

}  // namespace photonrail::plan
