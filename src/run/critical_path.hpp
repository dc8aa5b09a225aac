// Finds the critical path of a run in its history: backward from the end, each time to what was waited for last.
#pragma once

#include "execution/capacity_loads.hpp"
#include "execution/operation_table.hpp"
#include "execution/run_history.hpp"
#include "execution/time_accounting.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/study/explanation.hpp"

namespace photonrail::run {

/// What the path is read from. All must outlive the call.
struct PathSources {
  const execution::RunHistory& history;
  const execution::CapacityLoads& loads;  ///< it remembers
  const execution::OperationTable& operations;
  const fabric::Fabric& fabric;
  const execution::PeerWaitLog& peer_waits;  ///< of the ranks of the history
};

/// Returns the path that ends the run at `end`, and what the ranks of the history wait for.
[[nodiscard]] CriticalPath critical_path(const PathSources& sources, Time end);

}  // namespace photonrail::run
