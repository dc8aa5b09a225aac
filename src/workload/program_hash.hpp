// Programs with equal tasks, found without comparing each with each.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>

namespace photonrail::workload {

/// Equal for programs with equal tasks (Program::same_tasks); names do not count.
[[nodiscard]] std::uint64_t hash_tasks(const Program& program);

}  // namespace photonrail::workload
