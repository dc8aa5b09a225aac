// The simulated candidates as the table of a sweep, which `photonrail report` draws.
#pragma once

#include "photonrail/study/plan.hpp"

#include <filesystem>

namespace photonrail::plan {

/// Replaces results.db, results.csv and what belongs to them in the folder. Throws ConfigError.
void write_table(const Plan& plan, const PlanResult& result, const std::filesystem::path& directory);

}  // namespace photonrail::plan
