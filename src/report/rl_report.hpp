// Reinforcement learning jobs in results.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/workload/rl.hpp"

#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

extern const fields::Section kRlKeys;
/// The "rl" entry of `photonrail.result/1`.
[[nodiscard]] json::Json rl_json(const RlResult& rl);
/// Lines for people: phases of a step, means over the steps after the first and before the last, where there are three.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> rl_lines(const RlResult& rl);

}  // namespace photonrail::report
