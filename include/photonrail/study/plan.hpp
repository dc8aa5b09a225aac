// The planner searches the best way to build and to run a job: shapes of parallelism, and any other keys of a scenario that
// the file leaves open. What it says is proven: a candidate that was not simulated cannot be better, by a lower bound on
// its step, or the answer has a gap.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/result.hpp"
#include "photonrail/simulate.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail {

/// The quantity that a plan minimises.
enum class PlanObjective : std::uint8_t {
  kStep,                ///< seconds of a step
  kGpuSecondsAToken,    ///< the same times GPUs, over the tokens of a step: for choices that change either
  kGpuSecondsARequest,  ///< GPUs over the requests a second that keep their limits
  kDays,                ///< until Plan::tokens are trained on, with the failures of the base's section "reliability"
  kUsdATrillionTokens,  ///< GPUs, network and energy, with these failures
  kUsdAMillionTokens,   ///< the same of served requests, a million tokens of answers
  kUsd,                 ///< the bill of the network
  kPower                ///< watts of the network
};

/// Prices of the bill of a job, beside those of its network.
struct PlanPrices {
  double gpu_hour_usd = 0.0;  ///< of a GPU with all that belongs to it but the network
  double network_years = 4.0;
  double usd_per_kwh = 0.0;
};

/// One value of a free choice: what it is called, and what it changes in the base.
struct PlanValue {
  std::string label;
  std::vector<Override> patch;
};

struct PlanAxis {
  std::string name;
  std::vector<PlanValue> values;  ///< not empty
};

/// The shapes of a training job: each list has the values that a number may take. The data-parallel size follows from the
/// GPUs of the cluster.
struct ShapeSpace {
  std::vector<std::uint32_t> tp, cp, pp, ep, virtual_stages, micro_batch;
  std::vector<std::string> sharding;   ///< "none", "zero1", "fsdp"
  std::vector<std::string> recompute;  ///< "none", "selective", "full"
};

/// Limits on the bill of a candidate's network; none: no limit.
struct PlanLimits {
  std::optional<double> usd;
  std::optional<double> power_w;
};

/// A file `photonrail.plan/1` (docs/reference/plan.md), read.
struct Plan {
  std::string name;
  std::string why;
  std::filesystem::path file;
  std::string base;                      ///< the scenario, as JSON
  std::filesystem::path base_directory;  ///< to which its paths are relative
  std::optional<ShapeSpace> shapes;      ///< none: the base's shape
  std::vector<PlanAxis> axes;
  std::vector<PlanObjective> objectives{PlanObjective::kStep};  ///< of two or three the front is searched
  std::optional<double> tokens;                                 ///< with kDays
  std::optional<PlanPrices> prices;                             ///< with kUsdATrillionTokens and kUsdAMillionTokens
  PlanLimits limits;
};

/// Throws ConfigError, also for an empty space. `set` changes the base.
[[nodiscard]] Plan read_plan(const std::filesystem::path& file, std::span<const Override> set = {});
[[nodiscard]] Plan parse_plan(std::string_view json, const std::filesystem::path& file, std::span<const Override> set = {});

/// A mean of seeds with its interval of 95 %.
struct PlanShare {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// A candidate that was simulated.
struct PlannedRun {
  std::vector<std::string> labels;  ///< of its shape, if shapes are searched, and of its value on each axis
  std::vector<std::pair<std::string, std::string>> choices;  ///< of each free choice, its value
  std::vector<Override> patch;                               ///< of the base
  std::vector<double> objectives;                            ///< by objective of the plan
  double step_s = 0.0;
  double bound_s = 0.0;                 ///< the lower bound on its step that was known before
  std::optional<PlanShare> productive;  ///< share of months with failures in which steps are made that stay
  struct Size {
    double gpus = 0.0;    ///< spares too
    double tokens = 0.0;  ///< of a step; 0: no training job
  };
  Size size{};
  std::optional<double> energy_j;  ///< of a step
  RankTime mean{};                 ///< where the time of a rank goes, mean of ranks, over the makespan
  Duration makespan{};
  std::optional<double> memory_bytes;  ///< of the fullest GPU
  std::optional<double> usd;           ///< of the network
  std::optional<double> power_w;
  /// Served requests that keep their limits.
  struct Served {
    double requests_per_s = 0.0;  ///< the greatest rate where it is searched, else that of arrivals
    double tokens_per_s = 0.0;    ///< ServingResult::steady_output_tokens_per_s
    double share = 0.0;           ///< that keeps the limits
  };
  std::optional<Served> served{};  ///< none: the job serves no requests, or they have no limits
};

/// The best objective that a value of a free choice can give, with all others free.
struct PlanWorth {
  std::string choice;  ///< "tp", or the name of an axis
  std::string value;
  double objective = 0.0;  ///< the first one: the best that was simulated with it, or the least bound where none was
  bool simulated = false;
};

/// The best objective of a shape with these sizes, with all else free.
struct PlanCell {
  std::uint32_t tp = 1;
  std::uint32_t pp = 1;
  double objective = 0.0;  ///< as that of PlanWorth
  bool simulated = false;
};

struct PlanResult {
  std::uint64_t candidates = 0;                   ///< all combinations
  std::map<std::string, std::uint64_t> rejected;  ///< by reason: what cannot be, before it is run
  std::map<std::string, std::string> examples;    ///< by reason: the first candidate's words
  std::string nearest;                            ///< where nothing is feasible: what was closest, and why it is not
  std::uint64_t simulated = 0;                    ///< reused ones too
  std::uint64_t reused = 0;                       ///< of the folder, or equal to another candidate
  std::uint64_t failed = 0;                       ///< could not finish when they were run
  std::uint64_t excluded = 0;                     ///< by their bound
  std::uint64_t open = 0;                         ///< neither, when the time was over
  /// Ascending by the first objective: of one at most PlanOptions::keep, equal steps once, of several the front.
  std::vector<PlannedRun> best;
  std::vector<PlannedRun> runs{};  ///< all that were simulated, ascending by the first objective
  double gap = 0.0;                ///< how much better an open candidate may be, as a share; 0: proven
  std::vector<PlanWorth> worth;
  std::vector<PlanCell> map;      ///< of the shapes that can be
  std::vector<PlanValue> around;  ///< the best, and what can be and differs from it in one choice, by one step of a number
};

struct PlanOptions {
  std::filesystem::path directory{};  ///< made when it is missing; empty: nothing is written
  std::uint32_t jobs = 0;             ///< threads; 0: as many as cores
  double limit_s = 60.0;              ///< of the clock; then the gap is told
  std::size_t keep = 10;
  /// Only every `shards`-th job, from this one on: several processes share the folder, and what one finds excludes
  /// candidates of the others. 0: all. A later call without it puts them together.
  std::uint32_t shard = 0;
  std::uint32_t shards = 1;
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: end soon
  /// Called now and then by one thread at a time, with how many candidates are decided, or runs of an explanation are done.
  std::function<void(std::uint64_t decided, std::uint64_t of)> progress{};
};

/// Searches. What the folder has (`runs.jsonl`, of the same plan and version) is not run again. Throws ConfigError: the
/// base is no scenario under any candidate, or the folder is of another plan.
[[nodiscard]] PlanResult run_plan(const Plan& plan, const PlanOptions& options = {}, const Registries& known = {});

/// A scenario of the candidate as JSON, which `photonrail run` takes.
[[nodiscard]] std::string planned_scenario(const Plan& plan, const PlannedRun& run);

/// A sweep of the best candidate and of those around it as JSON, which `photonrail sweep` takes. REQUIRES: there is a best.
[[nodiscard]] std::string sweep_around(const Plan& plan, const PlanResult& result);

}  // namespace photonrail
