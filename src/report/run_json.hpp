// Parts of a result as JSON: what was simulated, what a training job achieves, commands by change, utilisation, quantiles.
#pragma once

#include "json/json.hpp"
#include "photonrail/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace photonrail::report {

/// Cluster, controller, overrides, hash: of a result as a whole, or of one of its jobs.
[[nodiscard]] json::Json simulated_json(const RunResult& result);
/// Adds tokens_per_s, mfu, model_flops and what its GPUs hold to `entry`, where the result has them.
void add_training(const RunResult& result, json::Json& entry);
/// An object for each (before, after) of the commands.
[[nodiscard]] json::Json changes_json(const ReconfigurationSummary& summary);
/// The commands that served a dimension first.
[[nodiscard]] std::uint64_t commands_for(const RunResult& result, std::size_t dimension);
/// A list of { id, key, text, value }.
[[nodiscard]] json::Json notes_json(std::span<const Note> notes);
/// { parts: [{ part, time_s, share, stretches }], busiest }.
[[nodiscard]] json::Json path_json(const CriticalPath& path);
[[nodiscard]] json::Json utilisation_json(const Utilisation& utilisation);
/// Of the times of operations and of waits for circuits, by dimension.
[[nodiscard]] json::Json quantiles_json(const RunResult& result);

}  // namespace photonrail::report
