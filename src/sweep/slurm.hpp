// What Slurm knows of the jobs of a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// A line for each job that was submitted for `directory`.
[[nodiscard]] std::vector<std::string> slurm_state(const std::filesystem::path& directory);

}  // namespace photonrail::sweep
