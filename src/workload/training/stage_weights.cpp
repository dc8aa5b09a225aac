#include "workload/training/stage_weights.hpp"

#include <utility>

namespace photonrail::workload {

namespace {

constexpr Bytes kScalar{4};  // a norm or a loss in fp32

}  // namespace

WeightWriter::WeightWriter(const StageModel& model, StageTasks& tasks, const std::vector<PipelineAction>& actions)
    : model_(model), tasks_(tasks), last_(model.units.size(), 0), buckets_(model.units.size()) {
  for (const auto& units : model.units) held_.emplace_back(units.size(), 0);
  for (const PipelineAction& action : actions) {
    const bool backward = action.kind == PipelineAction::Kind::kPass && action.step.kind != PassKind::kForward;
    if (backward) last_[action.step.chunk] = action.step.micro_batch;
  }
}

void WeightWriter::ask_for(StagePass& pass, std::size_t number) {
  pass.asked_for.emplace_back();
  if (!needs_gather(pass, number)) return;
  pass.asked_for.back() = gather(model_.unit_of(pass, number), pass.step.chunk, pass.prefix, pass.issued);
}

bool WeightWriter::is_frozen() const { return model_.book && model_.book->how().frozen_weights; }

bool WeightWriter::is_last(const PipelineStep& step) const { return step.micro_batch == last_[step.chunk]; }

// The chunks of DualPipe that are copies of each other share a group, and the halves of the model have one each.
SlotUse WeightWriter::data_slot(SlotUse own, SlotUse mirror, std::uint32_t chunk) const {
  if (model_.shape.schedule != PipelineSchedule::kDualPipe) return own;
  return model_.virtual_stage(chunk) < model_.shape.stages / 2 ? own : mirror;
}

bool WeightWriter::needs_gather(const StagePass& pass, std::size_t number) {
  const ParallelismSpec& p = model_.spec.parallelism;
  const bool from_shards = p.fsdp || (p.zero1 && model_.spec.overlap_parameters);
  if (!from_shards || pass.step.kind == PassKind::kBackwardWeight) return false;
  if (p.fsdp && model_.spec.reshard_after_forward) return true;
  auto& held = held_[pass.step.chunk];
  return std::exchange(held[pass.forward() ? number : held.size() - 1 - number], 1) == 0;
}

std::vector<TaskId> WeightWriter::gather(const Unit& unit, std::uint32_t chunk, const std::string& prefix, TaskId after) {
  std::vector<TaskId> tasks;
  const auto add = [&](SlotUse use, std::int64_t parameters, std::uint32_t shard_count, const std::string& what) {
    if (!tasks_.has(use) || parameters == 0) return;
    const Bytes size{shard(parameters, shard_count) * model_.spec.parameter_bytes};
    tasks.push_back(tasks_.collective(use, CollectiveOp::kAllGather, size, prefix + unit.name + what + ".all_gather",
                                      StageTasks::only({after})));
  };
  add(data_slot(SlotUse::kData, SlotUse::kDataMirror, chunk), unit.parameters + unit.borrowed, shards(model_.spec),
      ".weights");
  add(data_slot(SlotUse::kExpertData, SlotUse::kExpertDataMirror, chunk), unit.expert_parameters,
      expert_shards(model_.spec), ".expert_weights");
  return tasks;
}

void WeightWriter::reduce_gradients(StagePass& pass, std::size_t number) {
  if (is_frozen()) return;
  const Unit& unit = model_.unit_of(pass, number);
  const std::uint32_t chunk = pass.step.chunk;
  const std::string what = pass.prefix + unit.name;
  if (model_.spec.parallelism.fsdp) {
    if (!model_.spec.reduce_every_micro_batch && !is_last(pass.step)) return;
    reduce(unit.parameters, unit.expert_parameters, chunk, what, tasks_.last_compute());
    if (!model_.spec.overlap_gradients && !gradients_.empty()) pass.gathered.push_back(gradients_.back());
    held_[chunk][held_[chunk].size() - 1 - number] = 0;
    return;
  }
  if (!is_last(pass.step)) return;
  if (model_.spec.bucket.count == 0)
    return reduce(unit.parameters, unit.expert_parameters, chunk, what, tasks_.last_compute());
  Bucket& bucket = buckets_[chunk];
  bucket.parameters += unit.parameters;
  bucket.experts += unit.expert_parameters;
  if ((bucket.parameters + bucket.experts) * model_.spec.gradient_bytes >= model_.spec.bucket.count)
    flush_bucket(chunk, pass.prefix);
}

void WeightWriter::flush_bucket(std::uint32_t chunk, const std::string& prefix) {
  Bucket& bucket = buckets_[chunk];
  if (bucket.parameters + bucket.experts == 0) return;
  reduce(bucket.parameters, bucket.experts, chunk, prefix + "bucket" + std::to_string(bucket.number),
         tasks_.last_compute());
  bucket = {0, 0, bucket.number + 1};
}

void WeightWriter::reduce(std::int64_t parameters, std::int64_t experts, std::uint32_t chunk, const std::string& what,
                          TaskId after) {
  using enum SlotUse;
  if (!model_.spec.overlap_gradients && !model_.spec.parallelism.fsdp && !after.is_none()) {
    late_.push_back({parameters, experts, chunk, what});
    return;
  }
  const TaskId ready = after.is_none() ? tasks_.last_compute() : after;
  reduce_over(data_slot(kData, kDataMirror, chunk), kReplicate, parameters, shards(model_.spec), what + ".gradients.",
              ready);
  reduce_over(data_slot(kExpertData, kExpertDataMirror, chunk), kExpertReplicate, experts, expert_shards(model_.spec),
              what + ".expert_gradients.", ready);
}

void WeightWriter::reduce_over(SlotUse group, SlotUse replicas, std::int64_t parameters, std::uint32_t shard_count,
                               const std::string& what, TaskId after) {
  if (parameters == 0) return;
  const std::int64_t part = shard(parameters, shard_count) * model_.spec.gradient_bytes;
  const auto add = [&](SlotUse use, CollectiveOp op, std::int64_t size, const std::string& task) {
    if (!tasks_.has(use)) return;
    if (op == CollectiveOp::kAllReduce) size = padded(size, use);
    after = tasks_.collective(use, op, {size}, task + std::string(name(op)), StageTasks::only({after}));
    gradients_.push_back(after);
  };
  if (shard_count > 1) {
    add(group, CollectiveOp::kReduceScatter, part * shard_count, what);
  } else {
    add(group, CollectiveOp::kAllReduce, part, what);
  }
  add(replicas, CollectiveOp::kAllReduce, part, what + "replicas.");
}

// An all-reduce of whole gradients is padded to equal shares of its members, as shards are: ranks of a group whose size
// does not divide the gradients stay alike.
std::int64_t WeightWriter::padded(std::int64_t size, SlotUse group) const {
  const std::int64_t shares =
      std::int64_t{group_shape(model_.spec, model_.stage, group).members()} * model_.spec.gradient_bytes;
  return (size + shares - 1) / shares * shares;
}

// Both copies of a tied embedding have gradients of their own (Shoeybi et al., arXiv 1909.08053; Megatron-LM's embedding
// group).
void WeightWriter::reduce_embedding(TaskId after) {
  if (!tasks_.has(SlotUse::kEmbedding)) return;
  const std::int64_t table =
      model_.cost.embedding.parameters - std::int64_t{model_.spec.model.hidden} * model_.spec.model.positions;
  std::vector<TaskId> ready = gradients_;
  ready.push_back(after);
  gradients_.push_back(tasks_.collective(SlotUse::kEmbedding, CollectiveOp::kAllReduce,
                                         {shard(table, shards(model_.spec)) * model_.spec.gradient_bytes},
                                         "embedding.tied_gradients.all_reduce", ready));
}

void WeightWriter::average_loss() {
  const bool has_loss =
      model_.units.back().back().kind == Unit::Kind::kHead || model_.units.front().back().kind == Unit::Kind::kHead;
  if (!model_.spec.average_loss || !has_loss) return;
  for (const SlotUse use : {SlotUse::kData, SlotUse::kReplicate}) {
    if (!tasks_.has(use)) continue;
    gradients_.push_back(tasks_.collective(use, CollectiveOp::kAllReduce, kScalar,
                                           "loss." + std::string(group_name(use)) + ".all_reduce",
                                           StageTasks::only({tasks_.last_compute()})));
  }
}

std::int64_t WeightWriter::own_parameters() const {
  std::int64_t parameters = 0;
  for (const auto& chunk : model_.units) {
    for (const Unit& unit : chunk) {
      parameters += shard(unit.parameters, shards(model_.spec)) + shard(unit.expert_parameters, expert_shards(model_.spec));
    }
  }
  return parameters;
}

// The norm of the gradients of the rank, then of the model: over the ranks that hold other parts of it.
void WeightWriter::clip(TaskId after) {
  std::vector<TaskId> ready = gradients_;
  ready.push_back(after);
  Work squares{0.0, {own_parameters() * model_.spec.gradient_bytes}};
  if (model_.book && squares.memory.count > 0) {
    squares.operators.push_back(
        model_.book->add(OperatorClass::kMemory, "gradients.norm", MemoryBound{squares.memory.count, 1}));
  }
  TaskId norm = tasks_.compute_apart(squares, "gradients.norm", ready);
  const bool sharded = shards(model_.spec) > 1;
  using enum SlotUse;
  for (const SlotUse use : {kTensor, kData, kExpert, kPipeline}) {
    if (!tasks_.has(use) || (use == kData && !sharded)) continue;
    norm = tasks_.collective(use, CollectiveOp::kAllReduce, kScalar,
                             "gradients.norm." + std::string(group_name(use)) + ".all_reduce", StageTasks::only({norm}));
  }
  gradients_ = {norm};
}

void WeightWriter::finish_step() {
  if (is_frozen()) return;
  for (const Late& l : std::exchange(late_, {})) reduce(l.parameters, l.experts, l.chunk, l.what, TaskId::none());
  reduce_embedding(tasks_.last_compute());
  average_loss();
  if (model_.spec.clip_gradients) clip(tasks_.last_compute());
  const Work work = optimizer_work(model_.spec, own_parameters(), model_.book.get());
  gradients_.push_back(tasks_.last_compute());
  const TaskId done = tasks_.compute_apart(work, "optimizer", gradients_);
  if (model_.spec.parallelism.zero1 && !model_.spec.overlap_parameters) gather_after(done);
}

void WeightWriter::gather_after(TaskId optimizer) {
  for (std::uint32_t c = 0; c < model_.units.size(); ++c) {
    for (Unit unit : model_.units[c]) {
      unit.borrowed = 0;  // comes with its owner
      gather(unit, c, {}, optimizer);
    }
  }
}

}  // namespace photonrail::workload
