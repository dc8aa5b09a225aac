// Policies side by side on one job: runs each and prints a table, the fastest first.
#pragma once

#include "photonrail/result.hpp"
#include "photonrail/testing/laws.hpp"

#include <span>
#include <string>
#include <vector>

namespace photonrail::testing {

struct PolicyResult {
  std::string name;     ///< of the policy and its setting
  RunResult result{};   ///< as far as `problem` is empty
  std::string problem;  ///< why the run did not finish; empty when it did
};

/// Every policy in each of its settings, on the scenario's job, cluster and delays. In the order of `policies`.
[[nodiscard]] std::vector<PolicyResult> run_side_by_side(const Scenario& scenario,
                                                         std::span<const PolicyUnderTest> policies);

/// In Markdown, a line each: makespan, how much longer than the first that finished on electrical rails (or, without one,
/// than the shortest), reconfigurations, mean wait for them, hidden share. Runs that did not finish come last, with why.
[[nodiscard]] std::string to_markdown(std::span<const PolicyResult> contenders);

}  // namespace photonrail::testing
