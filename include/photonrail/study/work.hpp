// How much work a verb of the command has before it: the estimates that `--work-limit` is held against.
#pragma once

#include "photonrail/allocation/study.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/reliability/scenario_file.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/rows.hpp"

#include <filesystem>

namespace photonrail {

/// simulate(), with the further seeds of RunSpec::spread_seeds. Looks closely, which takes as long as reading a large job,
/// where the work may be more than ten seconds.
[[nodiscard]] WorkEstimate work_of(const Scenario& scenario, const Registries& known = {});

/// run_goodput() with an empty folder: failures and pauses of all histories, and the clusters that are simulated for them.
[[nodiscard]] WorkEstimate work_of(const reliability::GoodputScenario& scenario, const Registries& known = {});

/// run_allocation(): what happens in each stream, times the questions to its allocator that this asks.
[[nodiscard]] WorkEstimate work_of(const allocation::AllocationStudy& study);

/// run_rows(); with `fit` fit_factors() before it. Rows that cannot be read count for nothing.
[[nodiscard]] WorkEstimate work_of(const MeasuredRows& rows, bool fit, const Registries& known = {});

/// Reading the results in a folder, by the size of its files.
[[nodiscard]] WorkEstimate work_of_report(const std::filesystem::path& folder);

}  // namespace photonrail
