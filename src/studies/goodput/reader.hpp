// Scenarios with a "reliability" section that are JSON already.
#pragma once

#include "config/scenario_parts.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/goodput/section/section.hpp"

#include <filesystem>

namespace photonrail::goodput {

using json::Json;

/// A scenario with the section. `graphs`: as read_scenario_json(). Throws ConfigError with pointers.
[[nodiscard]] GoodputScenario read_goodput_json(const Json& root, const std::filesystem::path& directory,
                                                const Registries& known, config::GraphCache* graphs);

}  // namespace photonrail::goodput
