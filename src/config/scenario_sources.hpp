// Sections of a scenario that the inputs of another program give. A source is a component: this room knows its key alone.
#pragma once

#include "config/json_reader.hpp"

#include <filesystem>
#include <span>
#include <string_view>

namespace photonrail::config {

struct ScenarioSource {
  std::string_view key;  ///< of the section that names the inputs
  /// Returns a scenario with the sections that the inputs give. Throws ConfigError with a pointer into the section, or with
  /// a file.
  Json (*scenario)(JsonReader& section, const std::filesystem::path& directory);
};

/// The sources of this build. The table is in src/components, above all rooms that it names.
[[nodiscard]] std::span<const ScenarioSource> scenario_sources();

/// The source whose section `root` has; null: none, and the scenario is complete by itself.
[[nodiscard]] const ScenarioSource* source_of(const Json& root);

/// `root` with what the inputs say in place of the section of the source; what the scenario says itself stays.
/// REQUIRES: `root` has the section. Throws as ScenarioSource::scenario.
[[nodiscard]] Json expand(const ScenarioSource& source, const Json& root, const std::filesystem::path& directory);

}  // namespace photonrail::config
