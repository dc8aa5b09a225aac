// Files of `photonrail allocate`: docs/reference/slices.md has their keys.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/study/slices/study.hpp"

#include <filesystem>
#include <span>
#include <string_view>

namespace photonrail::slices {

/// Reads `photonrail.allocation/1`. Unknown keys are errors; relative paths are relative to the file. `known`: the policies
/// that the file may name. Throws ConfigError.
[[nodiscard]] AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides = {});
[[nodiscard]] AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides,
                                         const AllocatorRegistry& known);
/// The same of a text that is JSON. Relative paths are relative to `directory`; errors name `file`.
[[nodiscard]] AllocationStudy parse_study(std::string_view json, const std::filesystem::path& directory,
                                          std::string_view file, std::span<const Override> overrides = {},
                                          const AllocatorRegistry& known = AllocatorRegistry::builtin());

}  // namespace photonrail::slices
