// A result is what a run says. Times are seconds only here, at the edge; the exact picoseconds stay beside them where tests
// need them.
#pragma once

#include "photonrail/accounting.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/study/explanation.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"
#include "photonrail/workload/rl.hpp"
#include "photonrail/workload/serving.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

/// Holds what of the job was simulated. Ranks of one class have the same history, and one of them was run for all.
struct FoldingSummary {
  std::uint64_t ranks = 0;
  std::uint64_t classes = 0;  ///< as many as ranks: every rank was simulated
  std::string off;            ///< why every rank was simulated; empty when some stood for others
};

struct EngineSummary {
  std::uint64_t events = 0;
  std::uint64_t sends = 0;
  double wall_s = 0.0;                ///< may differ between two runs
  double peak_rss_mb = 0.0;           ///< may differ between two runs
  double network_accuracy = 0.0;      ///< RunSpec's; 0: every flow is exact
  std::uint64_t epochs = 0;           ///< of the network, in which flows were taken together
  std::uint64_t flows_in_epochs = 0;  ///< whose ends are estimates within the accuracy
};

/// Holds what of the capacity of the job's GPUs was used to send, on average over the run, from 0 to 1.
struct Utilisation {
  double rail_ports = 0.0;  ///< bytes over rails / (rate of the NICs of all ranks x makespan)
  double scale_up = 0.0;    ///< bytes within servers / (rate of the scale-up ports of all ranks x makespan)
  double switching = 0.0;   ///< optical: share of the time of these ports' transmit sides in which they are being switched
  /// One uplink of a leaf, where messages take single ones (UplinkSpec::routing).
  struct Uplink {
    RailId rail;
    std::uint32_t leaf = 0;
    std::uint32_t uplink = 0;
    double busy = 0.0;  ///< bytes / (rate x makespan) of its busier direction
    Bytes up{};
    Bytes down{};
  };
  /// The uplinks of leaves, or of pods that packet switches join: those of a leaf or pod on a rail are one capacity.
  struct Uplinks {
    std::uint64_t count = 0;  ///< of such capacities, that the job has GPUs below
    double mean = 0.0;        ///< bytes up / (rate x makespan), mean over them
    double busiest = 0.0;     ///< the same of the busiest
    /// The bytes of one operation over one of them, in what its members send on average, at most: 1 of a ring.
    double members = 0.0;
    static constexpr std::size_t kMaxSingle = 64;
    std::vector<Uplink> single{};  ///< of leaves with a GPU of the job, the busiest first, at most kMaxSingle
    double single_mean = 0.0;      ///< mean of `busy` over all of these leaves
  };
  /// A link between sites.
  struct Link {
    std::uint32_t from = 0;  ///< sites
    std::uint32_t to = 0;
    double busy = 0.0;  ///< bytes / (rate x makespan) in this direction
    Bytes bytes{};
  };
  std::vector<Link> site_links{};    ///< both directions of each; empty: one site
  std::optional<Uplinks> uplinks{};  ///< none where there are no uplinks: one tier, or pods joined by circuits
  /// Optical: bytes over rails / (rate of the transmit ports x the time in which they are not switched); else 0.
  [[nodiscard]] double circuits() const { return switching < 1.0 ? rail_ports / (1.0 - switching) : 0.0; }
};

struct RunResult {
  /// Makespans of the same scenario under several seeds, RunResult::seed among them.
  struct Spread {
    std::uint32_t seeds = 0;
    std::uint32_t unfinished = 0;  ///< of `seeds`: a deadlock, or an error of the controller; they have no makespan
    Duration min{};
    Duration median{};  ///< of an even number the lower of the two in the middle
    Duration max{};
  };

  std::string name;
  std::uint64_t seed = 0;
  Duration makespan{};
  std::optional<Spread> spread;  ///< RunSpec::spread_seeds; none: not asked for, or nothing is drawn
  std::vector<Duration> iterations;
  std::vector<RankTime> ranks;
  std::array<DimensionTraffic, kDimensionCount> traffic{};  ///< by Dimension
  std::optional<ServingResult> serving{};                   ///< of served requests
  std::vector<LaunchTotals> launches;                       ///< of an agent's workload: by kind; else empty
  std::optional<RlResult> rl{};                             ///< of a reinforcement learning job
  ReconfigurationSummary reconfigurations;
  /// (before, after) -> on each rank, from the end of the last rail operation of one dimension until every member has
  /// reached the first of the next: what could hide a reconfiguration. 0 when they overlap. Of all ranks, each length once,
  /// ascending.
  std::map<std::pair<Dimension, Dimension>, std::vector<WindowCount>> windows;
  std::optional<CostSummary> cost;  ///< of a scenario with prices
  /// (dimension) -> how long operations ran, from the instant when an operation has its members and lanes until its last
  /// member is done, waits for circuits included; and how long rounds of operations, or pairs, waited for circuits.
  std::map<Dimension, DurationHistogram> operation_times;
  std::map<Dimension, DurationHistogram> circuit_waits;
  std::optional<Utilisation> utilisation;     ///< none of a bound
  std::optional<CriticalPath> critical_path;  ///< RunSpec::critical_path; none of several jobs, and of a bound
  ClusterSpec cluster{};                      ///< as it was simulated
  ControllerSpec controller{};                ///< as it was simulated; of several jobs each has its own
  Scenario::Source source{};                  ///< of the scenario
  std::vector<StageMemory> memory;            ///< of a generated training job, by pipeline stage; else empty
  std::optional<TrainingWork> work;           ///< of a generated training job: of one step
  double peak_tflops = 0.0;                   ///< of the GPUs of all ranks together
  std::string infeasible;                     ///< Scenario::infeasible()
  std::vector<std::string> warnings;          ///< Scenario::warnings(), and what the run adds
  std::vector<Note> notes;                    ///< why numbers are what they are, and which settings have no effect
  std::vector<std::string> choices;           ///< what "auto" took for which collective, and why: each line is complete
  EngineSummary engine;                       ///< of what was simulated
  FoldingSummary folding;
  Time start{};  ///< of one of several jobs: when it began. Its makespan and iterations count from then on
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
  /// The step by which runs are compared: the middle ones of reinforcement learning, steady_iteration(), the only
  /// iteration, or without any (of several jobs) the makespan. The page finds the same by the columns of a table
  /// (selection.js).
  [[nodiscard]] Duration step_time() const;
  /// Has, of a generated training job and by its steady step, or the only one: tokens a second; the model's FLOPs over
  /// those that the GPUs of all ranks could do at their peak; none where the job has none, or a step takes no time.
  [[nodiscard]] std::optional<double> tokens_per_s() const;
  [[nodiscard]] std::optional<double> mfu() const;
  /// Returns what the fullest GPU of a generated training job holds, bytes; of several jobs, the most of them.
  [[nodiscard]] std::optional<double> peak_memory_bytes() const;
};

/// Notes of results side by side: which coincide, and which optical one is faster than an electrical one, and why.
[[nodiscard]] std::vector<Note> notes_of(std::span<const RunResult> results);

}  // namespace photonrail
