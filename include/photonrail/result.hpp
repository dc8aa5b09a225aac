// What a run says. Times are seconds only here, at the edge; the exact picoseconds stay beside them where tests need them.
#pragma once

#include "photonrail/accounting.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

/// What of the job was simulated. Ranks of one class have the same history, and one of them was run for all.
struct FoldingSummary {
  std::uint64_t ranks = 0;
  std::uint64_t classes = 0;  ///< as many as ranks: every rank was simulated
  std::string off;            ///< why every rank was simulated; empty when some stood for others
};

struct EngineSummary {
  std::uint64_t events = 0;
  std::uint64_t sends = 0;
  double wall_s = 0.0;       ///< may differ between two runs
  double peak_rss_mb = 0.0;  ///< may differ between two runs
};

struct RunResult {
  std::string name;
  std::uint64_t seed = 0;
  Duration makespan{};
  std::vector<Duration> iterations;
  std::vector<RankTime> ranks;
  std::array<DimensionTraffic, kDimensionCount> traffic{};  ///< by Dimension
  ReconfigurationSummary reconfigurations;
  /// (before, after) -> on each rank, from the end of the last rail operation of one dimension until every member has
  /// reached the first of the next: what could hide a reconfiguration. 0 when they overlap. Of all ranks, each length once,
  /// ascending.
  std::map<std::pair<Dimension, Dimension>, std::vector<WindowCount>> windows;
  std::optional<CostSummary> cost;  ///< of a scenario with prices
  std::vector<std::string> warnings;
  std::vector<std::string> choices;  ///< what "auto" took for which collective, and why: each line is complete
  EngineSummary engine;              ///< of what was simulated
  FoldingSummary folding;
  Time start{};                    ///< of one of several jobs: when it began. Its makespan and iterations count from then on
  std::optional<Duration> alone{};  ///< of one of several jobs: its makespan with the cluster to itself
  /// Each job's own, where several share the cluster. The rest is then of all together: `ranks` one job after another, each
  /// for the whole makespan; no iterations.
  std::vector<RunResult> jobs{};

  /// makespan / alone; 1 without `alone`.
  [[nodiscard]] double slowdown() const;
  [[nodiscard]] RankTime mean_rank_time() const;  ///< rounded down to the picosecond
  /// The mean of the iterations after the first, rounded down; none when there was one only. The first differs where a job
  /// begins with something that later ones find done, as circuits that are lit.
  [[nodiscard]] std::optional<Duration> steady_iteration() const;
  /// The step time by which runs are compared: steady_iteration(), or the only iteration, or without iterations (of several
  /// jobs) the makespan. The page finds the same by the columns of a table (selection.js).
  [[nodiscard]] Duration step_time() const;
};

}  // namespace photonrail
