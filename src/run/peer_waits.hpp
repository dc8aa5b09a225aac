// Finds what ranks wait for their peers for, by cause: the walk of the critical path from the end of each wait to its
// begin.
#pragma once

#include "execution/run_history.hpp"
#include "execution/time_accounting.hpp"
#include "photonrail/study/explanation.hpp"
#include "run/path_walk.hpp"

#include <vector>

namespace photonrail::run {

/// Returns the waits by rank of the history. `log`: of its ranks; `end`: of the run. What ranks wait for after their own
/// end is what the end of the run waited for.
[[nodiscard]] std::vector<PeerWaits> peer_waits(const execution::RunHistory& history, PathWalk& walk,
                                                const execution::PeerWaitLog& log, Time end);

}  // namespace photonrail::run
