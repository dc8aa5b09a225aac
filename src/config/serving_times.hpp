// How long a step of an engine takes, as "workload/serving/times" says.
#pragma once

#include "config/scenario_serving.hpp"

#include <memory>
#include <optional>

namespace photonrail::config {

extern const fields::Section kServingTimesSection;

/// `section` absent: the roofline of the cluster's GPU. `flows`: bytes of collectives are traffic, and no part of the time.
[[nodiscard]] std::shared_ptr<const serving::StepTime> step_times(const std::optional<JsonReader>& section,
                                                                  const serving::ServedModel& served,
                                                                  const serving::EngineSpec& engine, bool flows,
                                                                  const ServingContext& context);

}  // namespace photonrail::config
