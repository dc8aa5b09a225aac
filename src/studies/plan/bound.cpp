// A lower bound on the steady step of a training job, whatever its rails and controllers do.
//
// A rank computes one task at a time, and in the order of its program, so that a pass takes at least the longest path of
// the program through its computations and its collectives, each with the bytes that a member cannot do without at the
// fastest rate that it could have. A step has such a pass for each micro-batch and chunk of the rank. Where backward passes
// are whole a rank waits, between two of its steps, until the last micro-batch has come back through the first stage and
// the first one of the next step has come up to it: the passes of one micro-batch on the first chunks of all stages before
// it lie on that way. A split backward pass (zero bubble) hands gradients on before it is complete, so that only the rank's
// own passes count; of passes that run in pairs only the computations do.
//
// of() looks at passes alone, layer by layer, and is quick; closer() at whole programs of one and of two micro-batches,
// with messages, gathers and reductions of data parallelism and the optimizer: what a further micro-batch adds is their
// difference, since all that a micro-batch does on a rank waits for the last computation of the one before.
#include "studies/plan/bound.hpp"

#include "photonrail/error.hpp"
#include "studies/plan/pipeline_path.hpp"
#include "studies/plan/program_path.hpp"
#include "workload/pipeline/actions.hpp"
#include "workload/pipeline/order.hpp"
#include "workload/training/rank_grid.hpp"
#include "workload/training/stage_units.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::plan {

namespace {

using workload::PipelineAction;

bool has_equal_layers(const ModelSpec& model) {
  return !model.moe && !model.mamba && model.pattern.empty() && (model.window == 0 || model.window_every == 1);
}

bool hands_on_complete_gradients(PipelineSchedule schedule) {
  return schedule != PipelineSchedule::kZeroBubbleH1 && schedule != PipelineSchedule::kZeroBubbleH2 &&
         schedule != PipelineSchedule::kDualPipe;
}

bool runs_in_pairs(const TrainingSpec& spec) {
  return spec.overlap.experts || spec.schedule == PipelineSchedule::kDualPipe;
}

/// The job with another number of micro-batches. Its passes are in the order of the schedule, or, of several chunks, in one
/// that all numbers of micro-batches have.
TrainingSpec with_micro_batches(TrainingSpec spec, std::uint32_t count) {
  spec.global_batch = count * spec.micro_batch * spec.parallelism.dp;
  if (spec.parallelism.virtual_stages > 1) {
    spec.schedule = PipelineSchedule::kBreadthFirst;
  } else if (spec.schedule != PipelineSchedule::kGPipe && spec.schedule != PipelineSchedule::kBreadthFirst) {
    spec.schedule = PipelineSchedule::kOneFOneB;
  }
  return spec;
}

/// Returns true when each message is received between the pass before the one that needs it and that pass.
bool receives_in_turn(const PipelineShape& shape, std::uint32_t stage, std::span<const PipelineAction> actions) {
  const PipelineAction* received = nullptr;
  for (const PipelineAction& action : actions) {
    if (action.kind == PipelineAction::Kind::kSend) continue;
    if (action.kind == PipelineAction::Kind::kReceive) {
      if (received != nullptr) return false;
      received = &action;
      continue;
    }
    if (received == nullptr) continue;
    const auto input = workload::input_of(shape, stage, action.step);
    const std::uint32_t from = shape.virtual_stage({received->peer, received->step.chunk});
    if (!input || input->virtual_stage != from || action.step.micro_batch != received->step.micro_batch) return false;
    received = nullptr;
  }
  return true;
}

/// Returns, by stage, true where its rank posts each receive when the pass before the one that needs it is done. Later
/// micro-batches of 1F1B repeat what those of a few rounds of the pipeline do.
std::vector<bool> posts_in_turn(PipelineShape shape, const PipelineShape& one, const PipelineShape& two) {
  constexpr std::uint32_t kRounds = 6;
  std::vector<bool> in_turn(shape.stages, shape.chunks == 1);
  if (shape.chunks > 1) return in_turn;
  if (shape.schedule == PipelineSchedule::kOneFOneB)
    shape.micro_batches = std::min(shape.micro_batches, kRounds * shape.stages);
  for (const PipelineShape& of : {shape, one, two}) {
    const auto actions = workload::pipeline_actions(of);
    for (std::uint32_t s = 0; s < shape.stages; ++s) in_turn[s] = in_turn[s] && receives_in_turn(of, s, actions[s]);
  }
  return in_turn;
}

Duration computations(const Program& program, const GpuSpec& gpu) {
  Duration sum{};
  for (const Task& task : program.tasks()) {
    if (task.kind != TaskKind::kCompute || task.stream != Stream::kGpu || task.demand() != 0) continue;
    sum += task.time() ? *task.time() : gpu.compute_time(task.flops, task.memory());
  }
  return sum;
}

/// Times of one micro-batch on a virtual stage, forward and backward.
struct Chunk {
  Duration core{};     ///< from its first computation to its last
  Duration through{};  ///< from message to message
};

// Between two computations lie the exchanges at the end of a layer and the begin of the next; not those at both ends.
Chunk chunk_of(std::span<const LayerPass> layers, std::uint32_t of_model, workload::LayerRange range) {
  const auto at = [&](std::uint32_t layer) {
    if (layers.size() == of_model || layer == 0) return layers[layer];
    return layer + 1 == of_model ? layers.back() : layers[1];
  };
  if (range.count == 0) return {};
  const std::uint32_t last = range.first + range.count - 1;
  Chunk chunk;
  for (std::uint32_t l = range.first; l <= last; ++l) chunk.through += at(l).through;
  const LayerPass begin = at(range.first);
  const LayerPass end = at(last);
  chunk.core = chunk.through - (begin.through - begin.core) - (end.through - end.core);
  if (range.count == 1) chunk.core = begin.core;
  return chunk;
}

/// The least times of a stage with one micro-batch, and what each further one adds.
struct StageTimes {
  Duration step{};      ///< from the begin of the rank's step to its end
  Duration micro{};     ///< a further micro-batch
  Duration crossing{};  ///< of one micro-batch, from the message that brings it to the one that takes its gradients away
  Duration before{};    ///< of one micro-batch on its first chunk, both ways, as stages behind wait for it
  Duration nic{};       ///< its NIC's bytes
  Duration micro_nic{};
  Duration hop{};
};

StageTimes stage_times(const TaskGraph& one, const TaskGraph& two, RankId rank, bool first, const ClusterSpec& cluster,
                       const PathFacts& facts) {
  const ProgramPath path(one, rank, cluster, facts);
  const ProgramPath twice(two, rank, cluster, facts);
  StageTimes times;
  times.step = path.whole(true);
  times.micro = std::max(Duration{}, twice.whole(false) - path.whole(false));
  times.crossing = path.receive_to_last_send();
  times.before = first ? path.to_first_send() + path.last_receive_to_end()
                       : path.receive_to_first_send() + path.last_receive_to_last_send();
  times.nic = path.nic();
  times.micro_nic = std::max(Duration{}, twice.nic() - path.nic());
  times.hop = path.hop();
  return times;
}

}  // namespace

// By one-layer stages of one and of two micro-batches, without data parallelism. Where layers are equal three of them
// stand for the first, each one between, and the last.
const std::vector<LayerPass>& StepBound::layers(const TrainingSpec& of) {
  TrainingSpec spec = of;
  ParallelismSpec& p = spec.parallelism;
  const std::uint32_t stages = has_equal_layers(spec.model) ? std::min(3U, spec.model.layers) : spec.model.layers;
  const bool pairs = runs_in_pairs(of);
  std::string key;
  for (const std::uint32_t part : {p.tp, p.cp, p.ep, p.etp, spec.micro_batch, static_cast<std::uint32_t>(spec.recompute),
                                   std::uint32_t{spec.sequence_parallel}, std::uint32_t{pairs}})
    key += std::to_string(part) + ",";
  const auto [at, fresh] = known_.try_emplace(key);
  if (!fresh) return at->second;
  p = {.tp = p.tp, .pp = stages, .dp = p.ep, .cp = p.cp, .ep = p.ep, .etp = p.etp};
  spec.model.layers = stages;
  spec.stage_layers.clear();
  spec.ends_count_as_layers = false;
  spec.overlap.experts = false;
  spec.bucket = {};
  try {
    const TaskGraph one = make_training_graph(with_micro_batches(spec, 1));
    const TaskGraph two = make_training_graph(with_micro_batches(spec, 2));
    const workload::RankGrid grid(spec);
    for (std::uint32_t s = 0; s < stages; ++s) {
      const RankId rank = grid.rank(s * grid.stage_size());
      const StageTimes times = stage_times(one, two, rank, s == 0, cluster_, {facts_.in_order, false, false, facts_.rings});
      LayerPass pass{times.micro, std::max(times.micro, s == 0 ? Duration{} : times.crossing)};
      if (pairs) {
        pass.core = computations(two.program(rank), cluster_.gpu) - computations(one.program(rank), cluster_.gpu);
        pass.through = std::max(pass.through, pass.core);
      }
      at->second.push_back(pass);
    }
  } catch (const ConfigError&) {
    at->second.clear();
  }
  return at->second;
}

Duration StepBound::of(const TrainingSpec& spec) {
  if (!spec.operators_of_ranks.empty()) return {};
  const std::vector<LayerPass>& layers = this->layers(spec);
  if (layers.empty()) return {};
  const PipelineShape shape = spec.pipeline();
  const bool both_ways = shape.schedule == PipelineSchedule::kDualPipe;
  std::vector<Chunk> chunks;
  for (std::uint32_t k = 0; k < shape.virtual_stages(); ++k)
    chunks.push_back(chunk_of(layers, spec.model.layers, workload::part_layers(spec, k)));
  Duration longest{};
  Duration before{};
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    Duration own{};
    for (std::uint32_t c = 0; c < shape.chunks_held(); ++c) own += chunks[shape.virtual_stage({s, c})].core;
    own = own * std::int64_t{shape.micro_batches} / (both_ways ? 2 : 1);
    longest = std::max(longest, own + (hands_on_complete_gradients(shape.schedule) ? before : Duration{}));
    before += chunks[s].through;
  }
  return longest;
}

StepBound::StepBound(const ClusterSpec& cluster, const Facts& facts) : cluster_(cluster), facts_(facts) {
  if (!facts_.orders) facts_.orders = std::make_shared<PipelineOrders>();
}

Duration StepBound::closer(const TrainingSpec& spec) const {
  const PipelineShape shape = spec.pipeline();
  if (!spec.operators_of_ranks.empty() || runs_in_pairs(spec)) return {};
  if (!hands_on_complete_gradients(shape.schedule)) {
    TrainingSpec one = spec;
    one.global_batch = one.micro_batch * one.parallelism.dp;
    return by_passes(spec, make_training_graph(one));
  }
  const TaskGraph one = make_training_graph(with_micro_batches(spec, 1));
  return std::max(by_stages(spec, one), by_passes(spec, one));
}

Duration StepBound::by_passes(const TrainingSpec& spec, const TaskGraph& one) const {
  const PipelineShape shape = spec.pipeline();
  const workload::RankGrid grid(spec);
  std::vector<StagePasses> stages;
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    const RankId rank = grid.rank(s * grid.stage_size());
    const ProgramPath path(one, rank, cluster_,
                           {facts_.in_order, facts_.one_at_a_time, false, facts_.rings, facts_.switching});
    stages.push_back(path.passes(shape, s));
  }
  return pipeline_path(shape, *facts_.orders->of(shape), stages, facts_.switching);
}

Duration StepBound::by_stages(const TrainingSpec& spec, const TaskGraph& one) const {
  const PipelineShape shape = spec.pipeline();
  const TrainingSpec of_two = with_micro_batches(spec, 2);
  const TaskGraph two = make_training_graph(of_two);
  const std::vector<bool> in_turn = posts_in_turn(shape, with_micro_batches(spec, 1).pipeline(), of_two.pipeline());
  const workload::RankGrid grid(spec);
  const std::int64_t more = std::int64_t{shape.micro_batches} - 1;
  Duration longest{};
  Duration before{};
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    const PathFacts facts{facts_.in_order, facts_.one_at_a_time, in_turn[s], facts_.rings};
    const RankId rank = grid.rank(s * grid.stage_size());
    const StageTimes times = stage_times(one, two, rank, s == 0, cluster_, facts);
    longest = std::max({longest, times.step + times.micro * more, times.nic + times.micro_nic * more});
    if (s > 0) {
      before += times.hop * 2;
      longest = std::max(longest, before + times.crossing + times.micro * more);
    }
    before += times.before;
  }
  return longest;
}

}  // namespace photonrail::plan
