// One rail's optical circuit switch, driven in time: circuits go dark, switch, light up; operations hold the circuits that
// they use; parallel circuits between two GPUs act as one link of their summed rate.
#pragma once

#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/device.hpp"
#include "photonrail/engine.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace photonrail {

/// Told what happens to circuits.
class CircuitListener {
 public:
  enum class State : std::uint8_t { kSwitching, kLit, kDark };

  virtual ~CircuitListener() = default;
  virtual void circuit_changed(RailId rail, Circuit circuit, State state) = 0;
  /// The circuits of a command can be used. `command` is what OpticalRail::apply returned.
  virtual void command_done(RailId rail, std::uint32_t command) = 0;
  /// A held circuit was darkened ("on_dark": "pause"); its bytes wait until the pair is joined again.
  virtual void circuit_lost(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) = 0;
};

class OpticalRail {
 public:
  using HoldId = std::uint32_t;

  /// References must outlive the rail.
  OpticalRail(Engine& engine, Network& network, const Plant& plant, const RailSpec& spec, RailId id, std::uint64_t seed);

  /// Who is told of circuits. It must outlive the rail.
  void attach(CircuitListener& listener) { listener_ = &listener; }

  [[nodiscard]] const OpticalSwitch& crossbar() const { return crossbar_; }

  /// Transmit ports of the circuits on the way from one server to another, or empty: one hop, or several with forwarding.
  [[nodiscard]] std::span<const PortId> way(std::uint32_t from, std::uint32_t to);

  /// Holds the circuits of the way from `from` to `to` until release(); nullopt when there is none.
  [[nodiscard]] std::optional<HoldId> hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner);
  void release(HoldId hold);

  struct Command {
    std::uint32_t id = 0;
    CircuitPlan change;  ///< what really changes
    Time usable{};       ///< when its circuits can be used
  };
  /// Carries out a plan: what it darkens is unusable at once; the new circuits are usable `before` + switching + link
  /// bring-up + `after` later. nullopt: nothing to change. Throws ControllerError.
  std::optional<Command> apply(const CircuitPlan& plan, Duration before, Duration after);

  /// Ports whose state changed since the last call, without duplicates.
  void take_touched(std::vector<PortId>& out);

  [[nodiscard]] Duration dark_port_time() const { return dark_port_time_; }

 private:
  using Hop = std::pair<std::uint32_t, std::uint32_t>;  // servers
  struct Hold {
    std::uint64_t owner = 0;
    std::vector<PortId> ports;
    std::vector<Hop> lost;  // hops that a controller took away in use
  };
  struct Switching {
    std::vector<Circuit> circuits;
    std::uint32_t begun = 0;  // OpticalSwitch::begin
  };
  struct Parked {
    Network::FlowId flow;
    CapacityId capacity;
  };

  [[nodiscard]] std::uint32_t server(PortId port) const { return port.value / ports_per_gpu_; }
  [[nodiscard]] CapacityId capacity(PortId port) const;
  [[nodiscard]] PortId direct(std::uint32_t from, std::uint32_t to) const;
  void touch(PortId port);
  void find_way(std::uint32_t from, std::uint32_t to, std::vector<PortId>& out) const;
  void refresh_links(std::uint32_t from);
  void park(const std::vector<Circuit>& darkened);
  void resume_parked(std::uint32_t from, std::uint32_t to);
  void light(std::uint64_t command);

  Engine& engine_;
  Network& network_;
  const Plant& plant_;
  const RailSpec& spec_;
  RailId id_;
  CircuitListener* listener_ = nullptr;
  std::uint32_t ports_per_gpu_;
  OpticalSwitch crossbar_;
  RandomStream random_;

  std::vector<PortId> leader_;  // of the circuits from a port's GPU to its peer: the port that stands for all of them
  std::vector<Hold> holds_;
  std::vector<HoldId> free_holds_;
  std::vector<Switching> commands_;          // by command; emptied when it is done
  std::map<Hop, std::vector<PortId>> ways_;  // forwarding: found since the last change
  std::map<Hop, std::vector<Parked>> parked_;
  std::vector<PortId> way_;
  std::vector<PortId> touched_;
  std::vector<bool> is_touched_;
  Duration dark_port_time_{};
};

}  // namespace photonrail
