#include "sim/operation.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

Operations::Operations(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank, Fabric& fabric, PlanCache& plans)
    : graph_(graph), fabric_(fabric), plans_(plans), open_(graph.communicators().size()) {
  gpu_offsets_.push_back(0);
  for (const Communicator& communicator : graph.communicators()) {
    bool crosses = false;
    for (const RankId rank : communicator.members) {
      gpus_.push_back(gpu_of_rank[rank.index()]);
      servers_.push_back(fabric.plant().server_of(gpus_.back()));
      crosses = crosses || fabric.crossing(gpus_[gpu_offsets_.back()], gpus_.back()).has_value();
    }
    gpu_offsets_.push_back(static_cast<std::uint32_t>(gpus_.size()));
    crosses_.push_back(crosses);
  }
  if (plans.spec().straggler == StragglerChoice::kPredicted) came_last_.resize(graph.communicators().size());
}

Seat Operations::seat(RankId rank, const Task& task, std::uint32_t iteration) {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return {find_or_make({communicator, task.tag, task.match, iteration}, task), member_of(communicator, rank, task)};
}

Member Operations::member_of(CommunicatorId communicator, RankId rank, const Task& task) const {
  const Communicator& group = graph_.communicators()[communicator.index()];
  if (group.point_to_point) return task.kind == TaskKind::kSend ? 0 : 1;
  const auto found = std::lower_bound(group.members.begin(), group.members.end(), rank);
  PHOTONRAIL_CHECK(found != group.members.end() && *found == rank);
  return static_cast<Member>(found - group.members.begin());
}

double Operations::flops(RankId rank, const Task& task, std::uint32_t iteration) const {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return plans_.flops({communicator, task.demand(), iteration}, member_of(communicator, rank, task));
}

OpId Operations::find_or_make(const OperationKey& key, const Task& task) {
  std::vector<OpId>& open = open_[key.communicator.index()];
  for (const OpId id : open) {
    if (pool_[id].key == key) return id;
  }
  OpId id;
  if (free_.empty()) {
    id = static_cast<OpId>(pool_.size());
    pool_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  open.push_back(id);
  const std::uint32_t first = gpu_offsets_[key.communicator.index()];
  const std::uint32_t last = gpu_offsets_[key.communicator.index() + 1];
  Operation& op = pool_[id];
  op.state = Operation::State::kGathering;
  op.key = key;
  op.sequence = next_sequence_++;
  op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
  op.communicator = &graph_.communicators()[key.communicator.index()];
  op.gpus = {gpus_.data() + first, gpus_.data() + last};
  op.demand = task.demand();
  const Member root = op.demand == 0 ? task.root : 0;
  op.call = {.op = op.op, .members = op.members(), .size = {task.amount}, .root = root};
  op.runnable = plan_for(op);
  op.crosses = crosses_[key.communicator.index()];
  op.optical = op.crosses && fabric_.optical();
  op.tasks.assign(op.members(), TaskId::none());
  op.arrived = 0;
  op.needed = op.members() - (op.runnable != nullptr ? op.runnable->late : 1);
  op.sender_done = false;
  op.cause = {};
  return id;
}

const RunnablePlan* Operations::plan_for(const Operation& op) {
  if (op.demand != 0) {
    const std::uint32_t* servers = servers_.data() + gpu_offsets_[op.key.communicator.index()];
    return &plans_.take(op.call, op.demand_query(), {servers, op.members()});
  }
  CollectiveCall call = op.call;
  if (plans_.expects_straggler(op.op)) {
    call.straggler = expected_straggler(op.key.communicator);
    if (!call.straggler) return nullptr;
  }
  return &plans_.get(call);
}

std::optional<Member> Operations::expected_straggler(CommunicatorId communicator) const {
  const CollectiveSpec& spec = plans_.spec();
  if (spec.straggler == StragglerChoice::kPredicted) return came_last_[communicator.index()];
  if (spec.straggler == StragglerChoice::kEager) return std::nullopt;
  const std::vector<RankId>& members = graph_.communicators()[communicator.index()].members;
  const auto found = std::lower_bound(members.begin(), members.end(), spec.straggler_rank);
  if (found == members.end() || *found != spec.straggler_rank) return std::nullopt;
  return static_cast<Member>(found - members.begin());
}

void Operations::settle_straggler(OpId id) {
  Operation& op = pool_[id];
  PHOTONRAIL_CHECK(op.runnable == nullptr && op.arrived + 1 == op.members());
  CollectiveCall call = op.call;
  call.straggler = static_cast<Member>(std::find(op.tasks.begin(), op.tasks.end(), TaskId::none()) - op.tasks.begin());
  op.runnable = &plans_.get(call);
  op.needed = op.starts_without(*call.straggler) ? 0 : 1;
}

void Operations::came_last(OpId id, Member member) {
  if (!came_last_.empty()) came_last_[pool_[id].key.communicator.index()] = member;
}

void Operations::retire(OpId id) {
  Operation& op = pool_[id];
  std::erase(open_[op.key.communicator.index()], id);
  op.state = Operation::State::kFree;
  if (op.demand != 0) plans_.give_back(op.demand_query());
  op.links.clear();
  op.rounds.clear();
  PHOTONRAIL_CHECK(op.demands.empty());
  free_.push_back(id);
}

std::vector<OpId> Operations::live() const {
  std::vector<OpId> ids;
  for (OpId id = 0; id < pool_.size(); ++id) {
    if (pool_[id].state != Operation::State::kFree) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [this](OpId a, OpId b) { return pool_[a].sequence < pool_[b].sequence; });
  return ids;
}

}  // namespace photonrail
