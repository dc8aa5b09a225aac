// What bounds a run and why, as text for people: the critical path, the worth of resources, the notes.
#pragma once

#include "json/json.hpp"
#include "photonrail/result.hpp"
#include "photonrail/study/worth.hpp"

#include <span>
#include <string>

namespace photonrail::report {

/// A line for each part of the critical path, and its busiest capacity; "" without a path.
[[nodiscard]] std::string path_text(const RunResult& result, int width);
/// A line a resource. REQUIRES: `worth` is not empty.
[[nodiscard]] std::string worth_text(std::span<const Worth> worth, Duration step);
/// A paragraph a note, with its key. `about`: before each; empty: nothing.
[[nodiscard]] std::string notes_text(std::span<const Note> notes, const std::string& about, int width);
/// A list of { resource, key, change, step_s, gain } or { ..., error }.
[[nodiscard]] json::Json worth_json(std::span<const Worth> worth);

}  // namespace photonrail::report
