// A result as a JSON value, for callers that read numbers from it instead of writing it.
#pragma once

#include "json/json.hpp"
#include "photonrail/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

/// Keys in the order of the file. Without `lists`, what has an entry a rank or a window is left out.
[[nodiscard]] json::Json result_json(const RunResult& result, bool lists);

/// Every number of `result` that is in no list, by its path with dots; not wall_s and peak_rss_mb.
[[nodiscard]] std::vector<std::pair<std::string, double>> numbers_of(const RunResult& result);

}  // namespace photonrail::report
