#include "workload/stage_program.hpp"

#include "photonrail/error.hpp"
#include "photonrail/pipeline.hpp"
#include "workload/layer_cost.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace photonrail {

namespace {

/// What FSDP gathers and plain data parallelism reduces as one: a layer, the embedding, or the output head.
struct Unit {
  enum class Kind : std::uint8_t { kEmbedding, kLayer, kHead };
  Kind kind = Kind::kLayer;
  std::string name;
  std::int64_t parameters = 0;  ///< on one tensor-parallel rank
};

/// Writes tasks in schedule order. Each compute task waits for the one before it, so that no executor can reorder them.
class StageWriter {
 public:
  StageWriter(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage)
      : builder_(builder),
        spec_(spec),
        stage_(stage),
        cost_(model_cost(spec)),
        slots_(stage_slots(spec.parallelism, stage)),
        program_(builder.add_program()) {
    make_units();
  }

  ProgramId write(const std::vector<PipelineAction>& actions);

 private:
  void make_units();
  void pass(PipelineStep step);
  void send(PipelineStep step);
  void receive(PipelineStep step);
  void forward(const Unit& unit, const std::string& prefix);
  void backward(const Unit& unit, const std::string& prefix);
  [[nodiscard]] TaskId gather(const Unit& unit, const std::string& prefix);
  void reduce_gradients(const Unit& unit, const std::string& prefix, std::uint32_t micro_batch);
  void optimizer();

  void enter(const std::string& part);
  void leave(const std::string& part);
  void exchange(CollectiveOp op, Bytes size, const std::string& part);
  void compute(const Work& work, const std::string& task);
  void sharded_part(const Work& work, const std::string& part);

  [[nodiscard]] bool has(SlotUse use) const { return std::find(slots_.begin(), slots_.end(), use) != slots_.end(); }
  [[nodiscard]] std::uint32_t slot(SlotUse use) const {
    return static_cast<std::uint32_t>(std::find(slots_.begin(), slots_.end(), use) - slots_.begin());
  }
  [[nodiscard]] bool sharded() const { return spec_.parallelism.fsdp && has(SlotUse::kData); }
  [[nodiscard]] std::int64_t shard_of(const Unit& unit) const {  // padded to a multiple of dp, as FSDP does
    const std::int64_t dp = spec_.parallelism.dp;
    return spec_.parallelism.fsdp ? (unit.parameters + dp - 1) / dp : unit.parameters;
  }
  [[nodiscard]] Bytes message() const { return spec_.sequence_parallel ? cost_.activation_shard : cost_.activation; }
  /// The tasks of `candidates` that exist.
  [[nodiscard]] static std::vector<TaskId> only(std::initializer_list<TaskId> candidates) {
    std::vector<TaskId> tasks;
    for (const TaskId t : candidates) {
      if (!t.is_none()) tasks.push_back(t);
    }
    return tasks;
  }

  TaskGraphBuilder& builder_;
  const TrainingSpec& spec_;
  std::uint32_t stage_;
  ModelCost cost_;
  std::vector<SlotUse> slots_;
  ProgramId program_;
  std::vector<Unit> units_;  // in forward order

  TaskId last_compute_ = TaskId::none();
  TaskId data_ = TaskId::none();      // what carries the activation or its gradient now
  TaskId input_ = TaskId::none();     // of the next pass, where it comes from another stage
  TaskId issued_ = TaskId::none();    // after this task the next weights are asked for
  TaskId gathered_ = TaskId::none();  // the weights of the present unit; none: they are there
  std::vector<TaskId> gradients_;     // what the optimizer waits for
};

bool is_forward(PipelineStep step) { return step.kind == PassKind::kForward; }

std::string prefix_of(PipelineStep step) {
  return (is_forward(step) ? "fwd." : "bwd.") + std::to_string(step.micro_batch) + ".";
}

void StageWriter::make_units() {
  const auto [first, count] = stage_layers(spec_.model.layers, spec_.parallelism.pp, stage_);
  if (stage_ == 0) units_.push_back({Unit::Kind::kEmbedding, "embedding", cost_.embedding.parameters});
  for (std::uint32_t l = first; l < first + count; ++l) {
    units_.push_back({Unit::Kind::kLayer, "layer" + std::to_string(l), cost_.attention.parameters + cost_.mlp.parameters});
  }
  if (stage_ + 1 == spec_.parallelism.pp) units_.push_back({Unit::Kind::kHead, "head", cost_.head.parameters});
}

ProgramId StageWriter::write(const std::vector<PipelineAction>& actions) {
  for (const PipelineAction& action : actions) {
    // Messages are posted when the pass before has its result.
    switch (action.kind) {
      case PipelineAction::Kind::kPass:
        pass(action.step);
        break;
      case PipelineAction::Kind::kSend:
        send(action.step);
        break;
      case PipelineAction::Kind::kReceive:
        receive(action.step);
        break;
    }
  }
  optimizer();
  return program_;
}

void StageWriter::send(PipelineStep step) {
  const std::uint32_t to = slot(is_forward(step) ? SlotUse::kForwardOut : SlotUse::kBackwardOut);
  builder_.add_send(program_, to, message(), step.micro_batch, prefix_of(step) + "send", only({data_}));
}

void StageWriter::receive(PipelineStep step) {
  const std::uint32_t from = slot(is_forward(step) ? SlotUse::kForwardIn : SlotUse::kBackwardIn);
  input_ = builder_.add_receive(program_, from, message(), step.micro_batch, prefix_of(step) + "receive", only({data_}));
}

void StageWriter::pass(PipelineStep step) {
  const std::string prefix = prefix_of(step);
  const std::size_t count = units_.size();
  const auto unit = [&](std::size_t i) -> const Unit& { return units_[is_forward(step) ? i : count - 1 - i]; };
  issued_ = data_;  // the first weights are asked for when the pass before has its result, and has posted the send of it
  data_ = input_;
  input_ = TaskId::none();
  TaskId next_gathered = sharded() ? gather(unit(0), prefix) : TaskId::none();
  for (std::size_t i = 0; i < count; ++i) {
    gathered_ = next_gathered;
    // One unit ahead: asked for when the present unit can begin, that is when the one before it has computed.
    next_gathered = sharded() && i + 1 < count ? gather(unit(i + 1), prefix) : TaskId::none();
    if (is_forward(step)) {
      forward(unit(i), prefix);
    } else {
      backward(unit(i), prefix);
      reduce_gradients(unit(i), prefix, step.micro_batch);
    }
  }
}

void StageWriter::forward(const Unit& unit, const std::string& prefix) {
  const std::string name = prefix + unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      compute(cost_.embedding.forward, name);
      leave(name);
      break;
    case Unit::Kind::kLayer:
      sharded_part(cost_.attention.forward, name + ".attention");
      sharded_part(cost_.mlp.forward, name + ".mlp");
      break;
    case Unit::Kind::kHead:
      enter(name);
      compute(cost_.head.forward, name);
      break;
  }
}

void StageWriter::backward(const Unit& unit, const std::string& prefix) {
  const std::string name = prefix + unit.name;
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      enter(name);
      compute(cost_.embedding.backward, name);
      break;
    case Unit::Kind::kLayer:
      if (spec_.recompute == Recompute::kFull) forward(unit, prefix + "again.");
      sharded_part(cost_.mlp.backward, name + ".mlp");
      sharded_part(cost_.attention.backward, name + ".attention");
      break;
    case Unit::Kind::kHead:
      compute(cost_.head.backward, name);
      leave(name);
      break;
  }
}

// Megatron's pairs of operators: with sequence parallelism a part begins with an all-gather and ends with a
// reduce-scatter, forward and backward alike; without it, it ends with an all-reduce (arXiv 2205.05198, section 4.2).
void StageWriter::sharded_part(const Work& work, const std::string& part) {
  enter(part);
  compute(work, part);
  leave(part);
}

void StageWriter::enter(const std::string& part) {
  if (spec_.sequence_parallel) exchange(CollectiveOp::kAllGather, cost_.activation_shard, part);
}

void StageWriter::leave(const std::string& part) {
  exchange(spec_.sequence_parallel ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce, cost_.activation, part);
}

void StageWriter::exchange(CollectiveOp op, Bytes size, const std::string& part) {
  if (!has(SlotUse::kTensor)) return;
  const std::string task = part + "." + std::string(name(op));
  data_ = builder_.add_collective(program_, slot(SlotUse::kTensor), op, size, task, only({data_}));
}

void StageWriter::compute(const Work& work, const std::string& task) {
  const auto after = only({last_compute_, data_, gathered_});
  last_compute_ = builder_.add_compute(program_, work.flops, work.memory, task, after);
  data_ = last_compute_;
  issued_ = last_compute_;
  gathered_ = TaskId::none();  // whatever follows in this unit waits for this task
}

TaskId StageWriter::gather(const Unit& unit, const std::string& prefix) {
  const Bytes size{shard_of(unit) * spec_.parameter_bytes};
  return builder_.add_collective(program_, slot(SlotUse::kData), CollectiveOp::kAllGather, size,
                                 prefix + unit.name + ".weights.all_gather", only({issued_}));
}

void StageWriter::reduce_gradients(const Unit& unit, const std::string& prefix, std::uint32_t micro_batch) {
  if (!has(SlotUse::kData)) return;
  const bool last = micro_batch + 1 == spec_.micro_batches();
  if (!sharded() && !last) return;
  const CollectiveOp op = sharded() ? CollectiveOp::kReduceScatter : CollectiveOp::kAllReduce;
  const std::int64_t elements = sharded() ? shard_of(unit) * spec_.parallelism.dp : unit.parameters;
  gradients_.push_back(builder_.add_collective(program_, slot(SlotUse::kData), op, {elements * spec_.gradient_bytes},
                                               prefix + unit.name + ".gradients." + std::string(name(op)),
                                               only({last_compute_})));
}

void StageWriter::optimizer() {
  std::int64_t parameters = 0;
  for (const Unit& unit : units_) parameters += shard_of(unit);
  const Work work = optimizer_work(spec_, parameters);
  gradients_.push_back(last_compute_);
  builder_.add_compute(program_, work.flops, work.memory, "optimizer", gradients_);
}

}  // namespace

std::vector<SlotUse> stage_slots(const ParallelismSpec& parallelism, std::uint32_t stage) {
  std::vector<SlotUse> slots;
  if (parallelism.tp > 1) slots.push_back(SlotUse::kTensor);
  if (parallelism.dp > 1) slots.push_back(SlotUse::kData);
  if (stage > 0) slots.insert(slots.end(), {SlotUse::kForwardIn, SlotUse::kBackwardOut});
  if (stage + 1 < parallelism.pp) slots.insert(slots.end(), {SlotUse::kForwardOut, SlotUse::kBackwardIn});
  return slots;
}

LayerRange stage_layers(std::uint32_t layers, std::uint32_t stages, std::uint32_t stage) {
  const std::uint32_t each = layers / stages;
  const std::uint32_t extra = layers % stages;
  return {stage * each + std::min(stage, extra), each + (stage < extra ? 1 : 0)};
}

ProgramId write_stage_program(TaskGraphBuilder& builder, const TrainingSpec& spec, std::uint32_t stage,
                              const std::vector<PipelineAction>& actions) {
  return StageWriter(builder, spec, stage).write(actions);
}

}  // namespace photonrail
