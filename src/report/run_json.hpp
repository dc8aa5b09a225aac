// Parts of a result as JSON, with the tables of their keys: what was simulated, what a training job achieves, commands by
// change, utilisation, notes, the critical path, quantiles.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace photonrail::report {

extern const fields::Section kSimulatedKeys;
extern const fields::Section kTrainingKeys;
extern const fields::Section kReconfigurationKeys;
extern const fields::Section kUtilisationKeys;
extern const fields::Section kNoteKeys;
extern const fields::Section kPathKeys;
extern const fields::Section kQuantileKeys;

/// Cluster, controller, overrides, hash: of a result as a whole, or of one of its jobs.
[[nodiscard]] json::Json simulated_json(const RunResult& result);
/// What a training job achieves and what its GPUs hold; an empty object of other results.
[[nodiscard]] json::Json training_json(const RunResult& result);
[[nodiscard]] json::Json reconfigurations_json(const ReconfigurationSummary& summary);
/// The commands that served a dimension first.
[[nodiscard]] std::uint64_t commands_for(const RunResult& result, std::size_t dimension);
[[nodiscard]] json::Json notes_json(std::span<const Note> notes);
[[nodiscard]] json::Json path_json(const CriticalPath& path);
[[nodiscard]] json::Json utilisation_json(const Utilisation& utilisation);
/// Of the times of operations and of waits for circuits, by dimension.
[[nodiscard]] json::Json quantiles_json(const RunResult& result);

}  // namespace photonrail::report
