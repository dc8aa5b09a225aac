// The tasks of a program that wait for several others: only they need counters, and ranks that run the program share this
// table of them.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::execution {

struct ProgramJoins {
  std::vector<TaskId> first;          ///< wait for nothing
  std::vector<std::uint32_t> number;  ///< by task: among those that wait for several, where it does
  std::vector<std::uint32_t> waits;   ///< by number: predecessors

  [[nodiscard]] static ProgramJoins of(const Program& program) {
    ProgramJoins joins;
    const std::span<const Task> tasks = program.tasks();
    joins.number.resize(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].waits == 0) joins.first.emplace_back(t);
      if (tasks[t].waits < 2) continue;
      joins.number[t] = static_cast<std::uint32_t>(joins.waits.size());
      joins.waits.push_back(tasks[t].waits);
    }
    return joins;
  }
};

}  // namespace photonrail::execution
