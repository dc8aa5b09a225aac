// Can the circuits of a refit be there together?
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

namespace photonrail::run {

/// Throws core::FieldError: on optical rails whose policy serves whole rounds, the refit wants more circuits at once of a
/// NIC than it has ports.
void check_refit(const Scenario& scenario, const Registries& registries);

}  // namespace photonrail::run
