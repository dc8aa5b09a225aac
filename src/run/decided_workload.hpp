// A workload that an agent decides while the run goes on: what such a run cannot have, and the scenario of an agent that
// says its future is known.
#pragma once

#include "photonrail/simulate.hpp"

#include <optional>

namespace photonrail::run {

/// Throws core::FieldError about the scenario where its policy, or a setting, needs tasks that are known before the run.
void check_decided(const Scenario& scenario, const WorkloadAgent& agent, const Registries& registries);

/// The same job without an agent; nothing where `agent` decides while the run goes on.
[[nodiscard]] std::optional<Scenario> with_known_future(const Scenario& scenario, const WorkloadAgent& agent);

/// The same scenario with every workload, of jobs too, whose future is known as a graph; nothing where there is none.
[[nodiscard]] std::optional<Scenario> with_known_futures(const Scenario& scenario);

}  // namespace photonrail::run
