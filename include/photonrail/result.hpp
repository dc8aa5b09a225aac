// What a run says. Times are seconds only here, at the edge; the exact picoseconds stay beside them where tests need them.
#pragma once

#include "photonrail/cost.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/total_time.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

/// Where a rank's time goes. The four add up to the makespan, to the picosecond.
struct RankTime {
  Duration compute{};                ///< a compute task runs
  Duration exposed_communication{};  ///< no compute runs, and bytes of an operation of this rank are on their way
  Duration reconfiguration_wait{};   ///< nothing of the above, and an operation lacks only its circuits
  Duration peer_wait{};              ///< the rest: waiting for other ranks, or done

  [[nodiscard]] Duration total() const { return compute + exposed_communication + reconfiguration_wait + peer_wait; }

  friend bool operator==(const RankTime&, const RankTime&) = default;
};

/// Traffic of one dimension.
struct DimensionTraffic {
  Bytes bytes{};                 ///< on the wire, leaving GPUs, all ranks
  std::uint64_t operations = 0;  ///< collectives, and sends
  Duration busy{};               ///< mean over ranks: an operation of this dimension is running on the rank
  Duration exposed{};            ///< mean over ranks: the part of exposed_communication that it explains

  friend bool operator==(const DimensionTraffic&, const DimensionTraffic&) = default;
};

struct ReconfigurationSummary {
  std::uint64_t count = 0;  ///< commands that changed a circuit
  std::vector<std::uint64_t> per_rail;
  TotalTime dark_port{};            ///< summed over transmit ports: time in switching
  std::uint32_t critical_path = 0;  ///< reconfigurations one after another on the path that ends the run
  TotalTime total{};                ///< summed over commands: from the decision until the circuits can be used
  TotalTime exposed{};  ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
  /// 1 - exposed / total; 1 when there was none.
  [[nodiscard]] double hidden_share() const;
};

/// How many windows had this length.
struct WindowCount {
  Duration length{};
  std::uint64_t count = 0;

  friend bool operator==(const WindowCount&, const WindowCount&) = default;
};

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
};

}  // namespace photonrail
