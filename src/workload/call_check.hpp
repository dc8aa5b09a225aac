// Which communication tasks meet which, and whether they agree.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace photonrail::workload {

/// The communication tasks of a program by slot; in a slot by kind and tag, and of one kind and tag ascending.
struct CallIndex {
  std::vector<std::uint32_t> offsets;  ///< one more than slots
  std::vector<TaskId> calls;

  [[nodiscard]] std::span<const TaskId> of(std::uint32_t slot) const {
    if (slot + 1 >= offsets.size()) return {};
    return {calls.data() + offsets[slot], calls.data() + offsets[slot + 1]};
  }
};

/// REQUIRES: every slot is below `slots`, or `slots` is 0: then nothing is listed.
[[nodiscard]] CallIndex index_calls(std::span<const Task> tasks, std::uint32_t slots);

/// Gives each communication task its `match`.
void number_calls(std::vector<Task>& tasks, const CallIndex& index);

/// Throws ConfigError where members of one call disagree, or a task does not fit its communicator. Returns a warning for
/// each communicator with calls that some member never makes, the first few in full.
[[nodiscard]] std::vector<std::string> check_calls(const TaskGraph& graph, std::span<const CallIndex> index_of_program);

/// "rank 17".
[[nodiscard]] inline std::string describe_rank(RankId rank) { return "rank " + std::to_string(rank.value); }
/// "task 17 ('name')", or "task 17".
[[nodiscard]] std::string describe_task(TaskId task, std::string_view name);

}  // namespace photonrail::workload
