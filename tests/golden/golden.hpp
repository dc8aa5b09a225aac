// What the golden tests share: the scenarios of configs/, a record of what happened, and the room that two fidelities have.
#pragma once

#include "golden/smoke_job.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "support/shared_data.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

inline Duration ms(double x) { return from_seconds(x / 1000); }

inline std::filesystem::path configs() { return std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs"; }

/// A scenario of configs/, with `--set` arguments. Its traces may be in the shared data; where that is absent, a generated
/// job stands in for the trace of the smoke test.
inline Scenario load(const std::string& file, const std::vector<std::string>& sets = {}) {
  const auto data = shared_data();
  if (data) ::setenv("PHOTONRAIL_SHARED_DATA", data->c_str(), 1);
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(Override::parse(set));
  if (!data && is_smoke(file)) return smoke_without_trace(configs() / file, std::move(overrides));
  return read_scenario(configs() / file, overrides);
}

inline RunResult run(const std::string& file, const std::vector<std::string>& sets = {}) {
  return simulate(load(file, sets));
}

/// The four parts of every rank add up to the makespan, to the picosecond.
inline void expect_balanced(const RunResult& result) {
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    EXPECT_EQ(result.ranks[r].total(), result.makespan) << result.name << ", rank " << r;
  }
}

inline std::uint64_t history(const Scenario& scenario) {
  testing::HistoryHash hash;
  Observer* const observers[] = {&hash};
  (void)simulate(scenario, observers);
  return hash.value();
}

inline const DimensionTraffic& traffic(const RunResult& result, Dimension d) {
  return result.traffic[static_cast<std::size_t>(d)];
}

/// Whether every communication is an all-to-all that follows a demand.
inline bool only_demands(const TaskGraph& graph) {
  for (const Program& program : graph.programs()) {
    for (const Task& task : program.tasks()) {
      if (task.kind != TaskKind::kCompute && task.demand() == 0) return false;
    }
  }
  return true;
}

/// How far apart two fidelities may be: the latency term of the heaviest chain of collectives.
///
/// A ring of s steps in p pieces moves B bytes over each port in exactly B / rate at either fidelity. What differs is the
/// rest: stream pays s x (latency + overhead), for one message after another; exact hides the latency of a piece behind
/// the bytes of the others, and pays the overhead of every piece: between latency + s x p x overhead and
/// s x (latency + p x overhead). Both lie within s x (latency + p x overhead). (The picosecond that each message is rounded
/// up by is 1/10,000 of a 10 ns overhead.) The makespan is a greatest sum over the chains of the job; where each operation
/// changes by at most its own term, that sum changes by at most the greatest sum of terms over a chain. Which is what the
/// job takes when computing and bytes cost nothing: one more run says it, with the overhead of all pieces in one message.
inline Duration latency_term(Scenario scenario) {
  Duration of_jobs{};
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) of_jobs += latency_term(scenario.alone(j));
  if (!scenario.jobs.empty()) return of_jobs;
  if (only_demands(scenario.graph)) return Duration{};  // such plans run send by send at either fidelity
  const Bandwidth no_time{1e30};
  scenario.cluster.gpu.peak_tflops = scenario.cluster.gpu.memory_gb_per_s = 1e30;
  scenario.cluster.scale_up.per_gpu = scenario.cluster.nic.per_port = no_time;
  scenario.cluster.nic.message_overhead *= scenario.collectives.chunks;
  scenario.cluster.rail = RailSpec{};
  scenario.cluster.nic.optical_budget_db = 0.0;
  scenario.controller = ControllerSpec{};
  scenario.stragglers.clear();
  scenario.run.fidelity = Fidelity::kStream;
  return simulate(scenario).makespan;
}

}  // namespace photonrail::test
