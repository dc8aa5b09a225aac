#include "photonrail/task_graph.hpp"

namespace photonrail {

Task Task::compute(double flops, Bytes memory, Stream stream) {
  Task task;
  task.stream = stream;
  task.amount_ = memory.count;
  task.flops = flops;
  return task;
}

Task Task::delay(Duration time, Stream stream) {
  Task task;
  task.stream = stream;
  task.has_time_ = true;
  task.amount_ = time.count();
  return task;
}

Task Task::demand_compute(std::uint32_t slot, std::uint32_t demand, double flops) {
  Task task;
  task.slot = slot;
  task.root_or_demand_ = demand;
  task.flops = flops;
  return task;
}

Task Task::collective(std::uint32_t slot, CollectiveOp op, Bytes size, Member root) {
  Task task;
  task.kind = TaskKind::kCollective;
  task.op = op;
  task.slot = slot;
  task.root_or_demand_ = op == CollectiveOp::kAllToAll ? 0 : root;  // an all-to-all has none
  task.amount_ = size.count;
  return task;
}

Task Task::all_to_all(std::uint32_t slot, std::uint32_t demand, Bytes size) {
  Task task = collective(slot, CollectiveOp::kAllToAll, size);
  task.root_or_demand_ = demand;
  return task;
}

Task Task::send(std::uint32_t slot, std::uint32_t tag, Bytes size) {
  Task task;
  task.kind = TaskKind::kSend;
  task.slot = slot;
  task.tag = tag;
  task.amount_ = size.count;
  return task;
}

Task Task::receive(std::uint32_t slot, std::uint32_t tag, Bytes size) {
  Task task = send(slot, tag, size);
  task.kind = TaskKind::kReceive;
  return task;
}

static_assert(sizeof(Task) == 40, "tasks are kept by the million");

std::string_view Program::name(TaskId t) const {
  if (name_offsets_.empty()) return {};
  const std::uint32_t begin = name_offsets_[t.index()];
  return std::string_view(names_).substr(begin, name_offsets_[t.index() + 1] - begin);
}

std::span<const Program::Share> Program::shares(TaskId t) const {
  if (t.index() >= shares_of_.size() || shares_of_[t.index()] == 0) return {};
  return shares_[shares_of_[t.index()] - 1];
}

std::size_t TaskGraph::task_count() const {
  std::size_t count = 0;
  for (const ProgramId p : program_of_) count += programs_[p.index()].tasks().size();
  return count;
}

TaskGraph TaskGraph::part(std::span<const RankId> ranks, std::vector<Communicator> communicators,
                          std::span<const std::vector<CommunicatorId>> slots) const {
  TaskGraph graph;
  std::vector<ProgramId> taken(programs_.size(), ProgramId::none());
  graph.slot_offsets_.push_back(0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const ProgramId program = program_of(ranks[i]);
    if (taken[program.index()].is_none()) {
      taken[program.index()] = ProgramId{graph.programs_.size()};
      graph.programs_.push_back(programs_[program.index()]);
    }
    graph.program_of_.push_back(taken[program.index()]);
    graph.slots_.insert(graph.slots_.end(), slots[i].begin(), slots[i].end());
    graph.slot_offsets_.push_back(static_cast<std::uint32_t>(graph.slots_.size()));
  }
  graph.communicators_ = std::move(communicators);
  return graph;
}

TaskGraph TaskGraph::side_by_side(std::span<const TaskGraph* const> graphs, std::span<const std::string> names) {
  TaskGraph all;
  all.slot_offsets_.push_back(0);
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const TaskGraph& graph = *graphs[g];
    const std::size_t ranks = all.ranks();
    const std::size_t programs = all.programs_.size();
    const std::size_t communicators = all.communicators_.size();
    all.programs_.insert(all.programs_.end(), graph.programs_.begin(), graph.programs_.end());
    for (const ProgramId p : graph.program_of_) all.program_of_.push_back(ProgramId{programs + p.index()});
    for (Communicator communicator : graph.communicators_) {
      communicator.name = names[g] + "/" + communicator.name;
      for (RankId& member : communicator.members) member = RankId{ranks + member.index()};
      all.communicators_.push_back(std::move(communicator));
    }
    const std::size_t slots = all.slots_.size();
    for (const CommunicatorId c : graph.slots_) all.slots_.push_back(CommunicatorId{communicators + c.index()});
    for (std::size_t r = 1; r < graph.slot_offsets_.size(); ++r) {
      all.slot_offsets_.push_back(static_cast<std::uint32_t>(slots + graph.slot_offsets_[r]));
    }
  }
  return all;
}

}  // namespace photonrail
