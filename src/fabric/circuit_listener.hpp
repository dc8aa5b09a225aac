// The interface to the observer of a rail's circuits, and the rail's own end of it.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/ids.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace photonrail::fabric {

/// Told what happens to circuits.
class CircuitListener {
 public:
  virtual ~CircuitListener() = default;
  virtual void circuit_changed(RailId rail, Circuit circuit, CircuitState state) = 0;
  /// The circuits of a command can be used. `command` is what OpticalRail::apply returned.
  virtual void command_done(RailId rail, std::uint32_t command) = 0;
  /// "on_dark": "pause": the last circuit of a held link was darkened, and its bytes wait until the servers are joined
  /// again; then, or when the holder gave the link back, the circuit is no longer missed.
  virtual void circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) = 0;
  virtual void circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) = 0;
  /// Ports failed or were repaired: no command brought it about.
  virtual void rail_changed(RailId rail) = 0;
  /// A switch that was dark as a whole, for a command of this job or of another, has light again.
  virtual void light_back(RailId rail) = 0;
  /// Ports failed by fault number `fault` of the cluster, and the control plane does not know it: links of these owners,
  /// each once, have lost all of their light. No owners: the failure is detected or repaired, or took no light.
  virtual void light_lost(RailId /*rail*/, std::uint64_t /*fault*/, const std::vector<std::uint64_t>& /*owners*/) {}
};

/// From one server to another.
struct Hop {
  std::uint32_t from = 0;  // servers
  std::uint32_t to = 0;

  friend auto operator<=>(const Hop&, const Hop&) = default;
};

/// The listener of one rail: the parts of a rail notify it through this object.
class CircuitNotifier {
 public:
  explicit CircuitNotifier(RailId rail) : rail_(rail) {}

  /// The listener must outlive the object. REQUIRES: called before the functions below.
  void attach(CircuitListener& listener) { listener_ = &listener; }

  void changed(Circuit circuit, CircuitState state) const { listener_->circuit_changed(rail_, circuit, state); }
  void command_done(std::uint32_t command) const { listener_->command_done(rail_, command); }
  void missed(std::uint64_t owner, Hop hop) const { listener_->circuit_missed(rail_, owner, hop.from, hop.to); }
  void back(std::uint64_t owner, Hop hop) const { listener_->circuit_back(rail_, owner, hop.from, hop.to); }
  void rail_changed() const { listener_->rail_changed(rail_); }
  void light_back() const { listener_->light_back(rail_); }
  void light_lost(std::uint64_t fault, const std::vector<std::uint64_t>& owners) const {
    listener_->light_lost(rail_, fault, owners);
  }

 private:
  RailId rail_;
  CircuitListener* listener_ = nullptr;
};

}  // namespace photonrail::fabric
