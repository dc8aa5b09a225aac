// What bounds a run and why, as text for people: the critical path, the worth of resources, the notes.
#pragma once

#include "json/json.hpp"
#include "photonrail/result.hpp"
#include "photonrail/study/worth.hpp"

#include <span>
#include <string>
#include <string_view>

namespace photonrail::report {

/// A line for each part of the critical path, and its busiest capacity; "" without a path.
[[nodiscard]] std::string path_text(const RunResult& result, int width);
/// A line a resource. `base`: of the scenario as it is. REQUIRES: `worth` is not empty.
[[nodiscard]] std::string worth_text(std::span<const Worth> worth, const Measure& base);
/// A paragraph a note, with its key. `about`: before each; empty: nothing.
[[nodiscard]] std::string notes_text(std::span<const Note> notes, const std::string& about, int width);
/// "step_s", "ttft_s", "rate_per_s".
[[nodiscard]] std::string_view key_of(Measure::Kind kind);
/// A list of { resource, key, change, step_s or another measure, gain } or { ..., error }.
[[nodiscard]] json::Json worth_json(std::span<const Worth> worth);

}  // namespace photonrail::report
