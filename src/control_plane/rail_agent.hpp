// One rail's controller and what surrounds it: shows it the rail when something changed, has its decisions carried out, and
// asks it again when it wants to be asked.
#pragma once

#include "control_plane/command_log.hpp"
#include "control_plane/control_context.hpp"
#include "control_plane/plan_sequencer.hpp"
#include "control_plane/port_mirror.hpp"
#include "control_plane/rail_traffic.hpp"
#include "control_plane/request_board.hpp"
#include "control_plane/request_channel.hpp"
#include "execution/critical_path.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::control_plane {

/// Told that operations may find circuits that were not there before; implemented by ControlPlane.
class RetryListener {
 public:
  virtual ~RetryListener() = default;
  virtual void circuits_available(RailId rail) = 0;
};

/// Holds what only some policies are shown.
struct SharedView {
  std::span<const RankSchedule> schedule{};
  std::uint32_t running = 0;      ///< operations with bytes on their way
  std::uint64_t tasks_ended = 0;  ///< so far
  bool one_order = false;         ///< FabricView::one_order
};

class ViewSource {
 public:
  virtual ~ViewSource() = default;
  /// Returns the view of the job as a whole, for the rail's controller; brings the progress marks of its requests up to
  /// date.
  [[nodiscard]] virtual SharedView shared_view(RailId rail) = 0;
};

class RailAgent {
 public:
  /// Limit on fruitless decisions in a row: a controller may re-point circuits, ask to be asked again, or decide within one
  /// instant, without any circuit of its rail being taken.
  static constexpr std::uint32_t kMaxFruitless = 10'000;

  /// Holds what the agents of a job share. All must outlive them.
  struct Surroundings {
    RequestBoard& board;
    RequestChannel& channel;
    RetryListener& retry;
    ViewSource& views;
    const ReconfigurationTerms& switching;         ///< of every rail, but for ReconfigurationTerms::jobs
    folding::OrderAmbiguity* ambiguity = nullptr;  ///< of a run of folded ranks, else null
  };

  RailAgent(const ControlContext& run, const PolicyNeeds& needs, const Surroundings& around, RailId id);

  /// Where the job's ranks are; without it every port is the job's.
  void seat(std::span<const GpuId> gpu_of_rank);
  /// From now on the controller is asked; after the instant of end() it no longer is, and timetables stand still.
  void begin();
  void end();

  /// Something happened that the controller can act on: it is asked in this instant.
  void notify(execution::CriticalPathTag cause);
  /// The same, though no request or holder changed.
  void wake(execution::CriticalPathTag cause);
  /// A task ended somewhere, or the job stands still (ViewPart::kTaskEvents): a controller with requests is asked.
  void task_ended();
  void stand_still() { wake(cause_); }
  /// The circuits of a command can be used.
  void command_done(std::uint32_t command);
  /// Ports failed or were repaired.
  void rail_changed();
  /// A switch that was dark as a whole has light again. Unlike a fault it is no news for a timetable that stands still: its
  /// own commands bring it about.
  void light_back();
  /// Notes that a pair got its circuits for `bytes`.
  void count_traffic(std::uint32_t iteration, ServerPair pair, Bytes bytes);
  /// An operation of the dimension has its circuits.
  void served(Dimension dimension) { commands_.served(dimension); }
  /// Notes how long an operation waited for the circuits that it has now.
  /// `pairs`: of the operation, where it may have waited for those of other rails, too.
  void expose(Duration idle, const PairQueue* pairs = nullptr);
  /// For people: that a timetable stands still, though operations wait for its circuits; "" when it does not.
  [[nodiscard]] std::string why_nothing_turns() const;

  /// The controller stops, and is back having forgotten everything; restarts may overlap.
  void go_down();
  void come_up();
  [[nodiscard]] bool is_down() const { return presence_.down > 0; }

  /// Returns what the controller says of how the run went, or "".
  [[nodiscard]] std::string remark(Duration makespan) const { return controller_->remark(makespan); }
  [[nodiscard]] const CommandLog& commands() const { return commands_; }
  [[nodiscard]] execution::CriticalPathTag lit_cause() const { return commands_.lit_cause(); }

 private:
  /// When the controller is asked again, and how often that came to nothing.
  struct Wakes {
    engine::EventHandle timer{};
    Time at{};
    std::optional<Time> ask_again;
    std::uint32_t fruitless = 0;
    bool decide_scheduled = false;
  };
  /// Commands, and decisions of one instant, since a circuit of the rail was last taken.
  struct Fruitless {
    std::uint64_t uses_seen = 0;  // OpticalRail::uses
    std::uint32_t commands = 0;
    Time decided_at{Duration{-1}};
    std::uint64_t progress_seen = 0;  // uses, and tasks that ended
    std::uint32_t decisions = 0;
  };
  /// When the controller is asked at all.
  struct Presence {
    bool begun = false;
    std::optional<Time> ended{};  ///< the instant of end()
    std::uint32_t down = 0;       ///< restarts that the controller is in
  };

  [[nodiscard]] std::unique_ptr<Controller> make_controller() const;
  [[nodiscard]] bool is_running() const;
  void decide(std::uint64_t);
  void require_time_passes(std::uint64_t tasks_ended);
  void consult(const SharedView& shared);
  [[nodiscard]] FabricView view(const SharedView& shared) const;
  void log_issued();
  void set_timer();
  void ring(std::uint64_t);

  ControlContext run_;
  const PolicyNeeds& needs_;
  Surroundings around_;
  RailId id_;
  fabric::OpticalRail& rail_;
  std::unique_ptr<Controller> controller_;
  PlanSequencer sequencer_;
  PortMirror ports_;
  RailTraffic traffic_;
  CommandLog commands_;
  Wakes wakes_;
  Fruitless fruitless_;
  Presence presence_;
  execution::CriticalPathTag cause_;  // of the last thing that the controller could act on
  std::vector<PlanSequencer::Issued> issued_;
};

}  // namespace photonrail::control_plane
