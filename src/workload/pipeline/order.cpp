#include "workload/pipeline/order.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

/// Forward and backward passes are numbered in their order on the stage.
class OneWay {
 public:
  OneWay(const PipelineShape& shape, std::uint32_t stage) : shape_(shape), behind_(shape.stages - stage - 1) {
    if (shape.schedule == PipelineSchedule::kZeroBubbleH1) delay_ = stage;
    if (shape.schedule == PipelineSchedule::kZeroBubbleH2) delay_ = 2 * std::size_t{stage};
  }

  [[nodiscard]] std::size_t count() const { return std::size_t{shape_.micro_batches} * shape_.chunks; }

  /// Forward passes before the first backward pass, besides the one that is paired with it.
  [[nodiscard]] std::size_t warm_up() const {
    switch (shape_.schedule) {
      case PipelineSchedule::kInterleaved:
        return 2 * behind_ + (shape_.chunks - std::size_t{1}) * shape_.stages + (shape_.paired ? 1 : 0);
      case PipelineSchedule::kZeroBubbleH2:
        return 2 * behind_;
      case PipelineSchedule::kOneFOneB:
        return shape_.paired ? 2 * behind_ + 1 : behind_;
      case PipelineSchedule::kZeroBubbleH1:
        return behind_;
      default:
        return count();
    }
  }

  /// Backward passes between the input part and the weight part of one; nullopt: they are not split.
  [[nodiscard]] const std::optional<std::size_t>& delay() const { return delay_; }

  [[nodiscard]] PipelineStep forward(std::size_t number) const { return at(PassKind::kForward, number); }
  [[nodiscard]] PipelineStep backward(PassKind kind, std::size_t number) const {
    PipelineStep step = at(kind, number);
    step.chunk = shape_.chunks - 1 - step.chunk;
    return step;
  }

 private:
  [[nodiscard]] PipelineStep at(PassKind kind, std::size_t number) const {
    // Micro-batches that go through a chunk before any goes through the next.
    const std::size_t group = shape_.schedule == PipelineSchedule::kInterleaved ? shape_.stages : shape_.micro_batches;
    const std::size_t round = number / (group * shape_.chunks);
    const std::size_t chunk = number / group % shape_.chunks;
    return {kind, static_cast<std::uint32_t>(round * group + number % group), static_cast<std::uint32_t>(chunk)};
  }

  const PipelineShape& shape_;
  std::size_t behind_;
  std::optional<std::size_t> delay_;
};

}  // namespace

std::vector<PipelineStep> one_way_steps(const PipelineShape& shape, std::uint32_t stage) {
  const OneWay way(shape, stage);
  const std::size_t count = way.count();
  const std::size_t ahead = std::min(way.warm_up(), count);
  const PassKind backward = way.delay() ? PassKind::kBackwardInput : PassKind::kBackward;
  std::vector<PipelineStep> steps;
  steps.reserve(count * (way.delay() ? 3 : 2));
  for (std::size_t i = 0; i < ahead; ++i) steps.push_back(way.forward(i));
  for (std::size_t i = 0; i < count; ++i) {
    if (ahead + i < count) {
      steps.push_back(way.forward(ahead + i));
      steps.back().overlaps_next = shape.paired;
    }
    steps.push_back(way.backward(backward, i));
    if (way.delay() && i >= *way.delay()) steps.push_back(way.backward(PassKind::kBackwardWeight, i - *way.delay()));
  }
  if (!way.delay()) return steps;
  for (std::size_t i = count - std::min(*way.delay(), count); i < count; ++i) {
    steps.push_back(way.backward(PassKind::kBackwardWeight, i));
  }
  return steps;
}

}  // namespace photonrail::workload
