// Scenario in, result out.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"

#include <span>

namespace photonrail {

/// The tables that a run looks names up in. A caller with an algorithm or controller of its own adds it here.
struct Registries {
  CollectiveRegistry collectives = CollectiveRegistry::builtin();
  ControllerRegistry controllers = ControllerRegistry::builtin();
};

/// Runs the scenario to its end. The same scenario gives the same result, but for wall_s and peak_rss_mb.
/// Throws ConfigError (bad scenario), ControllerError, DeadlockError. Observers must outlive the call.
[[nodiscard]] RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers = {});
[[nodiscard]] RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers,
                                 const Registries& registries);

}  // namespace photonrail
