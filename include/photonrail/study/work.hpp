// How much work a verb of the command has before it: the estimates that `--work-limit` is held against.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

#include <filesystem>

namespace photonrail {

/// simulate(), with the further seeds of RunSpec::spread_seeds. Looks closely, which takes as long as reading a large job,
/// where the work may be more than ten seconds.
[[nodiscard]] WorkEstimate work_of(const Scenario& scenario, const Registries& known = {});

/// Reading the results in a folder, by the size of its files.
[[nodiscard]] WorkEstimate work_of_report(const std::filesystem::path& folder);

}  // namespace photonrail
