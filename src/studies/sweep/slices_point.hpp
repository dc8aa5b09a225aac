// Points of a sweep whose base is a study of slices (`photonrail.allocation/1`), and no scenario.
#pragma once

#include "json/json.hpp"
#include "photonrail/simulate.hpp"
#include "studies/slices/study.hpp"
#include "studies/sweep/points.hpp"
#include "studies/sweep/record.hpp"

#include <filesystem>
#include <string>

namespace photonrail::sweep {

[[nodiscard]] bool is_study(const Json& base);
/// Paths are relative to `directory`; errors name `file`. Throws ConfigError.
[[nodiscard]] slices::AllocationStudy study_of(const Json& json, const std::filesystem::path& directory,
                                               const std::string& file);
[[nodiscard]] Estimate estimate_of(const slices::AllocationStudy& study);
/// Carries the study out and puts its numbers into `record`. Decisions that are not as expected are a failure of the point.
/// Throws as run_allocation(), and Stopped before it begins.
void run_study(const slices::AllocationStudy& study, const Registries& known, const Stop& stop, Record& record);

}  // namespace photonrail::sweep
