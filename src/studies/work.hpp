// How much work one run of a scenario is, with the keys that make less of it.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "run/expected_time.hpp"

namespace photonrail::studies {

/// `close_look_s`: as run::expected_work().
[[nodiscard]] WorkEstimate work_of_run(const Scenario& scenario, const Registries& known,
                                       double close_look_s = run::kWorthALook);

}  // namespace photonrail::studies
