// A job whose steps are equal after the first few runs for a few of them, and each further one adds what the last ones did.
//
// Three runs are made, of n, n + p and n + 2 p steps, where the steps of the first repeat after p of them (StepHashes).
// Every number of the results has to grow alike from one run to the next; what it grows by is added for the steps that were
// not run. All is in whole picoseconds and bytes, so that the result is that of the whole run.
#pragma once

#include "run/runner.hpp"

#include <cstdint>

namespace photonrail::run {

/// Runs the job, where that is exact and saves time; false: `result` is as before. RunSpec::folding has to allow it.
/// What of the job was run is a line of RunResult::choices, and EngineSummary is of what was run.
[[nodiscard]] bool run_equal_steps(const JobRun& job, const ControllerSpec& controller, RunCaches& caches,
                                   RunResult& result);

/// Returns how many steps run_equal_steps() expects to run: all, where it does not apply.
[[nodiscard]] std::uint32_t steps_to_run(const JobSpec& job, const ClusterSpec& cluster, const RunSpec& run,
                                         const Registries& registries);

}  // namespace photonrail::run
