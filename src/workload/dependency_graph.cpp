#include "workload/dependency_graph.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

std::span<const TaskId> successors_of(const Successors& graph, std::size_t task) {
  return {graph.tasks.data() + graph.offsets[task], graph.tasks.data() + graph.offsets[task + 1]};
}

// Programs are written in an order in which they could run, nearly always: then there is nothing to search.
bool only_ascending(const Successors& graph) {
  for (std::size_t t = 0; t + 1 < graph.offsets.size(); ++t) {
    const auto next = successors_of(graph, t);
    if (!next.empty() && next.front().index() <= t) return false;
  }
  return true;
}

// Takes tasks away in topological order; what keeps a predecessor lies on a cycle or behind one.
std::vector<std::uint32_t> waits_left_on_cycles(const Successors& graph) {
  std::vector<std::uint32_t> waits = count_waits(graph);
  std::vector<TaskId> free;
  for (std::size_t t = 0; t < waits.size(); ++t) {
    if (waits[t] == 0) free.emplace_back(t);
  }
  while (!free.empty()) {
    const TaskId done = free.back();
    free.pop_back();
    for (const TaskId next : successors_of(graph, done.index())) {
      if (--waits[next.index()] == 0) free.push_back(next);
    }
  }
  return waits;
}

}  // namespace

Successors make_successors(std::size_t task_count, std::span<const DependencyEdge> edges) {
  Successors graph;
  graph.offsets.assign(task_count + 1, 0);
  for (const auto& [before, after] : edges) ++graph.offsets[before.index() + 1];
  for (std::size_t t = 0; t < task_count; ++t) graph.offsets[t + 1] += graph.offsets[t];
  graph.tasks.resize(edges.size());
  std::vector<std::uint32_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const auto& [before, after] : edges) graph.tasks[next[before.index()]++] = after;

  std::uint32_t kept = 0;
  for (std::size_t t = 0; t < task_count; ++t) {
    const auto begin = graph.tasks.begin() + graph.offsets[t];
    const auto end = graph.tasks.begin() + graph.offsets[t + 1];
    std::sort(begin, end);
    graph.offsets[t] = kept;
    const auto write = graph.tasks.begin() + kept;
    kept = static_cast<std::uint32_t>(std::unique_copy(begin, end, write) - graph.tasks.begin());
  }
  graph.offsets[task_count] = kept;
  graph.tasks.resize(kept);
  graph.tasks.shrink_to_fit();
  return graph;
}

std::vector<std::uint32_t> count_waits(const Successors& successors) {
  std::vector<std::uint32_t> waits(successors.offsets.size() - 1, 0);
  for (const TaskId t : successors.tasks) ++waits[t.index()];
  return waits;
}

std::vector<TaskId> find_cycle(const Successors& successors) {
  if (only_ascending(successors)) return {};
  const std::vector<std::uint32_t> left = waits_left_on_cycles(successors);
  std::vector<TaskId> predecessor(left.size(), TaskId::none());
  TaskId at = TaskId::none();
  for (std::size_t t = 0; t < left.size(); ++t) {
    if (left[t] == 0) continue;
    at = TaskId{t};
    for (const TaskId next : successors_of(successors, t)) predecessor[next.index()] = TaskId{t};
  }
  if (at.is_none()) return {};

  // Every task that is left has a predecessor that is left, so walking backwards must come round.
  std::vector<bool> seen(left.size(), false);
  for (; !seen[at.index()]; at = predecessor[at.index()]) seen[at.index()] = true;
  std::vector<TaskId> cycle;
  TaskId walk = at;
  do {
    cycle.push_back(walk);
    walk = predecessor[walk.index()];
  } while (walk != at);
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace photonrail::workload
