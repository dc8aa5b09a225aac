// A lower bound on the steady step of a training job, whatever its rails and controllers do.
//
// A rank computes one task at a time, and in the order of its program, so that a pass takes at least the longest path of
// the program through its computations and its collectives, each with the bytes that a member cannot do without at the
// fastest rate that it could have. A step has such a pass for each micro-batch and chunk of the rank. A stage has at least
// floor(layers / stages) layers. Where backward passes are whole a rank waits, between two of its steps, until the last
// micro-batch has come back through the first stage and the first one of the next step has come up to it: the last stage's
// passes and those of one micro-batch on the first chunks of all stages before it lie on that way one after another. A
// split backward pass (zero bubble) hands gradients on before it is complete, so that only the rank's own passes count.
//
// The bound leaves out messages between stages and data-parallel traffic, the optimizer, and models whose layers differ
// (there it is 0 with several stages).
#include "photonrail/error.hpp"
#include "photonrail/study/plan.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace photonrail {

namespace {

bool has_equal_layers(const ModelSpec& model) {
  return !model.moe && !model.mamba && model.pattern.empty() && (model.window == 0 || model.window_every == 1);
}

bool hands_on_complete_gradients(PipelineSchedule schedule) {
  return schedule != PipelineSchedule::kZeroBubbleH1 && schedule != PipelineSchedule::kZeroBubbleH2 &&
         schedule != PipelineSchedule::kDualPipe;
}

/// What a member of the call has to send or to receive at least: shards of others, and sums of what others have.
Bytes least_bytes(const Task& task, std::size_t members) {
  const auto n = static_cast<std::int64_t>(members);
  const std::int64_t size = task.size().count;
  switch (task.op) {
    case CollectiveOp::kAllReduce:
      return {size};
    case CollectiveOp::kAllGather:
      return {size * (n - 1)};
    case CollectiveOp::kReduceScatter:
      return {size / n * (n - 1)};
    case CollectiveOp::kAllToAll:
      return task.demand() == 0 ? Bytes{size / n * (n - 1)} : Bytes{};
    default:
      return {};
  }
}

/// The longest path through the program of rank 0.
class ProgramPath {
 public:
  ProgramPath(const TaskGraph& graph, const ClusterSpec& cluster, Bandwidth tensor_rate)
      : graph_(graph), cluster_(cluster), tensor_rate_(tensor_rate) {}

  [[nodiscard]] Duration longest() const {
    const Program& program = graph_.program(RankId{0});
    const std::span<const Task> tasks = program.tasks();
    std::vector<Duration> begins(tasks.size());
    std::vector<std::uint32_t> waits;
    std::vector<TaskId> ready;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      waits.push_back(tasks[t].waits);
      if (tasks[t].waits == 0) ready.emplace_back(t);
    }
    Duration longest{};
    while (!ready.empty()) {
      const TaskId task = ready.back();
      ready.pop_back();
      const Duration end = begins[task.index()] + least(tasks[task.index()]);
      longest = std::max(longest, end);
      for (const TaskId next : program.successors(task)) {
        begins[next.index()] = std::max(begins[next.index()], end);
        if (--waits[next.index()] == 0) ready.push_back(next);
      }
    }
    return longest;
  }

 private:
  [[nodiscard]] Duration least(const Task& task) const {
    if (task.kind == TaskKind::kCompute) {
      if (task.stream != Stream::kGpu || task.demand() != 0) return {};
      return task.time() ? *task.time() : cluster_.gpu.compute_time(task.flops, task.memory());
    }
    if (task.kind != TaskKind::kCollective) return {};
    const Communicator& group = graph_.communicators()[graph_.communicator(RankId{0}, task.slot).index()];
    const bool tensor = group.dimension == Dimension::kTp;
    const Bandwidth any{cluster_.scale_up.of_gpu().bytes_per_second +
                        cluster_.nic.per_port.bytes_per_second * cluster_.nic.ports};
    return transfer_time(least_bytes(task, group.members.size()), tensor ? tensor_rate_ : any);
  }

  const TaskGraph& graph_;
  const ClusterSpec& cluster_;
  Bandwidth tensor_rate_;
};

std::uint32_t least_layers(const TrainingSpec& spec) {
  if (!spec.stage_layers.empty()) return *std::min_element(spec.stage_layers.begin(), spec.stage_layers.end());
  const std::uint32_t stages = spec.parallelism.pp * spec.parallelism.virtual_stages;
  const std::uint32_t places = spec.model.layers / stages;
  return spec.ends_count_as_layers && places > 0 ? places - 1 : places;
}

}  // namespace

// What a further micro-batch adds to a step of one: without the optimizer, and what else happens once.
Duration StepBound::micro_batch(TrainingSpec spec) {
  ParallelismSpec& p = spec.parallelism;
  p = {.tp = p.tp, .dp = p.ep, .cp = p.cp, .ep = p.ep, .etp = p.etp};
  spec.schedule = PipelineSchedule::kOneFOneB;
  spec.stage_layers.clear();
  spec.ends_count_as_layers = false;
  spec.overlap.experts = false;
  spec.bucket = {};
  std::string key;
  for (const std::uint32_t part : {spec.model.layers, p.tp, p.cp, p.ep, p.etp, spec.micro_batch,
                                   static_cast<std::uint32_t>(spec.recompute), std::uint32_t{spec.sequence_parallel}})
    key += std::to_string(part) + ",";
  const auto [at, fresh] = known_.try_emplace(key);
  if (!fresh) return at->second;
  // Ranks of a tensor-parallel group are neighbours where it is the innermost dimension.
  const bool in_server = spec.order.front() == "tp" && cluster_.gpus_per_server % p.tp == 0;
  const double others = cluster_.nic.per_port.bytes_per_second * cluster_.nic.ports;
  const Bandwidth tensor{cluster_.scale_up.of_gpu().bytes_per_second + (in_server ? 0.0 : others)};
  std::array<Duration, 2> steps{};
  for (std::uint32_t m = 1; m <= 2; ++m) {
    spec.global_batch = m * spec.micro_batch * p.dp;
    try {
      steps[m - 1] = ProgramPath(make_training_graph(spec), cluster_, tensor).longest();
    } catch (const ConfigError&) {
      return at->second = {};
    }
  }
  return at->second = std::max(Duration{}, steps[1] - steps[0]);
}

Duration StepBound::of(const TrainingSpec& spec) {
  if (!spec.operators_of_ranks.empty()) return {};
  const ParallelismSpec& p = spec.parallelism;
  const std::int64_t batches = spec.micro_batches();
  if (p.pp == 1 && p.virtual_stages == 1) return micro_batch(spec) * batches;
  if (!has_equal_layers(spec.model)) return {};
  TrainingSpec one = spec;
  one.model.layers = 1;
  TrainingSpec two = spec;
  two.model.layers = 2;
  const Duration chunk = (micro_batch(two) - micro_batch(one)) * least_layers(spec);
  const std::int64_t before = hands_on_complete_gradients(spec.schedule) ? p.pp - 1 : 0;
  return chunk * (batches * p.virtual_stages + before);
}

}  // namespace photonrail
