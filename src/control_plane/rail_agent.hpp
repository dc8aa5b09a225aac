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

/// What only some policies are shown.
struct SharedView {
  std::span<const RankSchedule> schedule{};
  std::uint32_t running = 0;
};

class ViewSource {
 public:
  virtual ~ViewSource() = default;
  /// Of the job as a whole, for the rail's controller; brings the progress marks of its requests up to date.
  [[nodiscard]] virtual SharedView shared_view(RailId rail) = 0;
};

class RailAgent {
 public:
  /// So often in a row a controller may re-point circuits, or ask to be asked again, without any circuit of its rail being
  /// taken.
  static constexpr std::uint32_t kMaxFruitless = 10'000;

  /// What the agents of a job share. All must outlive them.
  struct Surroundings {
    RequestBoard& board;
    RequestChannel& channel;
    RetryListener& retry;
    ViewSource& views;
  };

  RailAgent(const ControlContext& run, const PolicyNeeds& needs, const Surroundings& around, RailId id);

  /// Something happened that the controller can act on: it is asked in this instant.
  void notify(execution::CriticalPathTag cause);
  /// The same, though no request or holder changed.
  void wake(execution::CriticalPathTag cause);
  /// A task ended somewhere (PolicyNeeds::events).
  void task_ended();
  /// The circuits of a command can be used.
  void command_done(std::uint32_t command);
  /// Ports failed or were repaired, or a dark switch has light again.
  void rail_changed();
  /// A pair got its circuits for so many bytes.
  void count_traffic(std::uint32_t iteration, ServerPair pair, Bytes bytes);
  /// An operation that waited so long has its circuits.
  void expose(Duration idle) { commands_.expose(idle); }

  /// The controller stops, and is back having forgotten everything; restarts may overlap.
  void go_down();
  void come_up();
  [[nodiscard]] bool is_down() const { return down_ > 0; }

  [[nodiscard]] const CommandLog& commands() const { return commands_; }
  [[nodiscard]] execution::CriticalPathTag lit_cause() const { return commands_.lit_cause(); }

 private:
  /// When the controller is asked again, and how often that came to nothing.
  struct Wakes {
    EventHandle timer{};
    Time at{};
    std::optional<Time> ask_again;
    std::uint32_t fruitless = 0;
    bool decide_scheduled = false;
  };
  /// Commands since a circuit of the rail was last taken.
  struct Fruitless {
    std::uint64_t uses_seen = 0;  // OpticalRail::uses
    std::uint32_t commands = 0;
  };

  [[nodiscard]] std::unique_ptr<Controller> make_controller() const;
  [[nodiscard]] std::unique_ptr<PlanSequencer> make_sequencer();
  void decide(std::uint64_t);
  void consult();
  [[nodiscard]] FabricView view();
  void log_issued();
  void set_timer();
  void ring(std::uint64_t);

  ControlContext run_;
  const PolicyNeeds& needs_;
  Surroundings around_;
  RailId id_;
  OpticalRail& rail_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<PlanSequencer> sequencer_;
  PortMirror ports_;
  RailTraffic traffic_;
  CommandLog commands_;
  Wakes wakes_;
  Fruitless fruitless_;
  std::uint32_t down_ = 0;            // restarts that its controller is in
  execution::CriticalPathTag cause_;  // of the last thing that the controller could act on
  std::vector<PlanSequencer::Issued> issued_;
};

}  // namespace photonrail::control_plane
