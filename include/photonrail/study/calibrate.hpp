// Fits the one free number of the GPU model, the compute efficiency, to one measured step time.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace photonrail {

struct Registries;  // simulate.hpp

struct Calibration {
  double compute_efficiency = 1.0;  ///< in (0, 1]
  Duration measured{};
  Duration simulated{};    ///< with that efficiency
  std::uint32_t runs = 0;  ///< how often the step was simulated
};

/// The efficiency at which `step_of(efficiency)` is `measured`, within `tolerance` of it. A step is compute in proportion
/// to 1 / efficiency beside communication that does not depend on it, so the search is a false position (Illinois) in
/// 1 / efficiency. Where a step jumps over the measured one, as list schedules can, there is nothing to find.
/// Throws ConfigError whose `where` is "measured step": not positive; shorter than the step at efficiency 1; longer than
/// the step at efficiency 0.001, or the step does not depend on the efficiency; jumped over. What `step_of` throws passes.
[[nodiscard]] Calibration fit_compute_efficiency(Duration measured, const std::function<Duration(double)>& step_of,
                                                 double tolerance = 1e-4);

/// The same with simulate() and RunResult::step_time(): every compute task of the scenario is run at the efficiency in
/// question, whatever the scenario itself says. Leaves out: kernels differ in the efficiency that they reach; one number
/// stands for all.
[[nodiscard]] Calibration calibrate(const Scenario& scenario, Duration measured, double tolerance = 1e-4);
/// The same for a scenario that names controllers or collectives of the caller, as simulate() takes them.
[[nodiscard]] Calibration calibrate(const Scenario& scenario, Duration measured, double tolerance, const Registries& known);

}  // namespace photonrail
