// A job over months: what fails, how it is recovered, and with which spares and checkpoints.
#pragma once

#include "photonrail/core/durations.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::goodput {

/// A length of time by its mean and shape. The default is always 0.
struct RandomTime {
  enum class Law : std::uint8_t { kConstant, kExponential, kWeibull, kLogNormal, kUniform, kSamples };

  Law law = Law::kConstant;
  double mean_s = 0.0;            ///< of all laws but kUniform and kSamples
  double shape = 1.0;             ///< Weibull: shape; log-normal: standard deviation of the logarithm
  double least_s = 0.0;           ///< uniform
  double greatest_s = 0.0;        ///< uniform
  std::vector<double> samples_s;  ///< each with equal probability

  [[nodiscard]] static RandomTime constant(double seconds) { return {Law::kConstant, seconds, 1.0, 0.0, 0.0, {}}; }
  [[nodiscard]] static RandomTime exponential(double mean_s) { return {Law::kExponential, mean_s, 1.0, 0.0, 0.0, {}}; }
  [[nodiscard]] double mean() const;  ///< seconds
  /// Weibull: the scale is mean / gamma(1 + 1 / shape); log-normal: the median is mean x exp(-shape^2 / 2).
  /// At most 1e15 s, so that sums stay exact.
  [[nodiscard]] LongTime draw(RandomStream& random) const;
  /// Throws ConfigError whose `where` is the field: negative or infinite times, a shape of 0, no samples.
  void validate(const std::string& field) const;
};

/// The effect of a failure on the job: it stops; it goes on slower until the repair; it computes wrong results, which are
/// found after the detection time, and everything since the failure is lost.
enum class FailureEffect : std::uint8_t { kStop, kSlow, kSilent };

/// Describes how the step is simulated while the part is down. kCompute: the GPU computes `factor` times as long. kPort: a
/// NIC port of an optical rail is dark. kPlane: all ports of a plane of a rail are dark (an OCS). kUplinks: electrical
/// rails have `factor`-fold oversubscription for each such part. kNicRate: the slowest NIC has 1 / `factor` of its rate; as
/// collectives go at the pace of the slowest member, every NIC is simulated with it, which is an upper bound of the loss.
/// kStageCompute: as kCompute, with the GPUs of all replicas at that server's place as slow: the same where all collectives
/// begin together, else an upper bound; replicas stay alike, so that large clusters are folded.
enum class Degradation : std::uint8_t { kNone, kCompute, kPort, kPlane, kUplinks, kNicRate, kStageCompute };

/// Parts of one kind that fail independently of each other.
struct FailureSource {
  std::string name = "server";
  // The number of parts: exactly one of these is not 0.
  std::uint32_t per_server = 0;  ///< parts in each server; a failure is one of its server
  std::uint32_t servers_per_part =
      0;                         ///< a shared-risk group: so many consecutive servers of the job, and their rack's spares
  std::uint32_t parts = 0;       ///< in the whole cluster; a failure takes no server, it is one of the job
  RandomTime time_to_failure{};  ///< of one part, from its start or repair on
  FailureEffect effect = FailureEffect::kStop;
  RandomTime detection{};
  RandomTime repair{};  ///< 0: the part works again at once, as after a restart
  Degradation degradation = Degradation::kNone;
  double factor = 1.0;  ///< of the degradation, at least 1
};

/// A fault of a recorded trace: a server is down from `start` to `end`.
struct TraceFault {
  double start_d = 0.0;
  double end_d = 0.0;
  std::uint32_t server = 0;
  std::string cause;
};

struct FaultTrace {
  std::vector<TraceFault> faults;  ///< in ascending `start_d`
  bool shuffle = true;             ///< each seed gives the servers of the trace other places in the cluster
  RandomTime detection{};
};

/// The job uses servers 0 .. servers - 1. Data-parallel replica r has servers r x servers / replicas and so on.
struct JobShape {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 8;
  std::uint32_t replicas = 1;      ///< divides `servers`
  std::uint32_t min_replicas = 1;  ///< fewer cannot go on
};

struct Spares {
  std::uint32_t servers_per_rack = 0;  ///< of the job; 0: one rack
  std::uint32_t per_rack = 0;          ///< spare servers in each of these racks
  std::uint32_t anywhere = 0;          ///< spare servers in racks of their own, `servers_per_rack` in each
};

enum class IntervalRule : std::uint8_t { kFixed, kYoung, kDaly, kOptimal };

/// A checkpoint stops the job for `stall` and survives failures once it is copied, `copy` later; the job goes on meanwhile.
struct Checkpointing {
  IntervalRule rule = IntervalRule::kFixed;
  double interval_s = 3600.0;  ///< kFixed: work between two checkpoints; rounded to whole steps
  double stall_s = 0.0;
  double copy_s = 0.0;  ///< 0: blocking, durable at the end of the stall
};

enum class Rollback : std::uint8_t { kStep, kCheckpoint };

enum class RecoveryAction : std::uint8_t {
  kRestart,      ///< on the same parts: possible once nothing that the job needs is down
  kSwapInRack,   ///< a spare of the same rack takes the place of the server
  kSwap,         ///< a spare from anywhere does
  kMoveRack,     ///< the job leaves the rack for one whose servers are all idle and healthy
  kDropReplica,  ///< the others go on without the server's replica, which rejoins when its servers are healthy
  kWait          ///< for the repair
};

struct Stage {
  std::string name;
  RandomTime time{};
};

struct RecoveryOption {
  std::string name;
  RecoveryAction action = RecoveryAction::kWait;
  Rollback rollback = Rollback::kCheckpoint;  ///< what is lost beside the step in flight
  std::vector<Stage> stages{};                ///< one after another; a failure meanwhile begins the recovery anew
  std::vector<Stage> rejoin{};                ///< kDropReplica: what the replica's return stops all others for
  std::vector<std::string> sources{};         ///< for failures of these only; empty: for all
  bool for_slow = false;                      ///< also for parts that are slow, once that is detected
};

/// The job stops at a step's end every so often, with a checkpoint that is part of the pause.
struct Maintenance {
  double every_d = 0.0;  ///< 0: never
  RandomTime lasts{};
};

struct GoodputSpec {
  JobShape job{};
  Spares spares{};
  double days = 30.0;      ///< length of a history
  std::int64_t steps = 0;  ///< 0: a history lasts `days`; else until so many steps are done, at most `days`
  std::uint64_t first_seed = 1;
  std::uint32_t seeds = 100;
  std::vector<FailureSource> failures{};
  std::optional<FaultTrace> trace{};
  /// Shape of the gamma distribution (mean 1) of what the failure rates of a server are multiplied by; 0: all are alike.
  double server_spread = 0.0;
  Checkpointing checkpoint{};
  std::string policy = "in_order";
  std::string spare_placement = "same_rack_first";
  std::vector<RecoveryOption> recovery{};
  Maintenance maintenance{};

  [[nodiscard]] std::uint32_t racks() const;
  /// Servers of the job, then the spares of racks in their order, then those anywhere.
  [[nodiscard]] std::uint32_t servers() const;
  [[nodiscard]] std::uint32_t parts_of(const FailureSource& source) const;
  /// Mean time between failures that stop the job, seconds; infinite where nothing does.
  [[nodiscard]] double job_mttf_s() const;
  /// Whole steps between two checkpoints, at least 1, by the rule. Young and Daly: formulas.hpp; the restart is the first
  /// option's.
  [[nodiscard]] std::int64_t steps_between_checkpoints(Duration step) const;
  /// Throws ConfigError whose `where` is the field.
  void validate() const;
};

}  // namespace photonrail::goodput
