// The parts of Scenario::validate() for a reader that checks each part of a scenario once, when it has read it.
#pragma once

#include "photonrail/scenario.hpp"

namespace photonrail::run {

/// A job that is alone on a valid cluster, or one of several. Throws core::FieldError about the job.
void check_job(const JobSpec& job, const ClusterSpec& cluster);
/// Checks what the jobs of a scenario must be to each other; each has been checked. Throws core::FieldError about the
/// scenario.
void check_jobs(const Scenario& all);
/// How one of several jobs is run: as it says, but for what the scenario says of all of them.
[[nodiscard]] RunSpec run_of_job(const Scenario& all, std::size_t job);

}  // namespace photonrail::run
