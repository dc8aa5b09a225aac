#include "photonrail/workload/pipeline.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "workload/pipeline/order.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

using workload::dualpipe_steps;
using workload::one_way_steps;
using workload::PassInput;

namespace {

void require_micro_batches(const PipelineShape& shape, std::uint32_t multiple_of, std::uint32_t least) {
  const std::uint32_t m = shape.micro_batches;
  if (m % multiple_of == 0 && m >= least) return;
  const std::uint32_t next = (std::max(m, least) + multiple_of - 1) / multiple_of * multiple_of;
  throw core::FieldError(core::field("micro_batches"),
                         "the schedule \"" + std::string(name(shape.schedule)) + "\" over " + std::to_string(shape.stages) +
                             " stages does not exist for " + std::to_string(m) + " micro-batches",
                         "a multiple of " + std::to_string(multiple_of) + ", at least " + std::to_string(least) +
                             ": the next is " + std::to_string(next) + " micro-batches");
}

void require_chunks(const PipelineShape& shape) {
  const bool loops = shape.schedule == PipelineSchedule::kInterleaved || shape.schedule == PipelineSchedule::kBreadthFirst;
  const std::string schedule = "the schedule \"" + std::string(name(shape.schedule)) + "\"";
  if (shape.chunks > 1 && !loops) {
    throw core::FieldError(core::field("chunks"),
                           schedule + " has one model chunk a stage, not " + std::to_string(shape.chunks),
                           "\"interleaved\" and \"bfs\" take more");
  }
  if (shape.chunks < 2 && shape.schedule == PipelineSchedule::kInterleaved) {
    throw core::FieldError(core::field("chunks"), schedule + " needs two or more model chunks a stage",
                           "with one chunk it is \"1f1b\"");
  }
}

}  // namespace

const std::vector<PipelineScheduleInfo>& pipeline_schedules() {
  using enum PipelineSchedule;
  static const std::vector<PipelineScheduleInfo> kSchedules{
      {kGPipe, "gpipe", "all forward passes, then all backward passes", "arXiv 1811.06965"},
      {kOneFOneB, "1f1b", "a forward and a backward pass in turn; fewer activations are kept", "arXiv 2104.04473"},
      {kInterleaved, "interleaved", "1F1B over several model chunks a stage; the bubble shrinks with them",
       "arXiv 2104.04473"},
      {kBreadthFirst, "bfs", "several model chunks a stage, all micro-batches through one after the other",
       "arXiv 2211.05953"},
      {kZeroBubbleH1, "zb_h1", "1F1B with the weight part of backward passes put into the bubble", "arXiv 2401.10241"},
      {kZeroBubbleH2, "zb_h2", "zb_h1 with twice the warm-up: next to no bubble, nearly twice the activations",
       "arXiv 2401.10241"},
      {kDualPipe, "dualpipe",
       "micro-batches from both ends, forward passes overlap backward passes; two copies of the model",
       "arXiv 2412.19437"}};
  return kSchedules;
}

std::string_view name(PipelineSchedule schedule) { return pipeline_schedules()[static_cast<std::size_t>(schedule)].name; }

void PipelineShape::validate() const {
  if (stages == 0) throw core::FieldError(core::field("stages"), "is 0", "must be at least 1");
  if (chunks == 0) throw core::FieldError(core::field("chunks"), "is 0", "must be at least 1");
  if (micro_batches == 0) throw core::FieldError(core::field("micro_batches"), "has no micro-batch");
  require_chunks(*this);
  if (paired && schedule != PipelineSchedule::kOneFOneB && schedule != PipelineSchedule::kInterleaved) {
    throw core::FieldError(
        core::field("paired"),
        "the schedule \"" + std::string(name(schedule)) + "\" does not pair forward with backward passes",
        "\"1f1b\" and \"interleaved\" do; \"dualpipe\" pairs them always");
  }
  if (schedule == PipelineSchedule::kInterleaved) require_micro_batches(*this, stages, stages);
  if (schedule != PipelineSchedule::kDualPipe) return;
  if (stages % 2 != 0) {
    throw core::FieldError(core::field("stages"),
                           "the schedule \"dualpipe\" folds an even number of stages, not " + std::to_string(stages));
  }
  require_micro_batches(*this, 2, 2 * stages);
}

std::uint32_t PipelineShape::virtual_stage(PipelinePlace place) const {
  if (schedule == PipelineSchedule::kDualPipe) return place.chunk == 0 ? place.stage : stages - 1 - place.stage;
  return place.chunk * stages + place.stage;
}

PipelinePlace PipelineShape::place(std::uint32_t virtual_stage, std::uint32_t micro_batch) const {
  if (schedule != PipelineSchedule::kDualPipe) return {virtual_stage % stages, virtual_stage / stages};
  if (micro_batch < micro_batches / 2) return {virtual_stage, 0};
  return {stages - 1 - virtual_stage, 1};
}

std::vector<PipelineStep> pipeline_steps(const PipelineShape& shape, std::uint32_t stage) {
  PHOTONRAIL_CHECK(stage < shape.stages);
  return shape.schedule == PipelineSchedule::kDualPipe ? dualpipe_steps(shape, stage) : one_way_steps(shape, stage);
}

std::uint32_t peak_in_flight(const std::vector<PipelineStep>& steps) {
  std::uint32_t now = 0;
  std::uint32_t most = 0;
  for (const PipelineStep& step : steps) {
    if (step.kind == PassKind::kForward) most = std::max(most, ++now);
    if (step.kind == PassKind::kBackward || step.kind == PassKind::kBackwardWeight) --now;
  }
  return most;
}

std::optional<PassInput> workload::input_of(const PipelineShape& shape, std::uint32_t stage, const PipelineStep& step) {
  const std::uint32_t here = shape.virtual_stage({stage, step.chunk});
  switch (step.kind) {
    case PassKind::kForward:
      return here == 0 ? std::nullopt : std::optional<PassInput>({PassKind::kForward, here - 1});
    case PassKind::kBackwardWeight:
      return PassInput{PassKind::kBackward, here};
    default:
      if (here + 1 == shape.virtual_stages()) return PassInput{PassKind::kForward, here};
      return PassInput{PassKind::kBackward, here + 1};
  }
}

}  // namespace photonrail
