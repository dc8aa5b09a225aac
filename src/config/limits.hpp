// What a file of a few bytes may ask for. Checked before the memory is taken; docs/formats.md lists them.
#pragma once

#include <cstdint>

namespace photonrail::config {

inline constexpr std::uint32_t kMaxRanks = 1U << 24;  // of a job
inline constexpr std::uint64_t kMaxTasks = 1U << 24;  // that a file lists, each as often as there are ranks that have it
inline constexpr std::uint64_t kMaxDependencies = 1U << 26;  // the same of the waits of tasks for others
inline constexpr std::uint64_t kMaxMemberships = 1U << 24;   // of ranks in communicators, summed over these

}  // namespace photonrail::config
