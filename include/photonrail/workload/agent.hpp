// A workload that decides while the run goes on: an agent is told what ended and launches work on the ranks of its job. It
// maps events to launches and knows no engine, no network and no fabric, so that a unit test needs no cluster
// (testing/agent_kit.hpp).
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

struct RunResult;
struct Scenario;

/// Launches are numbered from 0 in the order of the calls.
using LaunchId = Id<struct LaunchTag>;

/// Work that is known when it is launched: rank i of the graph runs on `ranks[i]` of the job. Launching one graph again and
/// again costs less than launching equal copies of it. Communicators with equal names, members and dimensions are one, so
/// that operations of several launches follow each other on its lane.
struct Fragment {
  std::shared_ptr<const TaskGraph> graph;
  std::vector<RankId> ranks;
};

/// The agent's own words about a launch.
struct LaunchLabel {
  std::uint32_t kind = 0;   ///< an index into WorkloadAgent::kinds(): results are summed up by it
  std::uint64_t token = 0;  ///< comes back with the events of the launch
};

/// Something ended, or a time has come.
struct WorkEvent {
  enum class Kind : std::uint8_t {
    kBegin,       ///< the first event, once
    kTimer,       ///< WorkSink::wake_at()
    kRankDone,    ///< a rank's program of a launch ended; only where WorkloadAgent::hears_ranks()
    kLaunchDone,  ///< all ranks of a launch are done
    kAnnounced    ///< controllers have the requests of all ranks of a launch (WorkSink::announce())
  };
  Kind kind = Kind::kBegin;
  Time now{};                          ///< since the job began, as all times that an agent is told and gives
  LaunchId launch = LaunchId::none();  ///< kRankDone, kLaunchDone, kAnnounced
  RankId rank = RankId::none();        ///< kRankDone
  std::uint64_t token = 0;             ///< of the timer, or of the launch
  Time launched{};                     ///< kRankDone, kLaunchDone: when the launch was opened
};

/// Takes the calls of an agent during WorkloadAgent::on(). Work is ready at the instant of the call, in the order of the
/// calls; computations of one stream and operations of one lane start in the order of their launches, the oldest first.
/// Every call throws ConfigError for ranks that the job does not have, and for numbers out of range.
class WorkSink {
 public:
  virtual ~WorkSink() = default;

  /// Launches the fragment on all of its ranks.
  virtual LaunchId launch(const Fragment& fragment, LaunchLabel label = {}) = 0;
  /// Opens a launch whose ranks enter it one by one, by enter(): a rank that enters late keeps only its peers waiting.
  virtual LaunchId open(const Fragment& fragment, LaunchLabel label = {}) = 0;
  /// The rank, of the job, begins its program of a launch. REQUIRES: the launch is open, and the rank has not entered it.
  virtual void enter(LaunchId launch, RankId rank) = 0;
  /// The rank says that it will enter the launch: under a policy that provisions (Announcement::kAhead) controllers get its
  /// requests for the circuits of the operations that its program begins with. They get them when the last message over
  /// rails of the launches that it has entered is complete, or at once. REQUIRES: as enter().
  virtual void announce(LaunchId /*launch*/, RankId /*rank*/) {}

  /// Launches of one task on each rank, for which no graph is built: a computation of a given time, a collective (`size` as
  /// Chakra defines it, CollectiveOp), and a message, which takes the way that any other send of the job takes.
  virtual LaunchId compute(std::span<const RankId> ranks, Duration time, LaunchLabel label = {},
                           Stream stream = Stream::kGpu) = 0;
  virtual LaunchId collective(std::span<const RankId> ranks, CollectiveOp op, Bytes size, Dimension dimension,
                              LaunchLabel label = {}) = 0;
  virtual LaunchId send(RankId from, RankId to, Bytes size, LaunchLabel label = {},
                        Dimension dimension = Dimension::kPp) = 0;

  /// Sets a timer. One for the present instant is told after what has already ended at it. Equal times are told in the
  /// order of the calls. REQUIRES: the time has not passed.
  virtual void wake_at(Time at, std::uint64_t token = 0) = 0;

  [[nodiscard]] virtual Time now() const = 0;  ///< since the job began
  /// Returns the number of ranks of the job.
  [[nodiscard]] virtual std::size_t ranks() const = 0;
};

/// A future that is known before the run: one step, so many times. Each rank begins its next step when it has ended one.
struct KnownFuture {
  std::shared_ptr<const TaskGraph> graph;
  std::uint32_t steps = 1;
};

/// Decides what is launched. The same events must lead to the same calls: draw from a stream of your own (core/random.hpp).
class WorkloadAgent {
 public:
  virtual ~WorkloadAgent() = default;

  /// Is told one event at a time, in the order of simulated time; none while it is in a call.
  virtual void on(const WorkEvent& event, WorkSink& sink) = 0;
  /// Returns true when nothing is left to do. The run ends when it does and no launch is open; timers that are pending then
  /// are dropped.
  [[nodiscard]] virtual bool finished() const = 0;
  /// Names the events that it still waits for, a line each, where the run stops before it is finished().
  [[nodiscard]] virtual std::vector<std::string> waiting() const { return {}; }
  /// Names the kinds of its launches.
  [[nodiscard]] virtual std::vector<std::string> kinds() const { return {"launch"}; }
  /// Returns true when it wants to be told of the end of each rank's program.
  [[nodiscard]] virtual bool hears_ranks() const { return false; }
  /// Returns true when it calls WorkSink::announce(): policies that provision are then allowed.
  [[nodiscard]] virtual bool announces() const { return false; }
  /// Returns its future where it is known: the run then takes that in place of the agent, with folding, profiling,
  /// rehearsals, schedules for policies and bounds, which an agent that decides in the run cannot have.
  [[nodiscard]] virtual std::optional<KnownFuture> known_future() const { return std::nullopt; }
  /// Adds its own to the result, at the end of the run.
  virtual void report(RunResult&) const {}
};

/// Ranks without programs: the graph of a scenario whose workload is an agent's. `demands`: the traffic matrices of the
/// graphs that it launches, where these have some.
[[nodiscard]] TaskGraph idle_graph(std::size_t ranks, std::shared_ptr<const TrafficSource> demands = nullptr);

/// The workload of a scenario that an agent decides: immutable, and makes the agent of each run.
class Workload {
 public:
  virtual ~Workload() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// `scenario` outlives the agent. `seed`: of the run, from which draws follow.
  [[nodiscard]] virtual std::unique_ptr<WorkloadAgent> make(const Scenario& scenario, std::uint64_t seed) const = 0;
  /// Estimates what a run of it takes; nothing: not known.
  [[nodiscard]] virtual WorkEstimate work() const { return {}; }
};

}  // namespace photonrail
