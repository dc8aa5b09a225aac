// How long a step of an engine takes, as "workload/serving/times" says.
#pragma once

#include "config/scenario_serving.hpp"

#include <memory>
#include <optional>

namespace photonrail::config {

extern const fields::Section kServingTimesSection;

/// `section` absent: the roofline of the cluster's GPU.
[[nodiscard]] std::shared_ptr<const serving::StepTime> step_times(const std::optional<JsonReader>& section,
                                                                  const serving::ServedModel& served,
                                                                  const serving::EngineSpec& engine,
                                                                  const ServingContext& context);

}  // namespace photonrail::config
