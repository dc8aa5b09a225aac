#include "sim/operation.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

Roster Roster::of(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank) {
  Roster roster;
  for (const Communicator& communicator : graph.communicators()) {
    for (const RankId rank : communicator.members) roster.gpus.push_back(gpu_of_rank[rank.index()]);
    roster.offsets.push_back(roster.gpus.size());
  }
  return roster;
}

Operations::Operations(const TaskGraph& graph, const Roster& roster, Fabric& fabric, PlanCache& plans)
    : graph_(graph), roster_(roster), fabric_(fabric), plans_(plans), open_(graph.communicators().size()) {
  for (std::size_t c = 0; c < graph.communicators().size(); ++c) {
    const std::span<const GpuId> group = gpus(CommunicatorId{c});
    crosses_.push_back(std::any_of(group.begin(), group.end(),
                                   [&](GpuId gpu) { return fabric.crossing(group.front(), gpu).has_value(); }));
  }
}

Seat Operations::seat(RankId rank, const Task& task, std::uint32_t iteration) {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return {find_or_make({communicator, task.tag, task.match, iteration}, task), member_of(communicator, rank, task)};
}

Member Operations::member_of(CommunicatorId communicator, RankId rank, const Task& task) const {
  const Communicator& group = graph_.communicators()[communicator.index()];
  if (group.point_to_point) return task.kind == TaskKind::kSend ? 0 : 1;
  if (!roster_.places.empty()) return roster_.places[rank.index()][task.slot];
  const auto found = std::lower_bound(group.members.begin(), group.members.end(), rank);
  PHOTONRAIL_CHECK(found != group.members.end() && *found == rank);
  return static_cast<Member>(found - group.members.begin());
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
  Operation& op = pool_[id];
  op.state = Operation::State::kGathering;
  op.key = key;
  op.sequence = next_sequence_++;
  op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
  op.communicator = &graph_.communicators()[key.communicator.index()];
  op.gpus = gpus(key.communicator);
  op.ranks = static_cast<Member>(op.communicator->members.size());
  op.copies = roster_.copies.empty() ? 1 : roster_.copies[key.communicator.index()];
  op.runnable = &plans_.get({op.op, static_cast<Member>(op.gpus.size()), Bytes{task.amount}, task.root, 1}, op.ranks);
  op.crosses = crosses_[key.communicator.index()];
  op.optical = op.crosses && fabric_.optical();
  op.tasks.assign(op.members(), TaskId::none());
  op.arrived = 0;
  op.sender_done = false;
  op.cause = {};
  return id;
}

void Operations::retire(OpId id) {
  Operation& op = pool_[id];
  std::erase(open_[op.key.communicator.index()], id);
  op.state = Operation::State::kFree;
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
