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

class CommandLog {
 public:
  [[nodiscard]] std::size_t size() const { return commands_.size(); }
  /// A command went out. `usable`: when its circuits can be used, where that is known. `cause`: of its decision.
  void add(Time decided, std::optional<Time> usable, execution::CriticalPathTag cause) {
    const Time at = usable.value_or(Time{});
    commands_.push_back({decided, at, usable.has_value(), Duration{0}, {at, cause.reconfigurations + 1}});
  }
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
      summary.total += command.usable - command.decided;
      summary.exposed += command.exposed;
    }
  }

 private:
  struct Command {
    Time decided{};
    Time usable{};
    bool timed = false;  // `usable` is known
    Duration exposed{};
    execution::CriticalPathTag cause;
  };

  std::vector<Command> commands_;
  Command* finishing_ = nullptr;
  execution::CriticalPathTag lit_cause_;
};

}  // namespace photonrail::control_plane
