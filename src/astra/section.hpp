// The section "astra" of a scenario: ASTRA-sim's inputs give every section that the scenario does not.
#pragma once

#include "json/json_reader.hpp"

#include <filesystem>

namespace photonrail::astra {

/// The scenario that the files named by the section give. Throws ConfigError with a pointer into it, or with a file.
[[nodiscard]] json::Json scenario_of_section(json::JsonReader& section, const std::filesystem::path& directory);

}  // namespace photonrail::astra
