// Scenario in, result out.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/workload/agent.hpp"
#include "photonrail/workload/registry.hpp"

#include <span>

namespace photonrail {

/// The tables that a run looks names up in. A caller with an algorithm, a controller, an agent or a scheduler of
/// its own adds it here.
struct Registries {
  CollectiveRegistry collectives = CollectiveRegistry::builtin();
  ControllerRegistry controllers = ControllerRegistry::builtin();
  AgentRegistry agents = AgentRegistry::builtin();
  SchedulerRegistry schedulers = SchedulerRegistry::builtin();
};

/// Runs the scenario to its end. The same scenario gives the same result, but for wall_s and peak_rss_mb.
/// Throws ConfigError (bad scenario), ControllerError, DeadlockError. Observers must outlive the call.
[[nodiscard]] RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers = {});
[[nodiscard]] RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers,
                                 const Registries& registries);

/// Runs an agent's workload on the ranks of the scenario, whose graph is idle_graph() and whose `workload` is null. Throws
/// ConfigError, too, where a call of the agent is wrong or the agent throws what is no Error of this library.
[[nodiscard]] RunResult simulate(const Scenario& scenario, WorkloadAgent& agent, std::span<Observer* const> observers = {},
                                 const Registries& registries = {});

/// Returns true when anything of the run is drawn, so that another RunSpec::seed may give another result: delays or the
/// choice of stragglers, times of switches, delays and losses of messages of the control plane, routing of a mixture of
/// experts.
[[nodiscard]] bool draws_of_seed(const Scenario& scenario);

/// Runs `scenario`, of which `result` is the result, under `seeds` - 1 further seeds (repeated_seed()), and sets
/// RunResult::spread. It does nothing where nothing is drawn, or of fewer than 2 seeds. simulate() does this by itself
/// where RunSpec::spread_seeds says so. Takes about `seeds` - 1 times as long as the run.
void add_spread(const Scenario& scenario, std::uint32_t seeds, const Registries& registries, RunResult& result);

}  // namespace photonrail
