// Studies of slices, `photonrail allocate`: decisions of allocators, streams of jobs, availability, waste, circuits of
// collectives. A study is a file or a text (docs/reference/slices.md has its keys and those of its results).
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/slices/allocator.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail {

/// The results of a study of slices.
struct AllocationTexts {
  std::string json;  ///< `photonrail.allocation_result/1`
  /// Of each stream, "firstfit fifo": its jobs as CSV, a row a job with arrival, start, end and waiting in seconds, and
  /// stops; "" without a queue.
  std::vector<std::pair<std::string, std::string>> jobs;
};

/// Reads `photonrail.allocation/1`, makes its decisions and runs its streams with each policy in each order. `known` has
/// the controllers and collectives of a scenario that the study names, `policies` the allocators. Throws ConfigError, and
/// DeadlockError where a job of a stream can never end.
[[nodiscard]] AllocationTexts run_allocation(
    const std::filesystem::path& file, std::span<const Override> overrides = {}, const Registries& known = {},
    const slices::AllocatorRegistry& policies = slices::AllocatorRegistry::builtin());
/// The same of a text. Relative paths are relative to `directory`; errors name `file`.
[[nodiscard]] AllocationTexts run_allocation(
    std::string_view json, const std::filesystem::path& directory, std::string_view file,
    std::span<const Override> overrides = {}, const Registries& known = {},
    const slices::AllocatorRegistry& policies = slices::AllocatorRegistry::builtin());

}  // namespace photonrail
