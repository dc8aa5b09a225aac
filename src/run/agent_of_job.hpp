// An agent of one of several jobs, whose errors name the job.
#pragma once

#include "photonrail/workload/agent.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace photonrail::run {

/// The agent of the job with this number and name: an error out of WorkloadAgent::on() is about the workload of that job.
[[nodiscard]] std::unique_ptr<WorkloadAgent> agent_of_job(std::unique_ptr<WorkloadAgent> agent, std::size_t job,
                                                          std::string name);

}  // namespace photonrail::run
