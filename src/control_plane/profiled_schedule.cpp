#include "control_plane/profiled_schedule.hpp"

namespace photonrail {

ProfiledSchedule::ProfiledSchedule(const TaskGraph& graph, OperationTable& operations, const Fabric& fabric,
                             std::span<const GpuId> gpu_of_rank, const Schedule& schedule)
    : operations_(schedule.size()), rails_(fabric.rails()) {
  for (std::size_t r = 0; r < schedule.size(); ++r) {
    const RankId rank{r};
    const auto [rail, position] = fabric.seat(gpu_of_rank[r]);
    for (const ScheduledTask& planned : schedule[r]) {
      const Task& task = graph.program(rank).task(planned.task);
      const CommunicatorId communicator = graph.communicator(rank, task.slot);
      const auto& by_rail = circuits(graph, operations, fabric, rank, task);
      ScheduledOperation& op = operations_[r].emplace_back();
      op.task = planned.task;
      op.communicator = communicator;
      op.dimension = graph.communicators()[communicator.index()].dimension;
      op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
      op.start = planned.start;
      const auto found = by_rail.find(rail);
      if (found == by_rail.end()) continue;
      op.pairs = found->second.pairs;
      op.bytes = found->second.bytes;
    }
    place_of_.emplace_back(rail.index(), rails_[rail.index()].size());
    rails_[rail.index()].push_back({rank, position, operations_[r], 0, 0});
  }
}

void ProfiledSchedule::stands(RankId rank, std::uint32_t iteration, std::size_t next) {
  const auto [rail, place] = place_of_[rank.index()];
  rails_[rail][place].next = static_cast<std::uint32_t>(next);
  rails_[rail][place].iteration = iteration;
}

// Found once for each call: the operation is made for a moment, and its plan looked at.
const std::map<RailId, ProfiledSchedule::Circuits>& ProfiledSchedule::circuits(const TaskGraph& graph, OperationTable& operations,
                                                                         const Fabric& fabric, RankId rank,
                                                                         const Task& task) {
  const Call call{graph.communicator(rank, task.slot), task.kind == TaskKind::kCollective ? task.kind : TaskKind::kSend,
                  task.op, task.amount, task.demand() != 0 ? task.demand() : task.root};
  const auto [entry, fresh] = circuits_.try_emplace(call);
  if (!fresh) return entry->second;
  const OpId id = operations.seat(rank, task, 0).op;
  const Operation& op = operations[id];
  std::map<RailId, std::map<ServerPair, Bytes>> sums;
  if (op.runnable != nullptr) {
    for (std::uint32_t round = 0; round < op.plan().rounds(); ++round) {
      const std::vector<MemberPair> pairs = op.plan().pairs(round);
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto crossing = fabric.crossing(op.gpus[pairs[p].first], op.gpus[pairs[p].second]);
        if (crossing) sums[crossing->rail][{crossing->from, crossing->to}].count += op.runnable->pair_bytes[round][p].count;
      }
    }
  }
  operations.retire(id);
  for (const auto& [rail, by_pair] : sums) {
    Circuits& circuits = entry->second[rail];
    for (const auto& [pair, bytes] : by_pair) {
      circuits.pairs.push_back(pair);
      circuits.bytes.push_back(bytes);
    }
  }
  return entry->second;
}

}  // namespace photonrail
