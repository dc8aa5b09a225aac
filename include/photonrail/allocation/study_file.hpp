// Files of `photonrail allocate`: docs/slices.md has their keys.
#pragma once

#include "photonrail/allocation/study.hpp"
#include "photonrail/config.hpp"

#include <filesystem>
#include <span>

namespace photonrail::allocation {

/// Reads `photonrail.allocation/1`. Unknown keys are errors; relative paths are relative to the file. `known`: the policies
/// that the file may name. Throws ConfigError.
[[nodiscard]] AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides = {});
[[nodiscard]] AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides,
                                         const AllocatorRegistry& known);

}  // namespace photonrail::allocation
