// ASTRA-sim's inputs as the JSON of a scenario.
#pragma once

#include "json/json.hpp"
#include "photonrail/formats/astra.hpp"

#include <filesystem>

namespace photonrail::astra {

/// Paths are relative to `directory`, or absolute where it is empty.
[[nodiscard]] json::Json scenario_of(const AstraOptions& options, const std::filesystem::path& directory);

}  // namespace photonrail::astra
