// Carries out on one rail what its controller decided, in time: steps one after the other, and timetables.
#pragma once

#include "control_plane/request_channel.hpp"
#include "engine/engine.hpp"
#include "fabric/optical_rail.hpp"
#include "photonrail/controller.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace photonrail::control_plane {

class PlanSequencer {
 public:
  /// A command that went to the switch.
  struct Issued {
    fabric::OpticalRail::Command command;
    Time decided{};
    bool rotation = false;  ///< of a timetable
  };

  /// Number of turns for which a timetable goes on for operations that wait for its circuits while no bytes move over them.
  static constexpr std::size_t kTurnsInVain = 64;

  /// The references must outlive the sequencer.
  PlanSequencer(const engine::Engine& engine, fabric::OpticalRail& rail, RequestChannel& messages, RailId id)
      : engine_(engine), rail_(rail), messages_(messages), id_(id) {}

  /// Replaces what earlier decisions have left to do. Throws ControllerError.
  void take(Decision decision, std::vector<Issued>& issued);
  /// The controller starts anew: nothing is left to do of its decisions.
  void forget();
  /// Does what is due now. To be called when next() has come or circuits were given back. Throws ControllerError.
  void proceed(std::vector<Issued>& issued);
  /// Lights again what a fault took, once the ports are repaired and as far as the decisions leave them free. Not for a
  /// timetable, which lights each of its circuits in the circuit's slot. Throws ControllerError.
  void restore(std::vector<Issued>& issued);
  /// Something changed that bytes may wait for, so that a timetable that stands still goes on.
  void wake() { unused_slots_ = 0; }
  /// The circuits of a command can be used.
  void done(std::uint32_t command);
  /// A timetable is carried out.
  [[nodiscard]] bool rotates() const { return timetable_.has_value(); }
  /// When proceed() has something to do even if nothing happens before; nullopt: not known, or never.
  /// `awaited`: operations wait for circuits, which a timetable goes on for.
  [[nodiscard]] std::optional<Time> next(bool awaited) const;

 private:
  void advance(std::vector<Issued>& issued);
  void rotate(std::vector<Issued>& issued);
  void turn(std::int64_t slot, std::vector<Issued>& issued);
  void carry_out(const CircuitPlan& plan, bool preempt, std::optional<Time> since, std::vector<Issued>& issued);

  const engine::Engine& engine_;
  fabric::OpticalRail& rail_;
  RequestChannel& messages_;
  RailId id_;
  std::deque<Step> steps_;
  Time ready_{};                       // the circuits of the step before can be used
  std::optional<std::uint32_t> last_;  // the command of the step before, until its end is known
  bool begun_ = false;                 // a step of the present decision was carried out
  std::optional<Timetable> timetable_;
  Time taken_{};            // when the timetable was decided
  std::int64_t slot_ = -1;  // of the timetable, whose circuits are set
  std::uint64_t uses_seen_ = 0;
  Bytes left_seen_{};  // at the slot before, of what holds circuits
  std::size_t unused_slots_ = 0;
};

}  // namespace photonrail::control_plane
