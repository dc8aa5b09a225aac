// The dependencies of one program as flat arrays.
#pragma once

#include "photonrail/ids.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::workload {

/// tasks[offsets[t]] .. tasks[offsets[t + 1] - 1] wait for t, ascending, each once.
struct Successors {
  std::vector<std::uint32_t> offsets;
  std::vector<TaskId> tasks;
};

using DependencyEdge = std::pair<TaskId, TaskId>;  ///< before, after

/// REQUIRES: both ends of every edge are below `task_count`.
[[nodiscard]] Successors make_successors(std::size_t task_count, std::span<const DependencyEdge> edges);

/// Returns how many predecessors each task has.
[[nodiscard]] std::vector<std::uint32_t> count_waits(const Successors& successors);

/// The tasks of one cycle, each before the next and the last before the first, beginning with the smallest; empty when
/// there is none.
[[nodiscard]] std::vector<TaskId> find_cycle(const Successors& successors);

}  // namespace photonrail::workload
