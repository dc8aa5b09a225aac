// Scenario files and their overrides.
#pragma once

#include "commands.hpp"
#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/training.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace photonrail::command {

[[nodiscard]] std::vector<Override> parse_set(const std::vector<std::string>& set);
/// `set`: texts of --set. `known`: the controllers and collectives that the file may name. Throws ConfigError.
[[nodiscard]] Scenario read_one(const std::filesystem::path& file, const std::vector<std::string>& set,
                                const Registries& known);
/// The same, where several jobs on one cluster are none that the command can take.
[[nodiscard]] Scenario read_one_job(const std::filesystem::path& file, const std::vector<std::string>& set,
                                    const Registries& known);
/// `scenario`, which has one job. Throws ConfigError that names its `file`.
[[nodiscard]] Scenario one_job(Scenario scenario, const std::filesystem::path& file);
/// Throws ConfigError where two of them are standard input, which can be read once.
void check_inputs(const std::vector<std::filesystem::path>& files);
[[nodiscard]] TrainingSpec read_training(const std::filesystem::path& file, const std::vector<std::string>& set);
[[nodiscard]] std::vector<Scenario> read_scenarios(const std::vector<std::filesystem::path>& files,
                                                   const std::vector<std::string>& set, const Registries& known);

/// Returns what `action` returns; what it throws is a CommandError that names the file.
template <class Action>
auto about(const std::filesystem::path& file, Action&& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    throw CommandError(exit_status(error), file.string() + ": " + file_words(error));
  }
}

}  // namespace photonrail::command
