#include "workload/slot_check.hpp"

#include "photonrail/error.hpp"
#include "workload/call_check.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

/// The task on the highest slot, or none() when no task communicates.
TaskId uses_highest_slot(std::span<const Task> tasks) {
  TaskId highest = TaskId::none();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind == TaskKind::kCompute && tasks[t].demand() == 0) continue;
    if (highest.is_none() || tasks[t].slot > tasks[highest.index()].slot) highest = TaskId{t};
  }
  return highest;
}

bool is_member(const Communicator& c, RankId rank) {
  if (c.point_to_point) return c.members[0] == rank || c.members[1] == rank;
  return std::binary_search(c.members.begin(), c.members.end(), rank);
}

void check_rank(const TaskGraph& graph, RankId rank, std::vector<CommunicatorId>& scratch) {
  const auto slots = graph.slots(rank);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const auto slot = [s] { return "slot " + std::to_string(s); };
    if (slots[s].index() >= graph.communicators().size()) {
      throw ConfigError(describe_rank(rank), slot() + " names a communicator that does not exist");
    }
    const Communicator& c = graph.communicators()[slots[s].index()];
    if (is_member(c, rank)) continue;
    throw ConfigError(describe_rank(rank), slot() + " is communicator " + c.name + ", which it is not a member of");
  }
  scratch.assign(slots.begin(), slots.end());
  if (!std::is_sorted(scratch.begin(), scratch.end())) std::sort(scratch.begin(), scratch.end());
  const auto twice = std::adjacent_find(scratch.begin(), scratch.end());
  if (twice == scratch.end()) return;
  throw ConfigError(describe_rank(rank), "has communicator " + graph.communicators()[twice->index()].name + " in two slots",
                    "calls are counted by slot: one slot must have them all");
}

}  // namespace

std::vector<std::uint32_t> check_slots(const TaskGraph& graph) {
  std::vector<TaskId> highest(graph.programs().size(), TaskId::none());
  for (std::size_t p = 0; p < highest.size(); ++p) highest[p] = uses_highest_slot(graph.programs()[p].tasks());

  std::vector<std::uint32_t> used(graph.programs().size(), 0);
  std::vector<CommunicatorId> scratch;
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    check_rank(graph, rank, scratch);
    const ProgramId p = graph.program_of(rank);
    const TaskId task = highest[p.index()];
    if (task.is_none()) continue;
    const std::uint32_t slot = graph.program(rank).task(task).slot;
    if (slot >= graph.slots(rank).size()) {
      throw ConfigError(describe_rank(rank),
                        describe_task(task, graph.program(rank).name(task)) + " communicates on slot " +
                            std::to_string(slot) + ", which is not given",
                        "slots given: " + std::to_string(graph.slots(rank).size()));
    }
    used[p.index()] = slot + 1;
  }
  return used;
}

}  // namespace photonrail::workload
