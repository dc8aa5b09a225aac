// Runs a scenario folded and unfolded, and expects the same of both.
#pragma once

#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace photonrail::test {

/// Returns true when steps that repeat stood for others.
inline bool ran_few_steps(const RunResult& result) {
  return std::any_of(result.choices.begin(), result.choices.end(),
                     [](const std::string& line) { return line.find("steps: ") != std::string::npos; });
}

/// All that a run says, but for what it cost and what was simulated.
inline void expect_same_results(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.makespan, b.makespan);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.windows, b.windows);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t r = 0; r < a.ranks.size(); ++r) ASSERT_EQ(a.ranks[r], b.ranks[r]) << "rank " << r;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    EXPECT_EQ(a.traffic[d], b.traffic[d]) << "dimension " << name(static_cast<Dimension>(d));
  }
  EXPECT_EQ(a.reconfigurations.count, b.reconfigurations.count);
  EXPECT_EQ(a.reconfigurations.per_rail, b.reconfigurations.per_rail);
  EXPECT_EQ(a.reconfigurations.dark_port, b.reconfigurations.dark_port);
  EXPECT_EQ(a.reconfigurations.critical_path, b.reconfigurations.critical_path);
  EXPECT_EQ(a.reconfigurations.total, b.reconfigurations.total);
  EXPECT_EQ(a.reconfigurations.exposed, b.reconfigurations.exposed);
  EXPECT_EQ(a.reconfigurations.circuits, b.reconfigurations.circuits);
  ASSERT_EQ(a.reconfigurations.by_change.size(), b.reconfigurations.by_change.size());
  for (const auto& [change, totals] : a.reconfigurations.by_change) {
    const CommandTotals& other = b.reconfigurations.by_change.at(change);
    EXPECT_EQ(totals.count, other.count);
    EXPECT_EQ(totals.circuits, other.circuits);
    EXPECT_EQ(totals.exposed, other.exposed);
  }
  EXPECT_EQ(a.operation_times, b.operation_times);
  EXPECT_EQ(a.circuit_waits, b.circuit_waits);
  ASSERT_EQ(a.utilisation.has_value(), b.utilisation.has_value());
  if (!a.utilisation) return;
  // Shares of a run whose equal steps were not all run are rounded once more.
  const double room = ran_few_steps(a) ? 1e-12 : 0.0;
  EXPECT_NEAR(a.utilisation->rail_ports, b.utilisation->rail_ports, room);
  EXPECT_NEAR(a.utilisation->scale_up, b.utilisation->scale_up, room);
  EXPECT_NEAR(a.utilisation->switching, b.utilisation->switching, room);
}

/// The same of each of several jobs.
inline void expect_same_jobs(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t j = 0; j < a.jobs.size(); ++j) {
    SCOPED_TRACE("job " + std::to_string(j));
    EXPECT_EQ(a.jobs[j].start, b.jobs[j].start);
    EXPECT_EQ(a.jobs[j].alone, b.jobs[j].alone);
    expect_same_results(a.jobs[j], b.jobs[j]);
  }
}

/// The result of the folded run.
inline RunResult expect_same_folded(Scenario scenario) {
  scenario.run.folding = true;
  const RunResult folded = simulate(scenario);
  scenario.run.folding = false;
  const RunResult unfolded = simulate(scenario);
  EXPECT_EQ(unfolded.folding.classes, unfolded.folding.ranks);
  expect_same_results(folded, unfolded);
  expect_same_jobs(folded, unfolded);
  return folded;
}

}  // namespace photonrail::test
