// Small files of each format that the exploration of its schema begins with, and the reader of a sweep as it needs it.
#pragma once

#include "json/json_reader.hpp"

#include <filesystem>
#include <span>

namespace photonrail::sweep {

// One for each choice that takes two keys at once; all else is found.
[[nodiscard]] std::span<const char* const> scenario_examples();
[[nodiscard]] std::span<const char* const> sweep_examples();
[[nodiscard]] std::span<const char* const> graph_examples();
[[nodiscard]] std::span<const char* const> model_examples();
[[nodiscard]] std::span<const char* const> catalogue_examples();

/// The schema of `photonrail.result/1`, which is written and not read.
[[nodiscard]] const char* result_schema();

/// Reads a sweep whose base is relative to `directory`. Throws ConfigError.
void read_sweep_json(const json::Json& root, const std::filesystem::path& directory, json::ReadObserver& observer);

}  // namespace photonrail::sweep
