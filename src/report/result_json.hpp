// A result as a JSON value, for callers that read numbers from it instead of writing it.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

/// The table of the keys, with what the command adds.
extern const fields::Section kResultKeys;

/// Keys in the order of the file. Without `lists`, what has an entry a rank or a window is left out.
[[nodiscard]] json::Json result_json(const RunResult& result, bool lists);

/// What tables of runs have of an entry of "jobs": its numbers and those of per_rank_mean_s, as "jobs.NAME.makespan_s".
[[nodiscard]] std::vector<std::pair<std::string, double>> numbers_of_job(const json::Json& job);

/// What they have of "quantiles_s": median and 99th percentile, as "quantiles_s.circuit_wait.dp.p50" and ".p99".
[[nodiscard]] std::vector<std::pair<std::string, double>> numbers_of_quantiles(const json::Json& quantiles);

/// Every number of `result` that is in no list, by its path with dots, numbers_of_quantiles(), and numbers_of_job() of each
/// of several jobs; not wall_s and peak_rss_mb.
[[nodiscard]] std::vector<std::pair<std::string, double>> numbers_of(const RunResult& result);

}  // namespace photonrail::report
