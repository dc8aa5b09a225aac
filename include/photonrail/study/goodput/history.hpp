// One history of a job over months, by the seed of its random numbers, and the summary of many histories.
#pragma once

#include "photonrail/study/goodput/spec.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::goodput {

/// Each instant of the job is for exactly one of these.
enum class TimeUse : std::uint8_t {
  kProductive,  ///< work that stays, at the time that it takes on a healthy cluster
  kCheckpoint,  ///< stopped for a checkpoint
  kLost,        ///< work that a failure took
  kDetecting,   ///< stopped, the failure is not noticed yet
  kRecovering,  ///< stages of a recovery
  kDegraded,    ///< what steps take longer than on a healthy cluster, or do less for the missing replicas
  kWaiting,     ///< for a repair or a spare
  kPlanned      ///< maintenance
};
inline constexpr std::size_t kTimeUses = 8;
[[nodiscard]] std::string_view name(TimeUse use);

/// Time of the job by use. x GPUs of the job they are GPU time: the whole job is in one use at a time.
struct TimeBooks {
  std::array<LongTime, kTimeUses> of{};

  [[nodiscard]] LongTime& operator[](TimeUse use) { return of[static_cast<std::size_t>(use)]; }
  [[nodiscard]] LongTime operator[](TimeUse use) const { return of[static_cast<std::size_t>(use)]; }
  [[nodiscard]] LongTime total() const;
  friend bool operator==(const TimeBooks&, const TimeBooks&) = default;
};

/// Of one failure source; of a trace the one after all sources.
struct SourceTally {
  std::uint64_t failures = 0;  ///< in the cluster
  std::uint64_t on_job = 0;    ///< that stopped the job, or would have, were it not stopped already
  LongTime cost{};             ///< lost, detecting, recovering and waiting time that began with such a failure

  friend bool operator==(const SourceTally&, const SourceTally&) = default;
};

struct History {
  std::uint64_t seed = 0;
  LongTime wall{};
  TimeBooks books{};
  std::int64_t steps = 0;           ///< done and kept
  std::uint64_t failures = 0;       ///< that hit the job
  std::uint64_t interruptions = 0;  ///< of them those that stopped a running job
  std::uint64_t swaps = 0;
  std::uint64_t drops = 0;
  std::vector<SourceTally> sources;
  std::uint64_t hash = 0;  ///< of all events with their times

  /// Productive / wall time: the effective training time ratio of the job.
  [[nodiscard]] double ettr() const;
  friend bool operator==(const History&, const History&) = default;
};

/// Holds what the job is doing from one instant to the next.
struct Period {
  enum class State : std::uint8_t { kRunning, kDegraded, kDetecting, kRecovering, kWaiting, kPlanned };
  LongTime from{};
  LongTime to{};
  State state = State::kRunning;
  std::uint32_t source = 0;  ///< of the failure that began it, where one did
};

/// A mean over seeds with its confidence interval of 95 % (Student's t; of one seed the mean alone).
struct Estimate {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};
[[nodiscard]] Estimate estimate(std::span<const double> values);

/// Holds what one failure source costs and how far it reaches.
struct SourceSummary {
  std::string name;
  std::uint32_t parts = 0;
  double failures = 0.0;        ///< in the cluster, mean of the seeds
  double on_job = 0.0;          ///< of them those of the job
  double gpu_hours_each = 0.0;  ///< GPU time of the job that one failure of the job costs, however it is recovered
  std::uint32_t gpus_hit = 0;   ///< that the part's failure itself takes; of a cluster part all GPUs of the job
};

/// All shares are of the job's wall time, but for `goodput`.
struct GoodputSummary {
  std::string name;  ///< of the scenario, or of its point in a sweep
  std::uint32_t seeds = 0;
  std::uint32_t job_gpus = 0;
  std::uint32_t all_gpus = 0;  ///< with spares
  double step_s = 0.0;         ///< of the healthy cluster
  double interval_s = 0.0;     ///< work between two checkpoints
  double stall_s = 0.0;        ///< that a checkpoint takes of the job, as given or simulated
  double copy_s = 0.0;         ///< until it is durable
  double wall_d = 0.0;         ///< mean length of a history
  std::array<Estimate, kTimeUses> shares{};
  Estimate ettr{};      ///< effective training time ratio: productive / wall time of the job
  Estimate goodput{};   ///< productive GPU time / GPU time of the job and its spares
  Estimate failures{};  ///< of the job
  Estimate interruptions{};
  Estimate mttf_h{};        ///< wall time / failures of the job; of seeds with a failure
  double job_mttf_h = 0.0;  ///< by the rates alone; infinite without failures
  double swaps = 0.0;
  double drops = 0.0;
  std::size_t configurations = 0;  ///< distinct ones that occurred, the healthy one too
  std::vector<SourceSummary> sources;

  /// Steps of the job's work that its GPUs and spares do in a day: what two clusters are compared by.
  [[nodiscard]] double steps_per_day() const;
};

/// `histories`: of one scenario, at least one.
[[nodiscard]] GoodputSummary summarise(const GoodputSpec& spec, Duration step, std::span<const History> histories);

/// Returns how many GPUs more than `other` has the baseline's cluster would need to do as many steps a day, if its
/// throughput grew in proportion to its GPUs; negative where it would need fewer. Both do the same work a step.
[[nodiscard]] double worth_gpus(const GoodputSummary& baseline, const GoodputSummary& other);

}  // namespace photonrail::goodput
