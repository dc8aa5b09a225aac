// What was simulated, in words for people: the scenario by topic.
#pragma once

#include "json/json.hpp"

#include <set>
#include <string>

namespace photonrail::report {

/// [{ "topic": "cluster", "text": "servers 4, gpu preset h200, ..." }] for each part of a scenario. `varied`: JSON pointers
/// of what a sweep changes, each told as such.
[[nodiscard]] json::Json facts_of(const json::Json& scenario, const std::set<std::string>& varied);

}  // namespace photonrail::report
