// Parts of a task graph by number, for tests.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::test {

inline const Task& task(const TaskGraph& graph, std::size_t rank, std::size_t id) {
  return graph.program(RankId{rank}).task(TaskId{id});
}

inline Task waits_for_one(Task task) {
  task.waits = 1;
  return task;
}

inline const Communicator& communicator(const TaskGraph& graph, std::size_t rank, const Task& t) {
  return graph.communicators()[graph.communicator(RankId{rank}, t.slot).index()];
}

inline std::vector<RankId> ranks(const std::vector<std::size_t>& values) {
  std::vector<RankId> ids;
  for (const std::size_t v : values) ids.emplace_back(v);
  return ids;
}

/// The ids of the tasks that wait for `id`.
inline std::vector<std::uint32_t> waiting(const TaskGraph& graph, std::size_t rank, std::size_t id) {
  std::vector<std::uint32_t> ids;
  for (const TaskId t : graph.program(RankId{rank}).successors(TaskId{id})) ids.push_back(t.value);
  return ids;
}

}  // namespace photonrail::test
