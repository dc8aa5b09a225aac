// Commands to a rail's switches in time. A command has a part for each switch that it names; a part waits in the queue of
// its switch, darkens the whole switch where the switch is of that kind, and ends with its circuits lit.
#pragma once

#include "fabric/circuit_listener.hpp"
#include "fabric/circuit_transitions.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"
#include "fabric/shared_fabric.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::fabric {

/// When a command is carried out.
struct CommandTimes {
  Time reached{};    ///< the switches have it then; may lie in the past only where the switches have no queue
  Duration after{};  ///< from lit until operations may use the circuits
};

/// A command on its way.
struct SentCommand {
  std::uint32_t id = 0;
  std::optional<Time> usable{};  ///< when all its circuits can be used, where the switches have no queue
};

class SwitchCommands {
 public:
  /// All must outlive the object. Circuits are lit and paused by `transitions`, and those of all jobs in shared.jobs are
  /// paused with a whole switch.
  SwitchCommands(const RailContext& rail, SharedRail& shared, const RailCircuits& circuits, CircuitTransitions& transitions,
                 const CircuitNotifier& notifier)
      : rail_(rail), shared_(shared), circuits_(circuits), transitions_(transitions), notifier_(notifier) {}

  /// Takes, for each GPU of the plant, for how many one stands. Without it each is one. It must outlive the object.
  void set_copies(std::span<const std::uint32_t> copies) { copies_ = copies; }

  /// Sends the command for `change`, which transitions.darken() began and numbered `begun`. Its ids count from 0. The
  /// listener is notified when it is done.
  SentCommand send(const CircuitPlan& change, std::uint32_t begun, const CommandTimes& times);

 private:
  struct Wanted {
    Circuit circuit;
    std::uint32_t switches = 0;  // that are not done with it
  };
  struct Command {
    std::vector<Wanted> circuits;  // not lit
    std::uint32_t begun = 0;       // CircuitTransitions::darken
    std::uint32_t parts = 0;       // not done
    Duration after{};
    bool done = false;
  };
  // Holds what one switch has to do for a command.
  struct Part {
    std::uint32_t command = 0;
    std::uint32_t at = 0;       // the switch
    std::int64_t circuits = 0;  // that begin there, of the cluster
    Time reached{};             // when the switch has its part of the command
  };

  [[nodiscard]] std::int64_t copies_of(Circuit circuit) const;
  [[nodiscard]] Command& command(std::uint32_t id) { return commands_[id - first_]; }
  void finish(std::uint32_t id);
  void split(std::uint32_t id, const CircuitPlan& change);
  [[nodiscard]] std::optional<Time> send_parts(Time reached);
  [[nodiscard]] std::uint32_t part_of(std::uint32_t command, std::uint32_t which);
  void arrive(std::uint64_t part);
  void begin(std::uint64_t part);
  [[nodiscard]] Time carry_out(std::uint32_t part, Time begins);
  void light(std::uint64_t part);
  void pause_switch(std::uint64_t which);
  void resume_switch(std::uint64_t which);

  RailContext rail_;
  SharedRail& shared_;
  const RailCircuits& circuits_;
  CircuitTransitions& transitions_;
  const CircuitNotifier& notifier_;
  std::span<const std::uint32_t> copies_;
  std::deque<Command> commands_;  // by id from first_ on
  std::uint32_t first_ = 0;       // those before it are done, and gone
  std::vector<Part> parts_;
  std::vector<std::uint32_t> free_parts_;
  std::vector<std::uint32_t> split_;  // scratch: the parts of a command
};

}  // namespace photonrail::fabric
