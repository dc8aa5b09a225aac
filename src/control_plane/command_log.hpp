// The commands that one rail's switch was given: how long they took, and how much of that the ranks had to wait.
#pragma once

#include "execution/critical_path.hpp"
#include "photonrail/accounting.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace photonrail::control_plane {

/// Holds what a command is for.
struct CommandPurpose {
  std::optional<Dimension> serves;  ///< the dimension of the first request that it serves, if any
  std::uint64_t circuits = 0;       ///< that it sets up
};

class CommandLog {
 public:
  [[nodiscard]] std::size_t size() const { return folded_ + commands_.size(); }
  /// A command went out. `usable`: when its circuits can be used, where that is known. `cause`: of its decision.
  void add(Time decided, std::optional<Time> usable, execution::CriticalPathTag cause, const CommandPurpose& purpose = {}) {
    const Time at = usable.value_or(Time{});
    const DimensionChange change{last_served_, purpose.serves};
    commands_.push_back(
        {decided, at, usable.has_value(), false, Duration{0}, {at, cause.reconfigurations + 1}, change, purpose.circuits});
  }
  /// An operation of the dimension got circuits.
  void served(Dimension dimension) { last_served_ = dimension; }
  /// The circuits of the command, which is not done, can be used now; what waited for them is tried until end_finish().
  void begin_finish(std::uint32_t command, Time now) {
    Command& done = commands_[command - folded_];
    done.done = true;
    if (!done.timed) done.usable = done.cause.at = now;
    lit_cause_ = done.cause;
    finishing_ = &done;
  }
  void end_finish() {
    finishing_ = nullptr;
    for (; !commands_.empty() && commands_.front().done; commands_.pop_front(), ++folded_)
      add_to(totals_, commands_.front());
  }
  /// A wait of `idle` ends now. Only the part after the decision was a wait for the switch, not for ports.
  void expose(Duration idle) {
    if (finishing_ == nullptr) return;
    finishing_->exposed = std::max(finishing_->exposed, std::min(idle, finishing_->usable - finishing_->decided));
  }
  /// Returns the cause of the last circuits that were lit.
  [[nodiscard]] execution::CriticalPathTag lit_cause() const { return lit_cause_; }

  void summarize(ReconfigurationSummary& summary) const {
    summary.per_rail.push_back(size());
    summary.count += size();
    for (const auto& [change, of_change] : all_totals()) {
      CommandTotals& of_kind = summary.by_change[change];
      of_kind.count += of_change.count;
      of_kind.total += of_change.total;
      of_kind.exposed += of_change.exposed;
      summary.total += of_change.total;
      summary.exposed += of_change.exposed;
    }
  }
  /// Once for all rails that stand for each other.
  void count_circuits(ReconfigurationSummary& summary) const {
    for (const auto& [change, of_change] : all_totals()) {
      summary.by_change[change].circuits += of_change.circuits;
      summary.circuits += of_change.circuits;
    }
  }

 private:
  struct Command {
    Time decided{};
    Time usable{};
    bool timed = false;  // `usable` is known
    bool done = false;
    Duration exposed{};
    execution::CriticalPathTag cause;
    DimensionChange change;
    std::uint64_t circuits = 0;
  };
  using Totals = std::map<DimensionChange, CommandTotals>;

  static void add_to(Totals& totals, const Command& command) {
    CommandTotals& of_change = totals[command.change];
    ++of_change.count;
    of_change.circuits += command.circuits;
    of_change.total += command.usable - command.decided;
    of_change.exposed += command.exposed;
  }
  [[nodiscard]] Totals all_totals() const {
    Totals totals = totals_;
    for (const Command& command : commands_) add_to(totals, command);
    return totals;
  }

  Totals totals_;                 // of commands that are done, as all before them
  std::size_t folded_ = 0;        // how many these are
  std::deque<Command> commands_;  // the others
  Command* finishing_ = nullptr;
  execution::CriticalPathTag lit_cause_;
  std::optional<Dimension> last_served_;
};

}  // namespace photonrail::control_plane
