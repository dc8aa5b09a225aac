// What bounds a run and why, as text for people: the critical path, the worth of resources, the notes.
#pragma once

#include "json/json.hpp"
#include "photonrail/result.hpp"
#include "run/worth.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::report {

/// Returns the waits for peers by cause, mean of ranks: longest first, causes without time left out.
[[nodiscard]] std::vector<std::pair<WaitCause, Duration>> waits_of(const CriticalPath& path);
/// A line for each part of the critical path, its busiest capacity, and a line for each cause of waits; "" without a path.
[[nodiscard]] std::string path_text(const RunResult& result, int width);
/// A line a resource. `base`: of the scenario as it is. REQUIRES: `worth` is not empty.
[[nodiscard]] std::string worth_text(std::span<const run::Worth> worth, const run::Measure& base);
/// A paragraph a note, with its key.
[[nodiscard]] std::string notes_text(std::span<const Note> notes, int width);
/// The same of the notes of several results; those that several share are said once.
[[nodiscard]] std::string notes_text(std::span<const RunResult> results, int width);
/// What runs chose where they were free to, as "auto" among collectives: a line a choice, with the names of the runs.
[[nodiscard]] std::vector<std::string> choices_told(std::span<const RunResult> results);
/// `error` with a '?' in place of each control character but the ends of its lines.
[[nodiscard]] std::string error_text(std::string_view error);
/// Prints what the measure of a run without a critical path is made of: the mean time to the first token, or a step of
/// reinforcement learning; "" of others.
[[nodiscard]] std::string parts_text(const RunResult& result);
/// "step_s", "ttft_s", "rate_per_s".
[[nodiscard]] std::string_view key_of(run::Measure::Kind kind);
/// A list of { resource, key, change, step_s or another measure, gain } or { ..., error }.
[[nodiscard]] json::Json worth_json(std::span<const run::Worth> worth);

}  // namespace photonrail::report
