// What a file of a few bytes may ask for. Checked before the memory is taken; docs/reference/limits.md lists them.
#pragma once

#include "json/json_reader.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace photonrail::config {

inline constexpr std::uint32_t kMaxRanks = 1U << 24;  // of a job
inline constexpr std::uint64_t kMaxTasks = 1U << 24;  // that a file lists, each as often as there are ranks that have it
inline constexpr std::uint64_t kMaxDependencies = 1U << 26;  // the same of the waits of tasks for others
inline constexpr std::uint64_t kMaxMemberships = 1U << 24;   // of ranks in communicators, summed over these

// Limits of a model's dimensions, in a file of the project and in a config.json of Hugging Face.
inline constexpr std::uint32_t kMaxModelWidth = 10'000'000;
inline constexpr std::uint32_t kMaxLayers = 10'000;
inline constexpr std::uint32_t kMaxHidden = 1'000'000;  // also of a head
inline constexpr std::uint32_t kMaxHeads = 100'000;
inline constexpr std::uint32_t kMaxVocabulary = 100'000'000;

/// A whole number below `count`, which other values of the file say. Throws ConfigError.
[[nodiscard]] inline std::uint32_t read_index(const json::JsonReader& value, std::uint32_t count) {
  const std::uint32_t index = value.count(0, std::numeric_limits<std::uint32_t>::max() - 1);
  if (index < count) return index;
  value.fail("must be a whole number from 0 to " + std::to_string(count - 1) + ", but is " + json::describe(value.json()));
}

}  // namespace photonrail::config
