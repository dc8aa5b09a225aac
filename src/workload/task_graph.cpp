#include "photonrail/task_graph.hpp"

namespace photonrail {

static_assert(sizeof(Task) == 40, "tasks are kept by the million");

std::string_view Program::name(TaskId t) const {
  if (name_offsets_.empty()) return {};
  const std::uint32_t begin = name_offsets_[t.index()];
  return std::string_view(names_).substr(begin, name_offsets_[t.index() + 1] - begin);
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

}  // namespace photonrail
