// The orders behind pipeline_steps(), one function a family.
#pragma once

#include "photonrail/workload/pipeline.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// GPipe, 1F1B, interleaved, breadth-first and zero-bubble schedules differ in the warm-up, the way through the chunks, and
/// when the weight part of a backward pass follows.
[[nodiscard]] std::vector<PipelineStep> one_way_steps(const PipelineShape& shape, std::uint32_t stage);

[[nodiscard]] std::vector<PipelineStep> dualpipe_steps(const PipelineShape& shape, std::uint32_t stage);

/// The virtual stage whose pass of the same micro-batch `step` waits for, and the kind of that pass (kBackward stands for
/// its input part too); nullopt when it waits for none.
struct PassInput {
  PassKind kind = PassKind::kForward;
  std::uint32_t virtual_stage = 0;
};
[[nodiscard]] std::optional<PassInput> input_of(const PipelineShape& shape, std::uint32_t stage, const PipelineStep& step);

/// Records whether the passes that others wait for are done, by micro-batch and virtual stage; or when.
template <class Value>
class PassTable {
 public:
  PassTable(const PipelineShape& shape, const Value& initial)
      : virtual_stages_(shape.virtual_stages()), values_(std::size_t{2} * shape.micro_batches * virtual_stages_, initial) {}

  [[nodiscard]] Value& at(PassKind kind, std::uint32_t virtual_stage, std::uint32_t micro_batch) {
    const std::size_t forward = kind == PassKind::kForward ? 1 : 0;
    return values_[(std::size_t{micro_batch} * virtual_stages_ + virtual_stage) * 2 + forward];
  }

 private:
  std::size_t virtual_stages_;
  std::vector<Value> values_;
};

}  // namespace photonrail::workload
