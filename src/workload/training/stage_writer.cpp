#include "workload/training/stage_writer.hpp"

#include "core/field.hpp"
#include "workload/training/stage_slots.hpp"

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
    : max_tasks_(max_tasks),
      model_(spec, stage, experts),
      tasks_(builder, stage_slots(spec, stage), model_.book.get(), model_.ranks()),
      parts_(model_, tasks_) {}

ProgramId StageWriter::write(const std::vector<PipelineAction>& actions) {
  using Kind = PipelineAction::Kind;
  weights_.emplace(model_, tasks_, actions);
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
  // Without a backward pass there are no gradients.
  if (std::any_of(actions.begin(), actions.end(), [](const auto& action) { return !is_forward(action.step); })) {
    weights_->finish_step();
  }
  return tasks_.program();
}

// Layers differ in how many tasks they are: what passed the check of layer passes can still be too much. The last
// computation of a pass is one of its last tasks.
void StageWriter::check_tasks() const {
  if (tasks_.last_compute().is_none() || tasks_.last_compute().index() < max_tasks_ / model_.shape.stages) return;
  throw core::FieldError(core::field("global_batch"),
                         std::to_string(model_.shape.micro_batches) +
                             " micro-batches are too many for a task graph: the stages have more than " +
                             std::to_string(max_tasks_) + " tasks together",
                         "a larger micro_batch, or fewer sequences");
}

void StageWriter::pass(PipelineStep step) {
  StagePass pass = begin(step);
  const PassSegments list = segments(pass);
  for (std::size_t i = 0; i < list.size(); ++i) list.run(i, pass);
  end(pass);
}

// Layer by layer, or part by part in turn, so that what one exchanges runs beside what the other computes.
void StageWriter::pair(PipelineStep first, PipelineStep second) {
  StagePass a = begin(first);
  StagePass b = begin(second);
  const PassSegments of_a = segments(a);
  const PassSegments of_b = segments(b);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < of_a.size() || j < of_b.size()) {
    const bool both = i < of_a.size() && j < of_b.size();
    const bool first_is_next = !both ? i < of_a.size() : model_.by_layer() ? of_a.place(i) < of_b.place(j) : i <= j;
    first_is_next ? of_a.run(i++, a) : of_b.run(j++, b);
  }
  end(a);
  end(b);
}

StagePass StageWriter::begin(PipelineStep step) {
  StagePass pass;
  pass.step = step;
  pass.prefix = prefix_of(step, model_.shape);
  // The first weights are asked for when the pass before has its result, and has posted the send of it.
  pass.issued = posted_;
  if (step.kind == PassKind::kBackwardWeight) return pass;
  const std::uint32_t here = model_.virtual_stage(step.chunk);
  const auto input = results_.find(key(step, is_forward(step) ? here - 1 : here + 1));
  if (input == results_.end()) return pass;
  pass.data = input->second;
  results_.erase(input);
  return pass;
}

void StageWriter::end(StagePass& pass) {
  if (pass.step.kind == PassKind::kBackwardWeight) return;
  posted_ = pass.data;
  results_[key(pass.step, model_.virtual_stage(pass.step.chunk))] = pass.data;
}

PassSegments StageWriter::segments(const StagePass& pass) {
  PassSegments list;
  const std::size_t count = model_.units[pass.step.chunk].size();
  list.push_back([this, count](StagePass& f) {
    for (std::size_t i = 0; i < std::min<std::size_t>(model_.spec.prefetch, count); ++i) weights_->ask_for(f, i);
  });
  for (std::size_t i = 0; i < count; ++i) add_unit(list, pass, i);
  const bool gradients = pass.step.kind == PassKind::kBackward || pass.step.kind == PassKind::kBackwardWeight;
  if (gradients) list.push_back([this](StagePass& f) { weights_->flush_bucket(f.step.chunk, f.prefix); });
  return list;
}

void StageWriter::add_unit(PassSegments& list, const StagePass& pass, std::size_t number) {
  const Unit& unit = model_.unit_of(pass, number);
  if (unit.kind == Unit::Kind::kLayer || number > 0) {
    list.begin_layer(pass.forward() ? Turn::kAttentionForward : Turn::kCombineBackward);
  }
  // Ahead: asked for when the present unit can begin, that is when the one before it has computed.
  list.push_back([this, number](StagePass& f) {
    const std::size_t ahead = number + model_.spec.prefetch;
    if (ahead < model_.units[f.step.chunk].size()) weights_->ask_for(f, ahead);
    f.gathered = f.asked_for[number];
  });
  switch (pass.step.kind) {
    case PassKind::kForward:
      return parts_.add_forward(list, unit);
    case PassKind::kBackwardInput:
      return parts_.add_backward(list, unit);
    case PassKind::kBackward:
      parts_.add_backward(list, unit);
      break;
    case PassKind::kBackwardWeight:
      list.push_back([this, &unit](StagePass& f) { parts_.weights_of(f, unit); });
      break;
  }
  list.push_back([this, number](StagePass& f) { weights_->reduce_gradients(f, number); });
}

StageWriter::ResultKey StageWriter::key(PipelineStep step, std::uint32_t virtual_stage) const {
  return {is_forward(step), virtual_stage, step.micro_batch};
}

// Unique among the messages of a link: micro-batches, the chunks that made them, and the two directions.
std::uint32_t StageWriter::tag(PipelineStep step) const {
  const std::uint32_t chunks = model_.shape.chunks_held();
  if (chunks == 1) return step.micro_batch;
  return step.micro_batch + model_.shape.micro_batches * (step.chunk + (is_forward(step) ? 0 : chunks));
}

void StageWriter::send(const PipelineAction& action) {
  const bool next = action.peer == (model_.stage + 1) % model_.shape.stages && tasks_.has(SlotUse::kToNext);
  const std::uint32_t here = model_.virtual_stage(action.step.chunk);
  tasks_.send({next ? SlotUse::kToNext : SlotUse::kToPrevious, model_.message(), tag(action.step)},
              prefix_of(action.step, model_.shape) + "send", results_.at(key(action.step, here)));
}

void StageWriter::receive(const PipelineAction& action) {
  const bool next = action.peer == (model_.stage + 1) % model_.shape.stages && tasks_.has(SlotUse::kFromNext);
  const std::uint32_t there = model_.shape.virtual_stage({action.peer, action.step.chunk});
  const std::string task = prefix_of(action.step, model_.shape) + "receive";
  const SlotUse link = next ? SlotUse::kFromNext : SlotUse::kFromPrevious;
  const TaskId received = tasks_.receive({link, model_.message(), tag(action.step)}, task, posted_);
  TaskId& result = results_[key(action.step, there)];
  result = received;
  if (!model_.gathers_messages()) return;
  result =
      tasks_.collective(SlotUse::kTensor, CollectiveOp::kAllGather, model_.message(), task + ".all_gather", {received});
}

}  // namespace photonrail::workload
