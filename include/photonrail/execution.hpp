// These options say how a job is executed: lanes, stragglers, and what a run repeats and how exactly.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

enum class Fidelity : std::uint8_t { kExact, kStream };
enum class CommLanes : std::uint8_t { kPerCommunicator, kOne };

/// The order of collectives of one communicator that are ready at the same time.
enum class ConcurrentCollectives : std::uint8_t {
  kInTurn,   ///< one after another, as a communication library runs them
  kTogether  ///< all at once: they share the links chunk by chunk, as the simulators behind published results run them
};

inline constexpr double kMaxSmShare = 0.9;

struct ExecutorSpec {
  CommLanes comm_lanes = CommLanes::kPerCommunicator;
  ConcurrentCollectives concurrent = ConcurrentCollectives::kInTurn;
  /// A send of at most so many bytes is done for its sender at once (it went into a buffer of the communication
  /// library, 4 MiB by default in NCCL); its bytes still travel when the receive is posted.
  Bytes buffered_send{4 << 20};
  /// By Dimension: the share of a GPU's streaming multiprocessors, from 0 to kMaxSmShare, that the kernels of its exchanges
  /// hold while they have bytes on their way. Computations of the rank go on with the rest, in proportion, also one that
  /// has begun; exchanges of several dimensions add up, to kMaxSmShare at most. 0: copy engines or the switch do the work.
  /// Leaves out that what is bound by memory loses less.
  std::array<double, kDimensionCount> sm_share{};
};

/// Ranks that are late or slow, in every step. Where several name a rank, delays add up and slowdowns multiply.
struct StragglerSpec {
  enum class Whom : std::uint8_t { kListed, kAll, kOneAtRandom };

  Whom whom = Whom::kAll;       ///< kOneAtRandom: one rank of the job, drawn anew for each step
  std::vector<RankId> ranks{};  ///< kListed
  double slowdown = 1.0;        ///< computations on the GPU take so many times as long; at least 1
  /// Before the rank's first task of a step, as a computation would hold it up; drawn for each rank and step.
  DelayDistribution delay{};
  std::vector<Duration> trace{};  ///< if not empty, in place of `delay`: of step i it is trace[i modulo size]
  // A failure of GPUs at a certain time, kListed or kAll, without a delay; computations in progress feel it too.
  std::optional<Time> at{};         ///< from then on; nothing: in all steps
  std::optional<Duration> lasts{};  ///< until the repair; nothing: to the end of the run
  bool stops = false;               ///< the GPU computes nothing meanwhile, in place of the slowdown
  /// `stops`: for so long nothing knows it (a watchdog, a time-out of a collective). Changes no history, but where the time
  /// of the rank is booked (RankTime::detection); at most `lasts`.
  Duration detection{};
};

struct RunSpec {
  static constexpr double kMaxNetworkAccuracy = 0.1;

  std::uint32_t iterations = 1;
  std::uint64_t seed = 1;
  Fidelity fidelity = Fidelity::kStream;
  /// From 0 (exact) to kMaxNetworkAccuracy: flows of a crowd may end by up to about this share of their duration too early
  /// or too late, which makes crowds of many unlike flows fast (docs/models/network.md, "Crowds within an accuracy"). Above
  /// 0: without folding.
  double network_accuracy = 0.0;
  /// Where something of the run is drawn (draws_of_seed()): simulate() runs the scenario with so many seeds, `seed` first,
  /// and RunResult::spread says how far their makespans lie apart. 0 and 1: with `seed` alone; none: as the caller of
  /// simulate() decides, which itself takes it for 1.
  std::optional<std::uint32_t> spread_seeds{};
  /// Equivalent ranks are simulated once, where that changes no result. See RunResult::folding.
  bool folding = true;
  /// The result says what bounds the run (RunResult::critical_path). It costs memory for each task, and time.
  bool critical_path = false;
  /// Of an agent's workload: a run that has not ended by then is an error. None: it may take as long as it does.
  std::optional<Time> horizon{};
};

}  // namespace photonrail
