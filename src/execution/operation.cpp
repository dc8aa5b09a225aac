#include "execution/operation.hpp"

#include "photonrail/error.hpp"
#include "folding/folding.hpp"

#include <algorithm>

namespace photonrail {

MemberPlacement MemberPlacement::of(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank) {
  MemberPlacement roster;
  for (const Communicator& communicator : graph.communicators()) {
    for (const RankId rank : communicator.members) roster.gpus.push_back(gpu_of_rank[rank.index()]);
    roster.offsets.push_back(roster.gpus.size());
  }
  return roster;
}

OperationTable::OperationTable(const TaskGraph& graph, const MemberPlacement& roster, Fabric& fabric, PlanCache& plans)
    : graph_(graph), roster_(roster), fabric_(fabric), plans_(plans), open_(graph.communicators().size()) {
  for (std::size_t c = 0; c < graph.communicators().size(); ++c) {
    const std::span<const GpuId> group = gpus(CommunicatorId{c});
    crosses_.push_back(std::any_of(group.begin(), group.end(),
                                   [&](GpuId gpu) { return fabric.crossing(group.front(), gpu).has_value(); }));
    if (graph.demands() != nullptr) {
      for (const GpuId gpu : group) servers_.push_back(fabric.plant().server_of(gpu));
    }
    layouts_.push_back(plans.layout(group, fabric.plant().spec().gpus_per_server));
  }
  if (plans.spec().straggler == StragglerChoice::kPredicted) came_last_.resize(graph.communicators().size());
}

Seat OperationTable::seat(RankId rank, const Task& task, std::uint32_t iteration) {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return {find_or_make({communicator, task.tag, task.match, iteration}, task), member_of(communicator, rank, task)};
}

Member OperationTable::member_of(CommunicatorId communicator, RankId rank, const Task& task) const {
  const Communicator& group = graph_.communicators()[communicator.index()];
  if (group.point_to_point) return task.kind == TaskKind::kSend ? 0 : 1;
  if (!roster_.places.empty()) return roster_.places[rank.index()][task.slot];
  const auto found = std::lower_bound(group.members.begin(), group.members.end(), rank);
  PHOTONRAIL_CHECK(found != group.members.end() && *found == rank);
  return static_cast<Member>(found - group.members.begin());
}

double OperationTable::flops(RankId rank, const Task& task, std::uint32_t iteration) const {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return plans_.flops({communicator, task.demand(), iteration}, member_of(communicator, rank, task));
}

OpId OperationTable::find_or_make(const OperationKey& key, const Task& task) {
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
  Operation& op = pool_[id];
  op.state = Operation::State::kGathering;
  op.key = key;
  op.sequence = next_sequence_++;
  op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
  op.communicator = &graph_.communicators()[key.communicator.index()];
  op.gpus = gpus(key.communicator);
  op.ranks = static_cast<Member>(op.communicator->members.size());
  op.copies = roster_.copies.empty() ? 1 : roster_.copies[key.communicator.index()];
  op.demand = task.demand();
  const Member root = op.demand == 0 ? task.root : 0;
  op.call = {.op = op.op, .members = static_cast<Member>(op.gpus.size()), .size = {task.amount}, .root = root};
  op.runnable = plan_for(op);
  op.crosses = crosses_[key.communicator.index()];
  op.optical = op.crosses && fabric_.optical();
  op.tasks.assign(op.members(), TaskId::none());
  op.arrived = 0;
  op.needed = op.members() - (op.runnable != nullptr ? op.runnable->late : 1);
  op.sender_done = false;
  op.cause = {};
  op.expected = Time{};
  op.due = op.lane_due = Time::max();
  op.yielded = false;
  return id;
}

const RunnablePlan* OperationTable::plan_for(const Operation& op) {
  const LayoutId layout = layouts_[op.key.communicator.index()];
  if (op.demand != 0) {
    const std::uint32_t* servers = servers_.data() + roster_.offsets[op.key.communicator.index()];
    return &plans_.take(op.call, op.demand_query(), {servers, op.gpus.size()}, layout);
  }
  CollectiveCall call = op.call;
  if (plans_.expects_straggler(op.op)) {
    call.straggler = expected_straggler(op.key.communicator);
    if (!call.straggler) return nullptr;
  }
  const RunnablePlan& plan = plans_.get(call, layout, op.members());
  if (plan.late > 0 && fabric_.folded()) throw FoldingFailed{"an operation starts before all of its members are there"};
  return &plan;
}

std::optional<Member> OperationTable::expected_straggler(CommunicatorId communicator) const {
  const CollectiveSpec& spec = plans_.spec();
  if (spec.straggler == StragglerChoice::kPredicted) return came_last_[communicator.index()];
  if (spec.straggler == StragglerChoice::kEager) return std::nullopt;
  const std::vector<RankId>& members = graph_.communicators()[communicator.index()].members;
  const auto found = std::lower_bound(members.begin(), members.end(), spec.straggler_rank);
  if (found == members.end() || *found != spec.straggler_rank) return std::nullopt;
  return static_cast<Member>(found - members.begin());
}

void OperationTable::settle_straggler(OpId id) {
  Operation& op = pool_[id];
  PHOTONRAIL_CHECK(op.runnable == nullptr && op.arrived + 1 == op.members());
  CollectiveCall call = op.call;
  call.straggler = static_cast<Member>(std::find(op.tasks.begin(), op.tasks.end(), TaskId::none()) - op.tasks.begin());
  op.runnable = &plans_.get(call, layouts_[op.key.communicator.index()], op.members());
  op.needed = op.starts_without(*call.straggler) ? 0 : 1;
}

void OperationTable::record_last_arrival(OpId id, Member member) {
  if (!came_last_.empty()) came_last_[pool_[id].key.communicator.index()] = member;
}

void OperationTable::retire(OpId id) {
  Operation& op = pool_[id];
  std::erase(open_[op.key.communicator.index()], id);
  op.state = Operation::State::kFree;
  if (op.demand != 0) plans_.give_back(op.demand_query());
  op.links.clear();
  op.rounds.clear();
  PHOTONRAIL_CHECK(op.demands.empty());
  free_.push_back(id);
}

std::vector<OpId> OperationTable::live() const {
  std::vector<OpId> ids;
  for (OpId id = 0; id < pool_.size(); ++id) {
    if (pool_[id].state != Operation::State::kFree) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [this](OpId a, OpId b) { return pool_[a].sequence < pool_[b].sequence; });
  return ids;
}

}  // namespace photonrail
