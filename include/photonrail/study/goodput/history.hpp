// One history of a job over months, by the seed of its random numbers.
#pragma once

#include "photonrail/study/goodput/policy.hpp"
#include "photonrail/study/goodput/spec.hpp"
#include "photonrail/study/goodput/step_times.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace photonrail::goodput {

/// Says what each instant of the job is for, exactly one of these.
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

class HistoryObserver {
 public:
  virtual ~HistoryObserver() = default;
  /// In ascending time, without gaps.
  virtual void period(const Period&) {}
  /// After every change of servers, for laws: which server is at each place of the job, and which servers are down.
  virtual void places(LongTime /*now*/, bool /*running*/, const std::vector<std::uint32_t>& /*server_at*/,
                      const std::vector<std::uint32_t>& /*down*/, const std::vector<bool>& /*dropped*/) {}
};

/// The same arguments give the same history, on every machine and in any thread. `steps` is asked for the configurations
/// that occur. Throws ConfigError (a spec that is not valid, unknown policies) and DeadlockError: the healthy job cannot
/// run.
[[nodiscard]] History run_history(const GoodputSpec& spec, StepTimes& steps, std::uint64_t seed,
                                  const PolicyTable& policies = {}, HistoryObserver* observer = nullptr);

}  // namespace photonrail::goodput
