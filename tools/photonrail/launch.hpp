// Commands that run as array jobs of Slurm share this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace photonrail::sweep {
struct SlurmProfile;
struct SlurmJob;
}  // namespace photonrail::sweep

namespace CLI {
class App;
}  // namespace CLI

namespace photonrail::command {

/// Who runs the points of a sweep. What follows `launcher` is for Slurm, and goes before what its profile says.
struct SweepLaunchOptions {
  std::string launcher = "local";
  std::filesystem::path profile;
  std::string partition;
  std::string time;
  std::uint32_t points_per_task = 0;
};

/// Its options. `points`: the word for what is run.
void add_slurm(CLI::App& command, SweepLaunchOptions& launch, const std::string& points);

/// The profile's file, with what the command line says; `jobs` 0: the profile's processors. Throws ConfigError.
[[nodiscard]] sweep::SlurmProfile profile_of(const SweepLaunchOptions& launch, std::uint32_t jobs);

/// The command as the nodes find it.
[[nodiscard]] std::filesystem::path own_program();

/// "submitted job 12, 3 tasks (SCRIPT)".
[[nodiscard]] std::string submitted(const sweep::SlurmJob& job);

}  // namespace photonrail::command
