// One training step of a decoder-only transformer as a task graph: tensor parallelism as in Megatron-LM (Shoeybi et al.,
// arXiv 1909.08053; with sequence parallelism Korthikanti et al., arXiv 2205.05198), ring attention over the sequence (Liu
// et al., arXiv 2310.01889), experts behind all-to-alls (Lepikhin et al., arXiv 2006.16668), pipeline schedules of
// pipeline.hpp, data parallelism plain, with a sharded optimizer (Rajbhandari et al., arXiv 1910.02054) or fully sharded
// (Zhao et al., arXiv 2304.11277). FLOPs and memory traffic: layer_cost.hpp.
//
// Layers are split as evenly as they go; where they do not divide, the first stages have one more. The embedding is on
// the first stage, the output head and the loss on the last. An FSDP unit is a layer, the embedding, or the head; its
// shards are padded to the same number of parameters. Every unit is gathered for each forward and each backward pass, some
// units ahead within a pass (the first gathers of a pass wait for the end of the pass before it); its gradients are
// reduce-scattered after each backward pass. Replicas reduce gradients in the last backward pass only. Where tp exceeds the
// KV heads, they are repeated. A stage posts its messages when a pass has its result.
//
// Leaves out: overlap of a tensor-parallel exchange with the compute next to it, and the second all-gather of an input that
// arXiv 2205.05198 stores in shards; the all-reduces of the vocabulary-parallel loss, of norm gradients under sequence
// parallelism, of latent projections and routers, and of repeated KV heads; the loss and its imbalance terms; dropout, data
// loading and check-points; prediction of several tokens.
#include "photonrail/training.hpp"

#include "photonrail/error.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/forward_pass.hpp"
#include "workload/training/rank_grid.hpp"
#include "workload/training/stage_slots.hpp"
#include "workload/training/stage_writer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace photonrail {

using workload::context_ring;
using workload::dimension_of;
using workload::group_name;
using workload::group_shape;
using workload::GroupShape;
using workload::is_link;
using workload::PipelineAction;
using workload::RankGrid;
using workload::SlotUse;
using workload::stage_slots;

namespace {

/// The communicators of groups: by slot use and grid position.
class Groups {
 public:
  Groups(TaskGraphBuilder& builder, const TrainingSpec& spec, const RankGrid& grid) : builder_(builder), grid_(grid) {
    of_.resize(static_cast<std::size_t>(SlotUse::kContextOut));
    for (std::size_t u = 0; u < of_.size(); ++u) add(spec, static_cast<SlotUse>(u));
  }

  [[nodiscard]] CommunicatorId at(SlotUse use, std::uint32_t position) const {
    return of_[static_cast<std::size_t>(use)][position];
  }

 private:
  struct Group {
    std::vector<RankId> ranks;  // ascending
    std::vector<std::uint32_t> positions;
  };

  void add(const TrainingSpec& spec, SlotUse use) {
    std::vector<Group> groups;
    for (std::uint32_t stage = 0; stage < spec.parallelism.pp; ++stage) {
      const auto slots = stage_slots(spec, stage);
      if (std::find(slots.begin(), slots.end(), use) != slots.end()) collect(spec, stage, use, groups);
    }
    if (groups.empty()) return;
    // Numbered by their lowest rank.
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.ranks.front() < b.ranks.front(); });
    auto& of = of_[static_cast<std::size_t>(use)];
    of.assign(grid_.positions(), CommunicatorId::none());
    std::uint32_t number = 0;
    for (Group& group : groups) {
      const CommunicatorId id = builder_.add_communicator(std::string(group_name(use)) + "." + std::to_string(number++),
                                                          std::move(group.ranks), dimension_of(use));
      for (const std::uint32_t position : group.positions) of[position] = id;
    }
  }

  void collect(const TrainingSpec& spec, std::uint32_t stage, SlotUse use, std::vector<Group>& groups) const {
    const GroupShape shape = group_shape(spec, stage, use);
    const std::uint32_t size = grid_.stage_size();
    for (std::uint32_t position = stage * size; position < (stage + 1) * size; ++position) {
      if (!RankGrid::is_base(shape, position)) continue;
      const bool second_half = shape.outer_extent > 1 && 2 * stage >= spec.parallelism.pp;
      if (second_half) continue;
      Group group{{}, RankGrid::members(shape, position)};
      for (const std::uint32_t member : group.positions) group.ranks.push_back(grid_.rank(member));
      std::sort(group.ranks.begin(), group.ranks.end());
      groups.push_back(std::move(group));
    }
  }

  TaskGraphBuilder& builder_;
  const RankGrid& grid_;
  std::vector<std::vector<CommunicatorId>> of_;
};

/// The programs of the stages: of each one for every kind of operators that its ranks have.
class Programs {
 public:
  /// All must outlive the object.
  Programs(TaskGraphBuilder& builder, const TrainingSpec& spec, const RankGrid& grid, const MoeTraffic* experts)
      : builder_(builder), spec_(spec), of_kind_(spec), grid_(grid), experts_(experts), of_position_(grid.positions()) {
    of_kind_.operators_of_ranks.clear();
  }

  void write(std::uint32_t stage, const std::vector<PipelineAction>& actions) {
    const std::uint32_t size = grid_.stage_size();
    std::vector<std::pair<Operators, std::vector<std::uint32_t>>> kinds;  // with their positions
    for (std::uint32_t position = stage * size; position < (stage + 1) * size; ++position) {
      const Operators& own = operators_at(position);
      const auto same = [&](const auto& kind) { return kind.first == own; };
      auto kind = std::find_if(kinds.begin(), kinds.end(), same);
      if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {own, {}});
      kind->second.push_back(position);
    }
    for (const auto& [operators, positions] : kinds) {
      of_kind_.operators = operators;
      check_precision();
      workload::StageWriter writer(builder_, of_kind_, stage, experts_, workload::StageWriter::kMaxTasks / kinds.size());
      const ProgramId program = writer.write(actions);
      for (const std::uint32_t position : positions) of_position_[position] = program;
      if (operators) note(writer.used_operators(), static_cast<double>(positions.size()) / size);
    }
  }

  [[nodiscard]] ProgramId at(std::uint32_t position) const { return of_position_[position]; }
  [[nodiscard]] const std::vector<std::vector<OperatorUse>>& used() const { return used_; }

 private:
  using Operators = std::shared_ptr<const TrainingOperators>;

  [[nodiscard]] const Operators& operators_at(std::uint32_t position) const {
    if (spec_.operators_of_ranks.empty()) return spec_.operators;
    const Operators& own = spec_.operators_of_ranks[grid_.rank(position).index()];
    return own ? own : spec_.operators;
  }

  void check_precision() {
    if (!of_kind_.operators) return;
    const TrainingOperators& how = *of_kind_.operators;
    check_precision(how, how.precision);
    for (const auto& [name, precision] : how.mixed.products) check_precision(how, precision);
  }

  void check_precision(const TrainingOperators& how, OperatorPrecision precision) {
    const OperatorPrecision there = how.times.device().available(precision);
    if (there == precision) return;
    const std::string line = (how.gpu.empty() ? "the GPU" : "a GPU (" + how.gpu + ")") + " has no " +
                             std::string(to_string(precision)) + ": its products are timed in " +
                             std::string(to_string(there)) + ", without casts";
    if (std::find(warned_.begin(), warned_.end(), line) != warned_.end()) return;
    builder_.warn(line);
    warned_.push_back(line);
  }

  // The writer counts for all GPUs of the stage.
  void note(std::vector<OperatorUse> uses, double share) {
    const std::string& gpu = of_kind_.operators->gpu;
    for (OperatorUse& use : uses) {
      use.times *= share;
      use.seconds *= share;
      if (!gpu.empty()) use.name += " on " + gpu;
    }
    used_.push_back(std::move(uses));
  }

  TaskGraphBuilder& builder_;
  const TrainingSpec& spec_;
  TrainingSpec of_kind_;  // the same with the operators of the program that is written
  const RankGrid& grid_;
  const MoeTraffic* experts_;
  std::vector<ProgramId> of_position_;
  std::vector<std::vector<OperatorUse>> used_;  // by program
  std::vector<std::string> warned_;
};

CommunicatorId link(TaskGraphBuilder& builder, const TrainingSpec& spec, const RankGrid& grid, std::uint32_t position,
                    SlotUse use) {
  const ParallelismSpec& p = spec.parallelism;
  const GroupShape stages{grid.stage_size(), p.pp};
  const RankId here = grid.rank(position);
  const auto peer = [&](const GroupShape& ring, std::uint32_t steps) {
    return grid.rank(RankGrid::along(ring, position, steps));
  };
  switch (use) {
    case SlotUse::kContextOut:
      return builder.link(here, peer(context_ring(p), 1), Dimension::kCp);
    case SlotUse::kContextIn:
      return builder.link(peer(context_ring(p), p.cp - 1), here, Dimension::kCp);
    case SlotUse::kToNext:
      return builder.link(here, peer(stages, 1), Dimension::kPp);
    case SlotUse::kFromNext:
      return builder.link(peer(stages, 1), here, Dimension::kPp);
    case SlotUse::kToPrevious:
      return builder.link(here, peer(stages, p.pp - 1), Dimension::kPp);
    case SlotUse::kFromPrevious:
      return builder.link(peer(stages, p.pp - 1), here, Dimension::kPp);
    default:
      fail_check("a link", __FILE__, __LINE__);
  }
}

}  // namespace

namespace {

using Actions = std::vector<std::vector<PipelineAction>>;  // by stage

TaskGraph write_graph(const TrainingSpec& spec, const Actions& actions, std::vector<std::vector<OperatorUse>>& used) {
  const std::uint32_t ranks = spec.parallelism.ranks();
  const RankGrid grid(spec);
  TaskGraphBuilder builder(ranks);
  const Groups groups(builder, spec, grid);

  std::shared_ptr<const MoeTraffic> experts;
  if (spec.moe && spec.model.moe && spec.parallelism.ep > 1) {
    experts = std::make_shared<const MoeTraffic>(spec.expert_traffic());
    builder.set_demands(experts);
  }

  Programs programs(builder, spec, grid, experts.get());
  for (std::uint32_t s = 0; s < spec.parallelism.pp; ++s) programs.write(s, actions[s]);
  used = programs.used();

  std::vector<std::pair<RankId, std::uint32_t>> in_order;
  for (std::uint32_t position = 0; position < ranks; ++position) in_order.emplace_back(grid.rank(position), position);
  std::sort(in_order.begin(), in_order.end());
  std::vector<std::vector<SlotUse>> uses_of_stage;
  for (std::uint32_t s = 0; s < spec.parallelism.pp; ++s) uses_of_stage.push_back(stage_slots(spec, s));
  for (const auto& [rank, position] : in_order) {
    const std::uint32_t stage = grid.stage(position);
    std::vector<CommunicatorId> slots;
    slots.reserve(uses_of_stage[stage].size());
    for (const SlotUse use : uses_of_stage[stage]) {
      slots.push_back(is_link(use) ? link(builder, spec, grid, position, use) : groups.at(use, position));
    }
    builder.assign(rank, programs.at(position), std::move(slots));
  }
  return std::move(builder).build();
}

}  // namespace

TaskGraph make_training_graph(const TrainingSpec& spec) { return make_training_step(spec).graph; }

TrainingStep make_training_step(const TrainingSpec& spec) {
  TrainingWork work = training_work(spec);
  std::vector<std::vector<OperatorUse>> used;
  TaskGraph graph = write_graph(spec, workload::pipeline_actions(spec.pipeline()), used);
  if (spec.operators) work.operators = std::make_shared<const OperatorUsage>(workload::total_usage(used));
  return {std::move(graph), std::move(work)};
}

// A part of an order that ends is one, too: forward passes wait for none of the others.
TaskGraph workload::make_forward_graph(const TrainingSpec& spec) {
  spec.validate();
  Actions actions = pipeline_actions(spec.pipeline());
  for (std::vector<PipelineAction>& of_stage : actions) {
    std::erase_if(of_stage, [](const PipelineAction& action) { return action.step.kind != PassKind::kForward; });
    for (PipelineAction& action : of_stage) action.step.overlaps_next = false;
  }
  std::vector<std::vector<OperatorUse>> used;
  return write_graph(spec, actions, used);
}

}  // namespace photonrail
