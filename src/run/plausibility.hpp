// Warnings name what is valid and yet looks like a mistake: the lines that every result, check and table of points shows.
#pragma once

#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

#include <string>
#include <vector>

namespace photonrail::run {

/// Warns of the devices alone: rates that none of their kind has.
[[nodiscard]] std::vector<std::string> cluster_warnings(const ClusterSpec& cluster);
/// Warns of the job on its cluster.
[[nodiscard]] std::vector<std::string> job_warnings(const JobSpec& job, const ClusterSpec& cluster);

/// Adds a warning to a result whose steps by which it is compared leave out all that failed.
void check_first_step(const Scenario& scenario, RunResult& result);

/// Puts into the result what was simulated: cluster, controller, source, memory and work of the job.
void describe(const Scenario& scenario, const Registries& registries, RunResult& result);

}  // namespace photonrail::run
