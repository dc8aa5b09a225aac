// The commands that one rail's switch was given: how long they took, and how much of that the ranks had to wait.
#pragma once

#include "execution/critical_path.hpp"
#include "photonrail/accounting.hpp"
#include "photonrail/core/circuit.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// Holds what a command is for.
struct CommandPurpose {
  std::optional<Dimension> serves;  ///< the dimension of the first request that it serves, if any
  std::uint64_t circuits = 0;       ///< that it sets up
  std::vector<Circuit> connect;     ///< these, of one of the rails that the rail stands for
};

class CommandLog {
 public:
  [[nodiscard]] std::size_t size() const { return folded_ + commands_.size(); }
  /// A command went out. `usable`: when its circuits can be used, where that is known. `cause`: of its decision.
  void add(Time decided, std::optional<Time> usable, execution::CriticalPathTag cause, CommandPurpose purpose = {}) {
    const Time at = usable.value_or(Time{});
    const DimensionChange change{last_served_, purpose.serves};
    commands_.push_back({decided,
                         at,
                         usable.has_value(),
                         std::nullopt,
                         Duration{0},
                         {at, cause.reconfigurations + 1},
                         change,
                         purpose.circuits,
                         std::move(purpose.connect)});
  }
  /// An operation of the dimension got circuits.
  void served(Dimension dimension) { last_served_ = dimension; }
  /// The circuits of the command, which is not done, can be used now; what waited for them is tried until end_finish().
  void begin_finish(std::uint32_t command, Time now) {
    Command& done = commands_[command - folded_];
    done.done = now;
    if (!done.timed) done.usable = done.cause.at = now;
    lit_cause_ = done.cause;
    finishing_ = &done;
    if (lit_at_ != now) lit_now_.clear();
    lit_at_ = now;
    lit_now_.push_back(command);
    fold(now);
  }
  void end_finish() { finishing_ = nullptr; }
  /// A wait of `idle` ends now, because of the command whose circuits are tried.
  void expose(Duration idle) {
    if (finishing_ != nullptr) finishing_->expose(idle);
  }
  /// The same, and because of each other command done in this instant of which a circuit `serves` what waited. An operation
  /// that waited on two rails opens with the second: without this the first command would have exposed nothing.
  template <class Serves>
  void expose(Duration idle, Time now, const Serves& serves) {
    expose(idle);
    if (lit_at_ != now) return;
    for (const std::uint32_t command : lit_now_) {
      Command& done = commands_[command - folded_];
      if (&done != finishing_ && std::any_of(done.connect.begin(), done.connect.end(), serves)) done.expose(idle);
    }
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
    std::optional<Time> done;
    Duration exposed{};
    execution::CriticalPathTag cause;
    DimensionChange change;
    std::uint64_t circuits = 0;
    std::vector<Circuit> connect;

    /// Only the part after the decision was a wait for the switch, not for ports.
    void expose(Duration idle) { exposed = std::max(exposed, std::min(idle, usable - decided)); }
  };
  using Totals = std::map<DimensionChange, CommandTotals>;

  static void add_to(Totals& totals, const Command& command) {
    CommandTotals& of_change = totals[command.change];
    ++of_change.count;
    of_change.circuits += command.circuits;
    of_change.total += command.usable - command.decided;
    of_change.exposed += command.exposed;
  }
  // What is done in this instant may be exposed until it ends.
  void fold(Time now) {
    for (; !commands_.empty() && commands_.front().done && *commands_.front().done < now; commands_.pop_front(), ++folded_)
      add_to(totals_, commands_.front());
  }
  [[nodiscard]] Totals all_totals() const {
    Totals totals = totals_;
    for (const Command& command : commands_) add_to(totals, command);
    return totals;
  }

  Totals totals_;                       // of commands that are done, as all before them
  std::size_t folded_ = 0;              // how many these are
  std::deque<Command> commands_;        // the others
  std::vector<std::uint32_t> lit_now_;  // commands that were done at lit_at_
  Time lit_at_{Duration{-1}};
  Command* finishing_ = nullptr;
  execution::CriticalPathTag lit_cause_;
  std::optional<Dimension> last_served_;
};

}  // namespace photonrail::control_plane
