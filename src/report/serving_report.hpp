// Served requests in results: JSON, a table for people, and a CSV with a row for each request.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/workload/serving.hpp"

#include <optional>
#include <string>

namespace photonrail {
struct RunResult;
}

namespace photonrail::report {

extern const fields::Section kServingKeys;
/// Keys in the order of the file.
[[nodiscard]] json::Json serving_json(const ServingResult& result);
/// Percentiles of what a client sees, parts of the time to the first token, engines; unfinished requests first.
[[nodiscard]] std::string serving_text(const ServingResult& result);
/// cost::kwh_per_million_tokens of GPUs and network at their mean power; none where it is unknown, or nothing was answered.
[[nodiscard]] std::optional<double> kwh_per_million_tokens(const RunResult& result);
/// The line that says it, or "".
[[nodiscard]] std::string energy_of_tokens_text(const RunResult& result);
/// requests.csv: a row for each request that ended, in milliseconds; empty cells for what did not happen to it.
[[nodiscard]] std::string requests_csv(const ServingResult& result);

}  // namespace photonrail::report
