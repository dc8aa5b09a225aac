// The planner searches the best way to build and to run a job: shapes of parallelism, and any other keys of a scenario that
// the file leaves open. What it says is proven: a candidate that was not simulated cannot be better, by a lower bound on
// its step, or the answer has a gap.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/config.hpp"
#include "photonrail/result.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/training.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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
    double tokens_per_s = 0.0;    ///< of answers, at this rate
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

/// A number of the base that may turn out to be another.
struct PlanRobustness {
  std::string what;                  ///< "switching delay"
  std::optional<double> at_low;      ///< the least objective of the best five at 0.8 of it
  std::optional<double> at_high;     ///< the same at 1.2
  std::optional<double> changes_at;  ///< the factor next to 1, between these, at which another one is the best
  std::string to;                    ///< that one
};

/// The delay up to which optical rails are as good as electrical ones: within 1 % of the step, or as cheap.
struct PlanBreakEven {
  std::string candidate;           ///< the best on optical rails
  double electrical = 0.0;         ///< the objective of the same on electrical rails
  std::optional<double> delay_ms;  ///< none: at no delay
};

/// A step from the base to the best candidate.
struct PlanRung {
  std::string change;
  std::optional<double> objective;  ///< none: it cannot be run
};

/// The grounds of the answer to one objective: what its best candidates give when one number is changed.
struct PlanExplanation {
  std::vector<PlanRung> ladder;
  std::vector<PlanRobustness> robustness;  ///< of numbers that matter
  std::optional<PlanBreakEven> break_even{};
  bool is_whole = true;  ///< false: the time was over before
};

/// Runs the best candidates again with one number changed. Uses limit_s, stop and progress of the options.
[[nodiscard]] PlanExplanation explain_plan(const Plan& plan, const PlanResult& result, const PlanOptions& options = {},
                                           const Registries& known = {});

/// A scenario of the candidate as JSON, which `photonrail run` takes.
[[nodiscard]] std::string planned_scenario(const Plan& plan, const PlannedRun& run);

/// A sweep of the best candidate and of those around it as JSON, which `photonrail sweep` takes. REQUIRES: there is a best.
[[nodiscard]] std::string sweep_around(const Plan& plan, const PlanResult& result);

/// Times of a micro-batch in a layer on the way forward and back.
struct LayerPass {
  Duration core{};     ///< from its first computation to its last
  Duration through{};  ///< with the exchanges before and after these
};

/// By CollectiveOp: whether it runs as a ring in the order of its members.
using RingOps = std::array<bool, kCollectiveOpCount>;

namespace plan {
class PipelineOrders;
}

/// A lower bound on the step of a training job, whatever its rails and controllers do (docs/models/planner.md). 0 where
/// GPUs have operators of their own.
class StepBound {
 public:
  /// Facts of the job beside its specification.
  struct Facts {
    bool in_order = true;       ///< rank r runs on GPU r
    bool one_at_a_time = true;  ///< collectives of a communicator run one after another
    RingOps rings{};
    Duration switching{};  ///< of rails on which a NIC receives from one other at a time; 0: none are
    std::shared_ptr<plan::PipelineOrders> orders{};  ///< shared with other bounds; none: of its own
  };

  explicit StepBound(const ClusterSpec& cluster) : StepBound(cluster, Facts{}) {}
  StepBound(const ClusterSpec& cluster, const Facts& facts);

  /// The passes of a rank and the fill and drain of the pipeline; quick, since layers are looked at once.
  /// REQUIRES: the specification is valid.
  [[nodiscard]] Duration of(const TrainingSpec& spec);
  /// With messages between stages, data-parallel traffic and the optimizer; some milliseconds. 0 for schedules that it does
  /// not know. REQUIRES: the specification is valid.
  [[nodiscard]] Duration closer(const TrainingSpec& spec) const;

 private:
  [[nodiscard]] const std::vector<LayerPass>& layers(const TrainingSpec& spec);
  [[nodiscard]] Duration by_stages(const TrainingSpec& spec, const TaskGraph& one) const;
  [[nodiscard]] Duration by_passes(const TrainingSpec& spec, const TaskGraph& one) const;

  ClusterSpec cluster_;
  Facts facts_;
  std::map<std::string, std::vector<LayerPass>> known_;
};

}  // namespace photonrail
