// The section "astra" of a scenario.
#pragma once

#include "json/json.hpp"

#include <filesystem>

namespace photonrail::config {

/// `root` with what ASTRA-sim's inputs say in place of its section "astra"; what the scenario says itself stays.
/// REQUIRES: `root` has the section. Throws ConfigError with a pointer into it, or with a file.
[[nodiscard]] json::Json expand_astra(const json::Json& root, const std::filesystem::path& directory);

}  // namespace photonrail::config
