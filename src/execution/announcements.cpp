#include "execution/announcements.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::execution {

// Only policies that say so are told of operations ahead of time.
bool Announcements::announces(RankId rank) const {
  return ahead_.circuits != nullptr && !ahead_.behaviour->announces.empty() && ahead_.behaviour->announces[rank.index()];
}

bool Announcements::crosses(const Launch& launch, std::uint32_t part, TaskId local) const {
  const Task& task = launch.task(part, local);
  if (task.kind == TaskKind::kCompute) return false;
  return operations_.crosses(table_.communicator(launch.parts[part].rank, task.slot, launch.id.value));
}

void Announcements::announce(Launch& launch, std::uint32_t part) {
  const RankId rank = launch.parts[part].rank;
  if (!announces(rank)) return;
  ranks_.resize(table_.ranks());
  Rank& of = ranks_[rank.index()];
  if (of.messages == 0) return request(launch, part);
  of.announced.push_back(launch.id);
}

// What a graph sends is counted once for all launches of it.
void Announcements::count(Launch& launch, std::uint32_t part) {
  const RankId rank = launch.parts[part].rank;
  if (!announces(rank)) return;
  ranks_.resize(table_.ranks());
  Rank& of = ranks_[rank.index()];
  std::erase(of.announced, launch.id);
  const auto counted = [&] {
    std::uint32_t messages = 0;
    for (std::size_t t = 0; t < launch.tasks_of(part); ++t) messages += crosses(launch, part, TaskId{t}) ? 1 : 0;
    return messages;
  };
  if (launch.graph == nullptr) {
    of.messages += counted();
    return;
  }
  std::vector<std::optional<std::uint32_t>>& known = launch.graph->messages;
  known.resize(launch.graph->ranks.size());
  if (!known[part]) known[part] = counted();
  of.messages += *known[part];
}

void Announcements::uncount(Launch& launch, std::uint32_t part, TaskId local) {
  const RankId rank = launch.parts[part].rank;
  if (!announces(rank) || !crosses(launch, part, local)) return;
  Rank& of = ranks_[rank.index()];
  if (--of.messages > 0) return;
  for (const LaunchId id : std::exchange(of.announced, {})) {
    const LaunchTable::Place place = table_.place(rank, id);
    request(*place.launch, place.part);
  }
}

// As IssueOrder does for an operation that the rank has not reached: the seat exists, or is made.
void Announcements::request(Launch& launch, std::uint32_t part) {
  if (std::exchange(launch.parts[part].asked, true)) return;
  if (++launch.asked == launch.parts.size()) asked_.push_back(&launch);
  const RankId rank = launch.parts[part].rank;
  const LaunchedGraph& graph = *launch.graph;
  for (const TaskId local : graph.joins[graph.graph->program_of(RankId{part}).index()].first) {
    const Task& task = launch.task(part, local);
    // A group of one rank sends nothing.
    if (task.kind == TaskKind::kCompute || operations_.group_size(rank, task, launch.id.value) == 1) continue;
    const auto [op_id, member] = operations_.seat(rank, task, launch.id.value);
    const Operation& op = operations_[op_id];
    if (!op.optical || op.runnable == nullptr || !op.takes_part(member, 0)) continue;
    ahead_.circuits->request(op_id, 0, member, launch.number(local));
  }
}

}  // namespace photonrail::execution
