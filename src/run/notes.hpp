// Notes say why a number of a result is what it is, and which settings have no effect: a sentence with its number and its
// key.
#pragma once

#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

namespace photonrail::run {

/// Adds the notes of the table that hold. REQUIRES: the rest of the result is complete.
void add_notes(const Scenario& scenario, const Registries& registries, RunResult& result);
/// Adds what a run that takes long was expected to take. REQUIRES: its events are counted.
void add_forecast(const Scenario& scenario, const Registries& registries, RunResult& result);

}  // namespace photonrail::run
