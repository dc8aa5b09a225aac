// Watching a run: told of what happens, in the order in which it happens. An observer must not change the simulation.
#pragma once

#include "photonrail/circuit.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <span>

namespace photonrail {

struct Scenario;

/// An operation is one collective, or one send with its receive; `sequence` tells operations apart.
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

  /// Whether it must be told of every rank. Where all observers of a run say no, ranks that nothing tells apart may be
  /// simulated once; observers are told of the beginning, the progress and the end only then.
  [[nodiscard]] virtual bool needs_every_rank() const { return true; }

  virtual void begin(const Scenario&) {}  ///< the scenario outlives end(); of several jobs, it has all side by side
  virtual void compute(const ComputeEvent&) {}  ///< told at its finish
  virtual void operation(const OperationEvent&) {}
  virtual void circuit(const CircuitEvent&) {}
  virtual void iteration(RankId, std::uint32_t /*finished, from 0*/, Time) {}
  /// Now and then: so many of so many tasks are done. For progress lines.
  virtual void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time /*simulated*/) {}
  virtual void end(Time /*makespan*/) {}
};

}  // namespace photonrail
