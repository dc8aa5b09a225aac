// The worth of resources: how much shorter a step is where one of them is 10 % faster, by running the scenario again.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/units.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// A resource that a scenario may have more of.
struct Resource {
  std::string_view name;    ///< "NIC ports"
  std::string_view key;     ///< "/cluster/nic/port_gb_per_s"
  std::string_view change;  ///< "x 1.1"
  /// Makes it 10 % faster: rates x 1.1, times / 1.1. False: the scenario has none, or no more can be had.
  bool (*improve)(Scenario& scenario);
};

/// The table of resources: computations, scale-up bandwidth and latency, NIC ports and latency, uplinks, switching delay,
/// control plane; and electrical rails in place of optical ones.
[[nodiscard]] const std::vector<Resource>& resources();

struct Worth {
  const Resource* resource = nullptr;
  Duration step{};    ///< RunResult::step_time() of the changed scenario
  double gain = 0.0;  ///< share of the step that it saves; below 0: the step is longer
  std::string error;  ///< why the changed scenario cannot run, else empty
};

/// The worth of each resource that the scenario has, largest first. `base`: the result of the scenario. Each is a run.
/// Scenarios of several jobs have none.
[[nodiscard]] std::vector<Worth> worth_of(const Scenario& scenario, const RunResult& base, const Registries& registries);

}  // namespace photonrail
