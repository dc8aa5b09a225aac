// Several jobs on one cluster: an engine, a network and switches for all of them, and all else for each.
#pragma once

#include "photonrail/simulate.hpp"

#include <span>

namespace photonrail::run {

/// REQUIRES: scenario.jobs is not empty, and valid. Also runs each job alone, for what the others cost it.
void run_jobs(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries,
              RunResult& result);

}  // namespace photonrail::run
