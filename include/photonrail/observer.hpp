// Observers of a run. They are notified of events in the order of simulated time. An observer must not change the
// simulation.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/core/circuit.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <span>

namespace photonrail {

struct Scenario;

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
};

struct ComputeEvent {
  Time start{};
  Time finish{};
  RankId rank;
  TaskId task;
  Stream stream = Stream::kGpu;
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
  /// Called from time to time with the number of completed tasks, for progress lines.
  virtual void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time /*simulated*/) {}
  virtual void end(Time /*makespan*/) {}
};

}  // namespace photonrail
