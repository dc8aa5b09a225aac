// Scenarios with a "reliability" section, and many histories of one, in threads, in a folder that can be gone on with.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput/history.hpp"
#include "photonrail/study/goodput/policy.hpp"
#include "photonrail/study/goodput/spec.hpp"
#include "photonrail/training.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail {

struct Registries;

namespace goodput {

class KnownSteps;

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

/// Describes how far a call is. `done` of `seeds` histories, those of the folder too; `simulated` configurations.
struct GoodputProgress {
  std::size_t done = 0;
  std::size_t seeds = 0;
  std::size_t simulated = 0;
};

struct GoodputOptions {
  /// Made when it is missing; empty: nothing is written. seeds.jsonl: a line for each history, the moment it is complete.
  /// steps-HASH.jsonl: a line for each configuration that was simulated, by the hash of what steps depend on. What they
  /// have is not done again.
  std::filesystem::path directory;
  std::uint32_t jobs = 1;                   ///< threads; 0: as many as cores. Results do not depend on it
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: no further history begins
  std::filesystem::path steps_directory{};  ///< of steps-HASH.jsonl, which several scenarios may share; empty: `directory`
  goodput::KnownSteps* known_steps = nullptr;  ///< read, and added to. Must outlive the call
  /// Called after each history and each simulated configuration, by one thread at a time. What it throws ends the call.
  std::function<void(const GoodputProgress&)> progress{};
};

struct GoodputResult {
  goodput::GoodputSummary summary;
  std::vector<goodput::History> histories;                     ///< by seed, ascending
  Duration step{};                                             ///< of the healthy cluster
  std::optional<Duration> checkpoint_step{};                   ///< of the healthy cluster, with the simulated checkpoint
  std::vector<std::pair<std::string, double>> configurations;  ///< text, step in seconds; negative: the job cannot go on
  std::size_t simulated = 0;                                   ///< configurations that this call simulated
  std::uint32_t resumed = 0;                                   ///< histories that were in the folder
  std::vector<std::string> damaged{};                          ///< lines of the folder that were altered, and made again
};

/// Runs the histories of the scenario's seeds. Throws ConfigError (bad scenario, a folder of another scenario or version,
/// or one that cannot be written: what was recorded stays), DeadlockError (the healthy job cannot run).
[[nodiscard]] GoodputResult run_goodput(const goodput::GoodputScenario& scenario, const GoodputOptions& options = {},
                                        const Registries& known = {}, const goodput::PolicyTable& policies = {});

/// run_goodput() with an empty folder: failures and pauses of all histories, and the clusters that are simulated for them.
[[nodiscard]] WorkEstimate work_of(const goodput::GoodputScenario& scenario, const Registries& known = {});

/// The periods of one history, for a timeline.
[[nodiscard]] std::vector<goodput::Period> goodput_timeline(const goodput::GoodputScenario& scenario,
                                                            const GoodputResult& result, std::uint64_t seed,
                                                            const Registries& known = {},
                                                            const goodput::PolicyTable& policies = {});

}  // namespace photonrail
