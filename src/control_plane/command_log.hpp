// The commands that one rail's switch was given: how long they took, and how much of that the ranks had to wait.
#pragma once

#include "execution/critical_path.hpp"
#include "photonrail/accounting.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::control_plane {

/// What a command is for.
struct CommandPurpose {
  std::optional<Dimension> serves;  ///< the dimension of the first request that it serves, if any
  std::uint64_t circuits = 0;       ///< that it sets up
};

class CommandLog {
 public:
  [[nodiscard]] std::size_t size() const { return commands_.size(); }
  /// A command went out. `usable`: when its circuits can be used, where that is known. `cause`: of its decision.
  void add(Time decided, std::optional<Time> usable, execution::CriticalPathTag cause, const CommandPurpose& purpose = {}) {
    const Time at = usable.value_or(Time{});
    const DimensionChange change{last_served_, purpose.serves};
    commands_.push_back(
        {decided, at, usable.has_value(), Duration{0}, {at, cause.reconfigurations + 1}, change, purpose.circuits});
  }
  /// An operation of the dimension got circuits.
  void served(Dimension dimension) { last_served_ = dimension; }
  /// The circuits of the command can be used now; what waited for them is tried until end_finish().
  void begin_finish(std::uint32_t command, Time now) {
    Command& done = commands_[command];
    if (!done.timed) done.usable = done.cause.at = now;
    lit_cause_ = done.cause;
    finishing_ = &done;
  }
  void end_finish() { finishing_ = nullptr; }
  /// A wait of `idle` ends now. Only the part after the decision was a wait for the switch, not for ports.
  void expose(Duration idle) {
    if (finishing_ == nullptr) return;
    finishing_->exposed = std::max(finishing_->exposed, std::min(idle, finishing_->usable - finishing_->decided));
  }
  /// Of the last circuits that were lit.
  [[nodiscard]] execution::CriticalPathTag lit_cause() const { return lit_cause_; }

  void summarize(ReconfigurationSummary& summary) const {
    summary.per_rail.push_back(commands_.size());
    summary.count += commands_.size();
    for (const Command& command : commands_) {
      CommandTotals& of_kind = summary.by_change[command.change];
      ++of_kind.count;
      of_kind.total += command.usable - command.decided;
      of_kind.exposed += command.exposed;
      summary.total += command.usable - command.decided;
      summary.exposed += command.exposed;
    }
  }
  /// Once for all rails that stand for each other.
  void count_circuits(ReconfigurationSummary& summary) const {
    for (const Command& command : commands_) {
      summary.by_change[command.change].circuits += command.circuits;
      summary.circuits += command.circuits;
    }
  }

 private:
  struct Command {
    Time decided{};
    Time usable{};
    bool timed = false;  // `usable` is known
    Duration exposed{};
    execution::CriticalPathTag cause;
    DimensionChange change;
    std::uint64_t circuits = 0;
  };

  std::vector<Command> commands_;
  Command* finishing_ = nullptr;
  execution::CriticalPathTag lit_cause_;
  std::optional<Dimension> last_served_;
};

}  // namespace photonrail::control_plane
