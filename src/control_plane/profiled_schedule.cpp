#include "control_plane/profiled_schedule.hpp"

namespace photonrail::control_plane {

using fabric::Fabric;

ProfiledSchedule::ProfiledSchedule(const TaskGraph& graph, execution::OperationTable& operations, const Fabric& fabric,
                                   std::span<const GpuId> gpu_of_rank, const execution::Schedule& schedule, Unknown unknown)
    : unknown_(unknown), operations_(schedule.size()), rails_(fabric.rails()) {
  for (std::size_t r = 0; r < schedule.size(); ++r) {
    const RankId rank{r};
    const auto [rail, position] = fabric.seat(gpu_of_rank[r]);
    for (const execution::ScheduledTask& planned : schedule[r]) {
      const Task& task = graph.program(rank).task(planned.task);
      const CommunicatorId communicator = graph.communicator(rank, task.slot);
      const auto& by_rail = circuits(graph, operations, fabric, rank, task);
      ScheduledOperation& op = operations_[r].emplace_back();
      op.task = planned.task;
      op.communicator = communicator;
      op.dimension = graph.communicators()[communicator.index()].dimension;
      op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
      op.start = planned.start.since_start();
      const auto found = by_rail.find(rail);
      if (found == by_rail.end()) continue;
      op.pairs = found->second.pairs;
      op.bytes = found->second.bytes;
    }
    place_of_.emplace_back(rail.index(), rails_[rail.index()].size());
    rails_[rail.index()].push_back({rank, position, operations_[r], 0, 0});
  }
}

void ProfiledSchedule::set_progress(RankId rank, std::uint32_t iteration, std::size_t next) {
  const auto [rail, place] = place_of_[rank.index()];
  rails_[rail][place].next = static_cast<std::uint32_t>(next);
  rails_[rail][place].iteration = iteration;
}

// Found once for each call.
const std::map<RailId, RailCircuits>& ProfiledSchedule::circuits(const TaskGraph& graph,
                                                                 execution::OperationTable& operations,
                                                                 const Fabric& fabric, RankId rank, const Task& task) {
  const CommunicatorId communicator = graph.communicator(rank, task.slot);
  const Call call{communicator, task.kind == TaskKind::kCollective ? task.kind : TaskKind::kSend, task.op,
                  task.size().count, task.demand() != 0 ? task.demand() : task.root()};
  const auto [entry, fresh] = circuits_.try_emplace(call);
  if (!fresh) return entry->second;
  const execution::RunnablePlan* plan = operations.plan_of(rank, task);
  const bool drifts = task.demand() != 0 && graph.demands()->drifts();
  if (plan != nullptr && drifts && unknown_ == Unknown::kAllPairs) {
    entry->second = drifting_circuits(fabric, operations.gpus(communicator), *plan);
  } else if (plan != nullptr) {
    entry->second = rail_circuits(fabric, operations.gpus(communicator), *plan);
  } else if (unknown_ == Unknown::kAllPairs) {
    entry->second = all_circuits(fabric, operations.gpus(communicator), task.size());
  }
  return entry->second;
}

}  // namespace photonrail::control_plane
