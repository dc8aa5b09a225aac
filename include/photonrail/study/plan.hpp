// The planner searches the best way to build and to run a job: shapes of parallelism, and any other keys of a scenario that
// the file leaves open. What it says is proven: a candidate that was not simulated cannot be better, by a lower bound on
// its step, or the answer has a gap.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/result.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/training.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// What is to be least.
enum class PlanObjective : std::uint8_t {
  kStep,              ///< seconds of a step
  kGpuSecondsAToken,  ///< the same times GPUs, over the tokens of a step: for choices that change either
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

/// What a candidate may cost at most, by the bill of its network; none: anything.
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
  PlanObjective objective = PlanObjective::kStep;
  PlanLimits limits;
};

/// Throws ConfigError, also for an empty space. `set` changes the base.
[[nodiscard]] Plan read_plan(const std::filesystem::path& file, std::span<const Override> set = {});
[[nodiscard]] Plan parse_plan(std::string_view json, const std::filesystem::path& file, std::span<const Override> set = {});

/// A candidate that was simulated.
struct PlannedRun {
  std::vector<std::string> labels;  ///< of its shape, if shapes are searched, and of its value on each axis
  std::vector<Override> patch;      ///< of the base
  double objective = 0.0;
  double step_s = 0.0;
  double bound_s = 0.0;  ///< the lower bound on its step that was known before
  RankTime mean{};       ///< where the time of a rank goes, mean of ranks, over the makespan
  Duration makespan{};
  std::optional<double> memory_bytes;  ///< of the fullest GPU
  std::optional<double> usd;           ///< of the network
  std::optional<double> power_w;
};

/// How good a value of a free choice can be, with all others free.
struct PlanWorth {
  std::string choice;  ///< "tp", or the name of an axis
  std::string value;
  double objective = 0.0;  ///< the best that was simulated with it, or the least bound where none was
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
  std::vector<PlannedRun> best;                   ///< ascending by objective, at most PlanOptions::keep
  double gap = 0.0;                               ///< how much better an open candidate may be, as a share; 0: proven
  std::vector<PlanWorth> worth;
};

struct PlanOptions {
  std::filesystem::path directory{};  ///< made when it is missing; empty: nothing is written
  std::uint32_t jobs = 0;             ///< threads; 0: as many as cores
  double limit_s = 60.0;              ///< of the clock; then the gap is told
  std::size_t keep = 10;
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: end soon
  /// Called now and then by one thread at a time, with how many candidates are decided.
  std::function<void(std::uint64_t decided, std::uint64_t of)> progress{};
};

/// Searches. What the folder has (`runs.jsonl`, of the same plan and version) is not run again. Throws ConfigError: the
/// base is no scenario under any candidate, or the folder is of another plan.
[[nodiscard]] PlanResult run_plan(const Plan& plan, const PlanOptions& options = {}, const Registries& known = {});

/// A scenario of the candidate as JSON, which `photonrail run` takes.
[[nodiscard]] std::string planned_scenario(const Plan& plan, const PlannedRun& run);

/// A lower bound on the step of a training job: the passes of a rank one after another, with their computations and the
/// least of their tensor- and context-parallel traffic, and the fill and drain of the pipeline. 0 where GPUs are unlike, or
/// where layers differ and there are several stages. Source of the pipeline's part: arXiv 2104.04473, section 2.2.
class StepBound {
 public:
  explicit StepBound(const ClusterSpec& cluster) : cluster_(cluster) {}
  /// REQUIRES: the specification is valid.
  [[nodiscard]] Duration of(const TrainingSpec& spec);

 private:
  /// What a micro-batch takes on one rank of each stage, all stages together.
  [[nodiscard]] Duration micro_batch(TrainingSpec spec);

  ClusterSpec cluster_;
  std::map<std::string, Duration> known_;
};

}  // namespace photonrail
