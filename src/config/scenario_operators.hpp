// The sections of a training job about its operators.
#pragma once

#include "config/scenario_parts.hpp"

#include <filesystem>
#include <memory>

namespace photonrail::config {

/// `gpu`: of the cluster; null where only the shape of the job counts. `directory`: paths are relative to it.
[[nodiscard]] std::shared_ptr<const TrainingOperators> read_operators(JsonReader section,
                                                                      const std::filesystem::path& directory,
                                                                      const GpuSpec* gpu);
void read_overlap(JsonReader section, TrainingSpec& spec);

}  // namespace photonrail::config
