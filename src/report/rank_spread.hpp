// How far the ranks of a run lie apart.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/result.hpp"

namespace photonrail::report {

/// Whether a failure was not detected at once, so that ranks have such a time.
[[nodiscard]] bool has_detection(const RunResult& result);

/// Whether a rank was without a launch of an agent's workload.
[[nodiscard]] bool has_idle(const RunResult& result);

extern const fields::Section kRankSpreadKeys;
/// { "compute": { "least", "median", "most" }, ... } in seconds, over the ranks; of an even number of ranks the median is
/// the lower of the two in the middle. An empty object without ranks.
[[nodiscard]] json::Json rank_spread_json(const RunResult& result);

}  // namespace photonrail::report
