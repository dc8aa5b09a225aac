#include "workload/training/stage_program.hpp"

#include "core/field.hpp"
#include "workload/training/stage_writer.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::workload {

namespace {

std::string prefix_of(const PipelineStep& step, const PipelineShape& shape) {
  const std::string kind = step.kind == PassKind::kForward          ? "fwd."
                           : step.kind == PassKind::kBackwardWeight ? "wgt."
                                                                    : "bwd.";
  const std::string chunk = shape.chunks_held() > 1 ? "chunk" + std::to_string(step.chunk) + "." : "";
  return kind + std::to_string(step.micro_batch) + "." + chunk;
}

bool is_forward(const PipelineStep& step) { return step.kind == PassKind::kForward; }

}  // namespace

StageWriter::StageWriter(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage,
                         const MoeTraffic* experts, std::size_t max_tasks)
    : builder_(builder),
      spec_(spec),
      stage_(stage),
      max_tasks_(max_tasks),
      experts_(experts),
      shape_(spec.pipeline()),
      cost_(model_cost(spec)),
      slots_(stage_slots(spec, stage)),
      program_(builder.add_program()),
      last_(shape_.chunks_held(), 0),
      buckets_(shape_.chunks_held()) {
  for (std::uint32_t c = 0; c < shape_.chunks_held(); ++c) {
    units_.push_back(part_units(spec, cost_, shape_.virtual_stage({stage, c})));
    held_.emplace_back(units_.back().size(), 0);
  }
}

ProgramId StageWriter::write(const std::vector<PipelineAction>& actions) {
  using Kind = PipelineAction::Kind;
  for (const PipelineAction& action : actions) {
    if (action.kind == Kind::kPass && !is_forward(action.step)) last_[action.step.chunk] = action.step.micro_batch;
  }
  std::optional<PipelineStep> partner;     // a pass that runs together with the next one
  std::vector<PipelineAction> after_both;  // sends of its result
  for (const PipelineAction& action : actions) {
    check_tasks();
    if (action.kind == Kind::kReceive) {
      receive(action);
    } else if (action.kind == Kind::kSend) {
      partner ? after_both.push_back(action) : send(action);
    } else if (partner) {
      pair(*partner, action.step);
      partner.reset();
      for (const PipelineAction& late : std::exchange(after_both, {})) send(late);
    } else if (action.step.overlaps_next) {
      partner = action.step;
    } else {
      pass(action.step);
    }
  }
  finish_step();
  return program_;
}

// Layers differ in how many tasks they are: what passed the check of layer passes can still be too much. The last
// computation of a pass is one of its last tasks.
void StageWriter::check_tasks() const {
  if (last_compute_.is_none() || last_compute_.index() < max_tasks_ / shape_.stages) return;
  throw core::FieldError(core::field("global_batch"),
                    std::to_string(shape_.micro_batches) + " micro-batches are too many for a task graph: the stages have more than " +
                        std::to_string(max_tasks_) + " tasks together",
                    "a larger micro_batch, or fewer sequences");
}

void StageWriter::pass(PipelineStep step) {
  Flow flow = begin(step);
  for (const auto& segment : segments(flow)) segment(flow);
  end(flow);
}

// Turn by turn, so that what one exchanges runs beside what the other computes.
void StageWriter::pair(PipelineStep first, PipelineStep second) {
  Flow a = begin(first);
  Flow b = begin(second);
  const Segments of_a = segments(a);
  const Segments of_b = segments(b);
  for (std::size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    if (i < of_a.size()) of_a[i](a);
    if (i < of_b.size()) of_b[i](b);
  }
  end(a);
  end(b);
}

StageWriter::Flow StageWriter::begin(PipelineStep step) {
  Flow flow;
  flow.step = step;
  flow.prefix = prefix_of(step, shape_);
  // The first weights are asked for when the pass before has its result, and has posted the send of it.
  flow.issued = posted_;
  if (step.kind == PassKind::kBackwardWeight) return flow;
  const std::uint32_t here = shape_.virtual_stage({stage_, step.chunk});
  const auto input = results_.find(key(step, is_forward(step) ? here - 1 : here + 1));
  if (input == results_.end()) return flow;
  flow.data = input->second;
  results_.erase(input);
  return flow;
}

void StageWriter::end(Flow& flow) {
  if (flow.step.kind == PassKind::kBackwardWeight) return;
  posted_ = flow.data;
  results_[key(flow.step, shape_.virtual_stage({stage_, flow.step.chunk}))] = flow.data;
}

StageWriter::Segments StageWriter::segments(const Flow& flow) {
  Segments list;
  const std::size_t count = units_[flow.step.chunk].size();
  list.push_back([this, count](Flow& f) {
    for (std::size_t i = 0; i < std::min<std::size_t>(spec_.prefetch, count); ++i) ask_for(f, i);
  });
  for (std::size_t i = 0; i < count; ++i) add_unit(list, flow, i);
  const bool gradients = flow.step.kind == PassKind::kBackward || flow.step.kind == PassKind::kBackwardWeight;
  if (gradients) list.push_back([this](Flow& f) { flush_bucket(f.step.chunk, f.prefix); });
  return list;
}

Unit& StageWriter::unit_of(const Flow& flow, std::size_t number) {
  auto& units = units_[flow.step.chunk];
  return units[flow.forward() ? number : units.size() - 1 - number];
}

void StageWriter::ask_for(Flow& flow, std::size_t number) {
  flow.asked_for.emplace_back();
  if (!needs_gather(flow, number)) return;
  flow.asked_for.back() = gather(unit_of(flow, number), flow.step.chunk, flow.prefix, flow.issued);
}

void StageWriter::add_unit(Segments& list, const Flow& flow, std::size_t number) {
  // Ahead: asked for when the present unit can begin, that is when the one before it has computed.
  list.push_back([this, number](Flow& f) {
    const std::size_t ahead = number + spec_.prefetch;
    if (ahead < units_[f.step.chunk].size()) ask_for(f, ahead);
    f.gathered = f.asked_for[number];
  });
  const Unit& unit = unit_of(flow, number);
  switch (flow.step.kind) {
    case PassKind::kForward:
      return add_forward(list, unit);
    case PassKind::kBackwardInput:
      return add_backward(list, unit);
    case PassKind::kBackward:
      add_backward(list, unit);
      break;
    case PassKind::kBackwardWeight:
      list.push_back([this, &unit](Flow& f) { weights_of(f, unit); });
      break;
  }
  list.push_back([this, number](Flow& f) { reduce_gradients(f, number); });
}

StageWriter::ResultKey StageWriter::key(PipelineStep step, std::uint32_t virtual_stage) const {
  return {is_forward(step), virtual_stage, step.micro_batch};
}

// Unique among the messages of a link: micro-batches, the chunks that made them, and the two directions.
std::uint32_t StageWriter::tag(PipelineStep step) const {
  const std::uint32_t chunks = shape_.chunks_held();
  if (chunks == 1) return step.micro_batch;
  return step.micro_batch + shape_.micro_batches * (step.chunk + (is_forward(step) ? 0 : chunks));
}

void StageWriter::send(const PipelineAction& action) {
  const bool next = action.peer == (stage_ + 1) % shape_.stages && has(SlotUse::kToNext);
  const std::uint32_t here = shape_.virtual_stage({stage_, action.step.chunk});
  const TaskId result = results_.at(key(action.step, here));
  builder_.add_send(program_, slot(next ? SlotUse::kToNext : SlotUse::kToPrevious), message(), tag(action.step),
                    prefix_of(action.step, shape_) + "send", only({result}));
}

void StageWriter::receive(const PipelineAction& action) {
  const bool next = action.peer == (stage_ + 1) % shape_.stages && has(SlotUse::kFromNext);
  const std::uint32_t there = shape_.virtual_stage({action.peer, action.step.chunk});
  results_[key(action.step, there)] =
      builder_.add_receive(program_, slot(next ? SlotUse::kFromNext : SlotUse::kFromPrevious), message(), tag(action.step),
                           prefix_of(action.step, shape_) + "receive", only({posted_}));
}

bool StageWriter::has(SlotUse use) const { return std::find(slots_.begin(), slots_.end(), use) != slots_.end(); }

std::uint32_t StageWriter::slot(SlotUse use) const {
  return static_cast<std::uint32_t>(std::find(slots_.begin(), slots_.end(), use) - slots_.begin());
}

std::vector<TaskId> StageWriter::only(std::initializer_list<TaskId> candidates) {
  std::vector<TaskId> tasks;
  for (const TaskId t : candidates) {
    if (!t.is_none()) tasks.push_back(t);
  }
  return tasks;
}

ProgramId write_stage_program(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage,
                              const std::vector<PipelineAction>& actions, const MoeTraffic* experts) {
  return StageWriter(builder, spec, stage, experts).write(actions);
}

}  // namespace photonrail::workload
