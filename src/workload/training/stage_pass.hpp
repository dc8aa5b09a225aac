// One pass of a micro-batch on its way through the units of a stage.
#pragma once

#include "workload/pipeline/actions.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
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

/// Where a segment stands in a pair that runs layer by layer (OverlapSpec::by_layer): segments of both passes run in
/// ascending order. Even turns are those of backward passes.
enum class Turn : std::uint8_t {
  kCombineBackward,
  kAttentionForward,  ///< with the router and the dispatch behind it
  kExpertsBackward,
  kExpertsForward,
  kAttentionBackward,
  kHeadForward
};
struct SegmentPlace {
  std::int32_t layer = -1;  ///< number of the layer in its pass; -1: before the first one
  Turn turn = Turn::kCombineBackward;

  friend auto operator<=>(const SegmentPlace&, const SegmentPlace&) = default;
};

/// A pass in pieces that other work may stand between, in ascending order of their places.
class PassSegments {
 public:
  using Segment = std::function<void(StagePass&)>;

  /// Tasks that are added from now on are of the next layer.
  void begin_layer(Turn turn) { place_ = {place_.layer + 1, turn}; }
  /// ... stands here, unless something of the layer came later already.
  void turn(Turn turn) { place_.turn = std::max(place_.turn, turn); }
  void push_back(Segment segment) { list_.emplace_back(place_, std::move(segment)); }

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] const SegmentPlace& place(std::size_t number) const { return list_[number].first; }
  void run(std::size_t number, StagePass& pass) const { list_[number].second(pass); }

 private:
  SegmentPlace place_{};
  std::vector<std::pair<SegmentPlace, Segment>> list_;
};

}  // namespace photonrail::workload
