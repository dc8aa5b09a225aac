// The worth of resources: how much better a run is where one of them is 10 % faster, by running the scenario again.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::run {

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

/// The measure of a run.
struct Measure {
  enum class Kind : std::uint8_t {
    kStep,  ///< RunResult::step_time()
    kTtft,  ///< of served requests: the mean time to the first token
    kRate   ///< where a search gives it: the greatest rate at which they keep their limits
  };
  Kind kind = Kind::kStep;
  double value = 0.0;  ///< seconds; a second

  /// The share of `base` by which this one is better: shorter, or more a second.
  [[nodiscard]] double gain_over(const Measure& base) const;
};
[[nodiscard]] Measure measure_of(const RunResult& result);

struct Worth {
  const Resource* resource = nullptr;
  Measure measure{};  ///< of the changed scenario
  double gain = 0.0;  ///< share of the scenario's own by which it is better; below 0: worse
  std::string error;  ///< why the changed scenario cannot run, else empty
};

/// The worth of each resource that the scenario has, largest first. `base`: the result of the scenario. Each is a run.
/// Scenarios of several jobs have none.
[[nodiscard]] std::vector<Worth> worth_of(const Scenario& scenario, const RunResult& base, const Registries& registries);

}  // namespace photonrail::run
