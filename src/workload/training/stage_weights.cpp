// Parameters and gradients: fully sharded data parallelism (Zhao et al., arXiv 2304.11277), a sharded optimizer (ZeRO-1:
// Rajbhandari et al., arXiv 1910.02054, section 5.1), or whole replicas.
#include "workload/training/stage_writer.hpp"

#include <utility>

namespace photonrail::workload {

namespace {

constexpr Bytes kScalar{4};  // a norm or a loss in fp32

}  // namespace

bool StageWriter::is_last(const PipelineStep& step) const { return step.micro_batch == last_[step.chunk]; }

// The chunks of DualPipe that are copies of each other share a group, and the halves of the model have one each.
SlotUse StageWriter::data_slot(SlotUse own, SlotUse mirror, std::uint32_t chunk) const {
  if (shape_.schedule != PipelineSchedule::kDualPipe) return own;
  return shape_.virtual_stage({stage_, chunk}) < shape_.stages / 2 ? own : mirror;
}

bool StageWriter::needs_gather(const Flow& flow, std::size_t number) {
  const ParallelismSpec& p = spec_.parallelism;
  const bool from_shards = p.fsdp || (p.zero1 && spec_.overlap_parameters);
  if (!from_shards || flow.step.kind == PassKind::kBackwardWeight) return false;
  if (p.fsdp && spec_.reshard_after_forward) return true;
  auto& held = held_[flow.step.chunk];
  return std::exchange(held[flow.forward() ? number : held.size() - 1 - number], 1) == 0;
}

std::vector<TaskId> StageWriter::gather(const Unit& unit, std::uint32_t chunk, const std::string& prefix, TaskId after) {
  std::vector<TaskId> tasks;
  const auto add = [&](SlotUse use, std::int64_t parameters, std::uint32_t shard_count, const std::string& what) {
    if (!has(use) || parameters == 0) return;
    const Bytes size{shard(parameters, shard_count) * spec_.parameter_bytes};
    tasks.push_back(builder_.add_collective(program_, slot(use), CollectiveOp::kAllGather, size,
                                            prefix + unit.name + what + ".all_gather", only({after})));
  };
  add(data_slot(SlotUse::kData, SlotUse::kDataMirror, chunk), unit.parameters + unit.borrowed, shards(spec_), ".weights");
  add(data_slot(SlotUse::kExpertData, SlotUse::kExpertDataMirror, chunk), unit.expert_parameters, expert_shards(spec_),
      ".expert_weights");
  return tasks;
}

void StageWriter::reduce_gradients(Flow& flow, std::size_t number) {
  const Unit& unit = unit_of(flow, number);
  const std::uint32_t chunk = flow.step.chunk;
  const std::string what = flow.prefix + unit.name;
  if (spec_.parallelism.fsdp) {
    if (!spec_.reduce_every_micro_batch && !is_last(flow.step)) return;
    reduce(unit.parameters, unit.expert_parameters, chunk, what, last_compute_);
    if (!spec_.overlap_gradients && !gradients_.empty()) flow.gathered.push_back(gradients_.back());
    held_[chunk][held_[chunk].size() - 1 - number] = 0;
    return;
  }
  if (!is_last(flow.step)) return;
  if (spec_.bucket.count == 0) return reduce(unit.parameters, unit.expert_parameters, chunk, what, last_compute_);
  Bucket& bucket = buckets_[chunk];
  bucket.parameters += unit.parameters;
  bucket.experts += unit.expert_parameters;
  if ((bucket.parameters + bucket.experts) * spec_.gradient_bytes >= spec_.bucket.count) flush_bucket(chunk, flow.prefix);
}

void StageWriter::flush_bucket(std::uint32_t chunk, const std::string& prefix) {
  Bucket& bucket = buckets_[chunk];
  if (bucket.parameters + bucket.experts == 0) return;
  reduce(bucket.parameters, bucket.experts, chunk, prefix + "bucket" + std::to_string(bucket.number), last_compute_);
  bucket = {0, 0, bucket.number + 1};
}

void StageWriter::reduce(std::int64_t parameters, std::int64_t experts, std::uint32_t chunk, const std::string& what,
                         TaskId after) {
  using enum SlotUse;
  if (!spec_.overlap_gradients && !spec_.parallelism.fsdp && !after.is_none()) {
    late_.push_back({parameters, experts, chunk, what});
    return;
  }
  const TaskId ready = after.is_none() ? last_compute_ : after;
  reduce_over(data_slot(kData, kDataMirror, chunk), kReplicate, parameters, shards(spec_), what + ".gradients.", ready);
  reduce_over(data_slot(kExpertData, kExpertDataMirror, chunk), kExpertReplicate, experts, expert_shards(spec_),
              what + ".expert_gradients.", ready);
}

void StageWriter::reduce_over(SlotUse group, SlotUse replicas, std::int64_t parameters, std::uint32_t shard_count,
                              const std::string& what, TaskId after) {
  if (parameters == 0) return;
  const std::int64_t part = shard(parameters, shard_count) * spec_.gradient_bytes;
  const auto add = [&](SlotUse use, CollectiveOp op, std::int64_t size, const std::string& task) {
    if (!has(use)) return;
    after = builder_.add_collective(program_, slot(use), op, {size}, task + std::string(name(op)), only({after}));
    gradients_.push_back(after);
  };
  if (shard_count > 1) {
    add(group, CollectiveOp::kReduceScatter, part * shard_count, what);
  } else {
    add(group, CollectiveOp::kAllReduce, part, what);
  }
  add(replicas, CollectiveOp::kAllReduce, part, what + "replicas.");
}

// Both copies of a tied embedding have gradients of their own (Shoeybi et al., arXiv 1909.08053; Megatron-LM's embedding
// group).
void StageWriter::reduce_embedding(TaskId after) {
  if (!has(SlotUse::kEmbedding)) return;
  const std::int64_t table = cost_.embedding.parameters - std::int64_t{spec_.model.hidden} * spec_.model.positions;
  std::vector<TaskId> ready = gradients_;
  ready.push_back(after);
  gradients_.push_back(builder_.add_collective(program_, slot(SlotUse::kEmbedding), CollectiveOp::kAllReduce,
                                               {shard(table, shards(spec_)) * spec_.gradient_bytes},
                                               "embedding.tied_gradients.all_reduce", ready));
}

void StageWriter::average_loss() {
  const bool has_loss = units_.back().back().kind == Unit::Kind::kHead || units_.front().back().kind == Unit::Kind::kHead;
  if (!spec_.average_loss || !has_loss) return;
  for (const SlotUse use : {SlotUse::kData, SlotUse::kReplicate}) {
    if (!has(use)) continue;
    gradients_.push_back(builder_.add_collective(program_, slot(use), CollectiveOp::kAllReduce, kScalar,
                                                 "loss." + std::string(group_name(use)) + ".all_reduce",
                                                 only({last_compute_})));
  }
}

std::int64_t StageWriter::own_parameters() const {
  std::int64_t parameters = 0;
  for (const auto& chunk : units_) {
    for (const Unit& unit : chunk) {
      parameters += shard(unit.parameters, shards(spec_)) + shard(unit.expert_parameters, expert_shards(spec_));
    }
  }
  return parameters;
}

// The norm of the gradients of the rank, then of the model: over the ranks that hold other parts of it.
void StageWriter::clip(TaskId after) {
  std::vector<TaskId> ready = gradients_;
  ready.push_back(after);
  TaskId norm = builder_.add_compute(program_, 0.0, {own_parameters() * spec_.gradient_bytes}, "gradients.norm", ready);
  const bool sharded = shards(spec_) > 1;
  using enum SlotUse;
  for (const SlotUse use : {kTensor, kData, kExpert, kPipeline}) {
    if (!has(use) || (use == kData && !sharded)) continue;
    norm = builder_.add_collective(program_, slot(use), CollectiveOp::kAllReduce, kScalar,
                                   "gradients.norm." + std::string(group_name(use)) + ".all_reduce", only({norm}));
  }
  gradients_ = {norm};
}

void StageWriter::finish_step() {
  for (const Late& l : std::exchange(late_, {})) reduce(l.parameters, l.experts, l.chunk, l.what, TaskId::none());
  reduce_embedding(last_compute_);
  average_loss();
  if (spec_.clip_gradients) clip(last_compute_);
  const Work work = optimizer_work(spec_, own_parameters());
  gradients_.push_back(last_compute_);
  const TaskId done = builder_.add_compute(program_, work.flops, work.memory, "optimizer", gradients_);
  if (spec_.parallelism.zero1 && !spec_.overlap_parameters) gather_after(done);
}

void StageWriter::gather_after(TaskId optimizer) {
  for (std::uint32_t c = 0; c < units_.size(); ++c) {
    for (Unit unit : units_[c]) {
      unit.borrowed = 0;  // comes with its owner
      gather(unit, c, {}, optimizer);
    }
  }
}

}  // namespace photonrail::workload
