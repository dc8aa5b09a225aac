// Observers of a run. They are notified of events in the order of simulated time. An observer must not change the
// simulation.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/core/circuit.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace photonrail {

struct Scenario;

/// In an event: the task is one of the scenario's graph.
inline constexpr std::uint32_t kNoLaunch = ~std::uint32_t{0};

/// A change of a rank's state in an operation. An operation is one collective, or one send with its receive, and has a
/// unique `sequence`.
struct OperationEvent {
  enum class State : std::uint8_t {
    kArrived,             ///< the rank reached it
    kWaitingForCircuits,  ///< every member reached it, and it lacks only circuits
    kRunning,
    kDone  ///< on this rank
  };
  Time at{};
  std::uint32_t sequence = 0;
  CommunicatorId communicator;
  CollectiveOp op = CollectiveOp::kSend;
  RankId rank;
  TaskId task;
  State state = State::kArrived;
  std::uint32_t launch = kNoLaunch;  ///< the task is one of its programs
};

struct ComputeEvent {
  Time start{};
  Time finish{};
  RankId rank;
  TaskId task;
  Stream stream = Stream::kGpu;
  std::uint32_t launch = kNoLaunch;  ///< the task is one of its programs
};

/// A launch of an agent's workload (workload/agent.hpp) is opened, or all of its ranks are done.
struct LaunchEvent {
  Time at{};
  std::uint32_t launch = 0;
  std::string_view kind{};
  std::span<const RankId> ranks{};           ///< by rank of the graph
  std::shared_ptr<const TaskGraph> graph{};  ///< null: one task on each rank, which has no name
  std::span<const Task> tasks{};             ///< without a graph: of the first rank, and of the others
  Time opened{};
};

struct CircuitEvent {
  Time at{};
  RailId rail;
  Circuit circuit;
  CircuitState state = CircuitState::kDark;
  CommunicatorId serves = CommunicatorId::none();  ///< the group that the controller's change was for, when known
};

class Observer {
 public:
  virtual ~Observer() = default;

  /// Returns true when it needs the events of every rank. If no observer of a run does, equivalent ranks may be simulated
  /// once, and observers are notified of the begin, the progress and the end only.
  [[nodiscard]] virtual bool needs_every_rank() const { return true; }

  virtual void begin(const Scenario&) {}        ///< the scenario outlives end(); of several jobs, it has all side by side
  virtual void compute(const ComputeEvent&) {}  ///< at the finish of the computation
  virtual void operation(const OperationEvent&) {}
  virtual void circuit(const CircuitEvent&) {}  ///< at each change of a circuit's state
  /// The rank finished its step.
  virtual void iteration(RankId, std::uint32_t /*finished, from 0*/, Time) {}
  /// Of an agent's workload: launches, and before the first operation of each the communicators that operations have not
  /// named before. Those of the scenario's graph are none of them.
  virtual void communicator(CommunicatorId, const Communicator&) {}
  virtual void launched(const LaunchEvent&) {}
  virtual void launch_done(const LaunchEvent&) {}
  /// Called from time to time with the number of completed tasks, for progress lines.
  virtual void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time /*simulated*/) {}
  virtual void end(Time /*makespan*/) {}
};

}  // namespace photonrail
