// The smoke test of the Opus artifact without its trace: the job that the generator of symbolic_job.hpp writes, which takes
// the time of the trace to the picosecond (SymbolicJobs.TheSmokeTestIsItsTrace).
#pragma once

#include "golden/symbolic_job.hpp"
#include "photonrail/config.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::test {

/// DP2 PP2 TP2, a plain MLP, no grouped heads.
inline SymbolicJob smoke_job() {
  SymbolicJob job;
  job.dp = job.pp = job.tp = 2;
  job.kv_heads = job.heads;
  job.gated = false;
  return job;
}

/// Whether a scenario of configs/ runs the trace of the smoke test.
inline bool is_smoke(std::string_view file) { return file.starts_with("papers/opus/smoke-"); }

/// That scenario with the generated job in the place of the trace. Ranks 0 to 3 are stage 0 in both; within a stage the
/// trace counts dp innermost and the generator tp, and either puts the tensor-parallel pairs into a server.
inline Scenario smoke_without_trace(const std::filesystem::path& file, std::vector<Override> overrides) {
  overrides.push_back({"/workload", R"({"collective": {"op": "all_reduce", "bytes": 1, "ranks": 8}})"});
  Scenario scenario = read_scenario(file, overrides);
  scenario.graph = symbolic_graph(smoke_job());
  scenario.gpu_of_rank.clear();
  for (std::size_t r = 0; r < scenario.graph.ranks(); ++r) scenario.gpu_of_rank.emplace_back(r);
  return scenario;
}

}  // namespace photonrail::test
