// The communicators that ranks give for the slots of their programs.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// Throws ConfigError when a rank gives too few slots, or one that it cannot take part in, or one twice.
/// Returns how many slots each program uses; 0 for a program that no rank runs.
[[nodiscard]] std::vector<std::uint32_t> check_slots(const TaskGraph& graph);

}  // namespace photonrail::workload
