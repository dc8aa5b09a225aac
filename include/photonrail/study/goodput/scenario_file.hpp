// A scenario with a "reliability" section.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/study/goodput/spec.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

struct Registries;

namespace goodput {

/// A checkpoint whose traffic is simulated ("workload/checkpoint"): the job with the checkpoint in each of its steps. What
/// `over_steps` of them take longer than steps without it is the stall; the copy is durable at their end.
struct SimulatedCheckpoint {
  Scenario job{};
  std::uint32_t over_steps = 1;
  bool asynchronous = false;
  std::string hash;  ///< of the section, 16 hexadecimal digits
};

struct GoodputScenario {
  std::string name;
  std::string why;
  GoodputSpec spec{};
  std::optional<Scenario> job{};                    ///< whose steps are simulated; none: `step` is given
  std::optional<TrainingSpec> training{};           ///< of a generated job
  Duration step{};                                  ///< without a job
  std::optional<SimulatedCheckpoint> checkpoint{};  ///< none: spec.checkpoint says what it takes
  std::string hash;                                 ///< of everything that histories depend on, 16 hexadecimal digits
  std::string step_hash;                            ///< of what the steps depend on: everything but the section

  /// Returns what is valid and yet looks like a mistake, each a complete line: warnings of the job (Scenario::warnings()),
  /// failures of the file itself that every step would have again, and replicas that can never be dropped.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

/// Reads a `photonrail.scenario/1` with a "reliability" section (docs/reference/goodput.md). Throws ConfigError.
[[nodiscard]] GoodputScenario read_goodput(const std::filesystem::path& file, std::span<const Override> overrides,
                                           const Registries& known);
/// The same from text; relative paths are relative to `directory`, and `file` is what errors call it.
[[nodiscard]] GoodputScenario parse_goodput(std::string_view json, const std::filesystem::path& directory,
                                            std::string_view file, std::span<const Override> overrides,
                                            const Registries& known);

}  // namespace goodput
}  // namespace photonrail
