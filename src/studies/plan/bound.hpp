// A lower bound on the step of a training job, whatever its rails and controllers do.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace photonrail::plan {

/// Times of a micro-batch in a layer on the way forward and back.
struct LayerPass {
  Duration core{};     ///< from its first computation to its last
  Duration through{};  ///< with the exchanges before and after these
};

/// By CollectiveOp: whether it runs as a ring in the order of its members.
using RingOps = std::array<bool, kCollectiveOpCount>;

class PipelineOrders;

/// A lower bound on the step of a training job, whatever its rails and controllers do (docs/models/planner.md). 0 where
/// GPUs have operators of their own.
class StepBound {
 public:
  /// Facts of the job beside its specification.
  struct Facts {
    bool in_order = true;       ///< rank r runs on GPU r
    bool one_at_a_time = true;  ///< collectives of a communicator run one after another
    RingOps rings{};
    Duration switching{};                      ///< of rails on which a NIC receives from one other at a time; 0: none are
    std::shared_ptr<PipelineOrders> orders{};  ///< shared with other bounds; none: of its own
  };

  explicit StepBound(const ClusterSpec& cluster) : StepBound(cluster, Facts{}) {}
  StepBound(const ClusterSpec& cluster, const Facts& facts);

  /// The passes of a rank and the fill and drain of the pipeline; quick, since layers are looked at once.
  /// REQUIRES: the specification is valid.
  [[nodiscard]] Duration of(const TrainingSpec& spec);
  /// With messages between stages, data-parallel traffic and the optimizer; some milliseconds. 0 for schedules that it does
  /// not know. REQUIRES: the specification is valid.
  [[nodiscard]] Duration closer(const TrainingSpec& spec) const;

 private:
  [[nodiscard]] const std::vector<LayerPass>& layers(const TrainingSpec& spec);
  [[nodiscard]] Duration by_stages(const TrainingSpec& spec, const TaskGraph& one) const;
  [[nodiscard]] Duration by_passes(const TrainingSpec& spec, const TaskGraph& one) const;

  ClusterSpec cluster_;
  Facts facts_;
  std::map<std::string, std::vector<LayerPass>> known_;
};

}  // namespace photonrail::plan
