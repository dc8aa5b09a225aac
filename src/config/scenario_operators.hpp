// The sections of a training job about its operators.
#pragma once

#include "config/scenario_parts.hpp"

#include <filesystem>
#include <memory>

namespace photonrail::config {

/// Sets the operators of the job, and those of ranks on unlike GPUs. `directory`: paths are relative to it.
void read_operators(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                    const Placement& placement, TrainingSpec& spec);
void read_overlap(JsonReader section, TrainingSpec& spec);

}  // namespace photonrail::config
