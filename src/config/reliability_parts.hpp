// The parts of the "reliability" section, each read from its JSON.
#pragma once

#include "config/field_keys.hpp"
#include "config/json_reader.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/reliability/scenario_file.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace photonrail::config {

/// What the section takes from the rest of the file, where that is there.
struct ReliabilityContext {
  const std::filesystem::path& directory;
  std::optional<ClusterSpec> cluster{};
  std::uint64_t ranks = 0;            ///< of the job; 0: not known
  bool simulated_checkpoint = false;  ///< the step simulator says what a checkpoint takes
};

/// The whole section. `step`: "step_s", where the section has it. Throws ConfigError; the spec is valid.
[[nodiscard]] reliability::GoodputSpec read_reliability(JsonReader section, const ReliabilityContext& context,
                                                        std::optional<Duration>& step);

class GraphCache;

/// A scenario with the section. `graphs`: as read_scenario_json(). Throws ConfigError with pointers.
[[nodiscard]] reliability::GoodputScenario read_goodput_json(const Json& root, const std::filesystem::path& directory,
                                                             const Registries& known, GraphCache* graphs);

/// Fields of reliability::GoodputSpec and their keys below the section.
[[nodiscard]] std::span<const FieldKey> reliability_keys();

/// The time of the key `stem` + "_s", "_h" or "_d", a number or a distribution; none when no key is there.
[[nodiscard]] std::optional<reliability::RandomTime> read_random_time(JsonReader& section, std::string_view stem,
                                                                      const std::filesystem::path& directory);
[[nodiscard]] reliability::FailureSource read_failure(JsonReader section, const ReliabilityContext& context,
                                                      const reliability::JobShape& job);
[[nodiscard]] reliability::RecoveryOption read_recovery_option(JsonReader section, const std::filesystem::path& directory);

}  // namespace photonrail::config
