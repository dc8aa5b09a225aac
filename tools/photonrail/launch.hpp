// Commands that run as array jobs of Slurm share this.
#pragma once

#include "commands.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace photonrail::sweep {
struct SlurmProfile;
struct SlurmJob;
}  // namespace photonrail::sweep

namespace photonrail::command {

/// The profile's file, with what the command line says; `jobs` 0: the profile's processors. Throws ConfigError.
[[nodiscard]] sweep::SlurmProfile profile_of(const SweepLaunchOptions& launch, std::uint32_t jobs);

/// The command as the nodes find it.
[[nodiscard]] std::filesystem::path own_program();

/// "submitted job 12, 3 tasks (SCRIPT)".
[[nodiscard]] std::string submitted(const sweep::SlurmJob& job);

}  // namespace photonrail::command
