// One rail's optical circuit switches, driven in time: circuits go dark, switch, light up; operations hold the circuits
// that they use; parallel circuits between two GPUs act as one link of their summed rate. Commands and faults of ports are
// in rail_commands.cpp.
#pragma once

#include "fabric/shared_fabric.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/device.hpp"
#include "photonrail/engine.hpp"
#include "photonrail/total_time.hpp"
#include "topology/plant.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

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
};

class OpticalRail {
 public:
  using HoldId = std::uint32_t;

  /// References must outlive the rail.
  OpticalRail(Engine& engine, Network& network, const Plant& plant, const RailSpec& spec, RailId id, SharedRail& shared);

  /// Who is told of circuits. It must outlive the rail. Faults of ports are scheduled now.
  void attach(CircuitListener& listener);

  /// By GPU of the plant: for how many one stands. Without it each is one. It must outlive the rail.
  void set_copies(std::span<const std::uint32_t> copies) { copies_ = copies; }

  /// Of one of several jobs: by server, whether its port is the job's. Circuits of others are refused, and not seen.
  void set_servers(std::vector<bool> servers) { servers_ = std::move(servers); }
  /// Empty: all.
  [[nodiscard]] const std::vector<bool>& servers() const { return servers_; }

  /// That send commands to the rail's switches.
  [[nodiscard]] std::uint32_t jobs() const { return static_cast<std::uint32_t>(shared_.jobs.size()); }

  [[nodiscard]] const OpticalSwitch& crossbar() const { return crossbar_; }

  /// The capacities on the way from one server to another, or empty: one hop, or several with forwarding. Valid until the
  /// next call.
  [[nodiscard]] std::span<const CapacityId> way(std::uint32_t from, std::uint32_t to);
  /// Of the way that way() gave last: circuits, and those of them that lead to another pod.
  [[nodiscard]] std::uint32_t way_circuits() const { return way_circuits_; }
  [[nodiscard]] std::uint32_t way_crossings() const { return way_crossings_; }

  /// Holds the circuits of the way from `from` to `to` until release(); nullopt when there is none. Circuits that drain are
  /// no way.
  [[nodiscard]] std::optional<HoldId> hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner);
  void release(HoldId hold);

  struct Command {
    std::uint32_t id = 0;
    CircuitPlan change;            ///< what really changes
    std::optional<Time> usable{};  ///< when all its circuits can be used, where the switches have no queue
  };
  /// How a plan is carried out.
  struct Terms {
    Duration before{};            ///< until the switch begins
    Duration after{};             ///< from lit until somebody may use the circuits
    bool preempt = false;         ///< circuits in use may be darkened, as with "on_dark": "pause"
    std::optional<Time> since{};  ///< the plan was to be carried out then, on a rail that nobody used meanwhile
  };
  /// Carries out a plan: what it darkens is unusable at once. The switches have the command `before` later; when they come
  /// to it, the new circuits take switching, settling and link bring-up, and are usable `after` later. Circuits to or from
  /// a faulty port, or in the place of one that is, are left out. nullopt: nothing to change. Throws ControllerError.
  std::optional<Command> apply(const CircuitPlan& plan, const Terms& terms);

  /// Circuits of earlier plans that a fault took or refused and that no later plan displaced, whose ports are repaired, and
  /// which darken no circuit in use. To be lit again by apply().
  [[nodiscard]] CircuitPlan restorable() const;

  /// Whether somebody holds a circuit that the plan would darken. Throws ControllerError.
  [[nodiscard]] bool disturbs(const CircuitPlan& plan) const;
  /// Nobody gets hold of the circuits that the plan would darken, until apply() or undrain().
  void drain(const CircuitPlan& plan);
  void undrain();
  [[nodiscard]] bool draining(PortId from) const { return !draining_.empty() && draining_[from.index()]; }

  /// Sends may be forwarded over so many circuits; 0: as the rail's spec says.
  void set_hops(std::uint32_t most) { most_hops_ = most; }
  /// No send is forwarded while a circuit of its own is on its way.
  void wait_for_direct() { waits_for_direct_ = true; }
  /// No send is forwarded unless faulty ports rule out a circuit of its own.
  void forward_around_faults_only() { around_faults_only_ = true; }

  /// Counts those that got hold of circuits.
  [[nodiscard]] std::uint64_t uses() const { return uses_; }
  /// Somebody holds circuits, lit or taken away.
  [[nodiscard]] bool held() const { return free_holds_.size() < holds_.size(); }
  /// Somebody holds circuits that are lit.
  [[nodiscard]] bool in_use() const;
  [[nodiscard]] bool drains() const { return !draining_.empty(); }
  /// Bytes left of the messages from a server to another.
  [[nodiscard]] Bytes bytes_left(std::uint32_t from, std::uint32_t to);

  /// Lit, and no switch on the way is dark as a whole. `port`: of the transmit side.
  [[nodiscard]] bool is_lit(PortId port) const;
  [[nodiscard]] bool is_faulty(PortId port) const { return faults_[port.index()] > 0; }
  /// What has been wrong with ports so far, each a line for people.
  [[nodiscard]] std::vector<std::string> faults() const;

  /// Ports whose state changed since the last call, without duplicates.
  void take_touched(std::vector<PortId>& out);

  [[nodiscard]] const TotalTime& dark_port_time() const { return dark_port_time_; }

 private:
  struct Hop {
    std::uint32_t from;  // servers
    std::uint32_t to;

    friend auto operator<=>(const Hop&, const Hop&) = default;
  };
  // The lit circuits from one server to another, as one capacity. It outlives its circuits while somebody holds it: what
  // was posted on it stops, and goes on when the servers are joined again.
  struct Link {
    std::uint32_t to = 0;
    CapacityId capacity = 0;
    std::uint32_t width = 0;  // lit circuits
    std::uint32_t users = 0;  // holds
  };
  struct Hold {
    std::uint64_t owner = 0;
    std::vector<Hop> hops;
    std::vector<PortId> ports;
    std::vector<Hop> missed;  // hops of which the listener was told that they have no circuit
  };
  struct Switching {
    struct Wanted {
      Circuit circuit;
      std::uint32_t switches = 0;  // that are not done with it
    };
    std::vector<Wanted> circuits;  // not lit
    std::uint32_t begun = 0;       // OpticalSwitch::begin
    std::uint32_t parts = 0;       // not done
    Duration after{};
  };
  // What one switch has to do for a command.
  struct Part {
    std::uint32_t command = 0;
    std::uint32_t at = 0;       // the switch
    std::int64_t circuits = 0;  // that begin there, of the cluster
  };
  [[nodiscard]] std::uint32_t server(PortId port) const { return port.value / ports_per_gpu_; }
  [[nodiscard]] Link* find_link(Hop hop);
  [[nodiscard]] std::span<const Hop> hops(Hop hop);
  /// How many circuits of the cluster these are.
  [[nodiscard]] std::int64_t count(std::span<const Circuit> circuits) const;
  void touch(PortId port);
  void touch(Circuit circuit);
  void find_way(Hop hop, std::vector<Hop>& out);
  void use_ports(Hop hop, Hold& hold);
  void refresh_links(std::uint32_t from);
  [[nodiscard]] CapacityId take_capacity(std::uint32_t from, PortId port);
  void detach_holders(const std::vector<Circuit>& darkened);
  void miss_links(const std::vector<Circuit>& darkened);
  void reattach_holders(Hop hop);
  std::uint32_t darken(const CircuitPlan& change, bool pause);
  void refuse_faulty(CircuitPlan& change);
  void lose(Circuit circuit);
  void displace_lost(const CircuitPlan& plan);
  [[nodiscard]] bool is_refused(Circuit circuit) const;
  [[nodiscard]] bool is_fixed(PortId from) const;
  void require_planes(const CircuitPlan& plan) const;
  void split(std::uint32_t command, const CircuitPlan& change);
  [[nodiscard]] std::optional<Time> send_parts(Time reached);
  [[nodiscard]] Time carry_out(std::uint32_t part, Time begins);
  [[nodiscard]] std::uint32_t part_of(std::uint32_t command, std::uint32_t which);
  void arrive(std::uint64_t part);
  void begin(std::uint64_t part);
  void show_lit(const std::vector<Circuit>& lit);
  [[nodiscard]] std::vector<Circuit> lit_circuits(std::uint32_t which) const;
  void pause_switch(std::uint64_t which);
  void resume_switch(std::uint64_t which);
  void pause(const std::vector<Circuit>& lit);
  void resume(std::uint32_t which);
  bool end_pause(PortId from);
  template <class Visit>
  void each_port(const PortFault& fault, Visit&& visit) const;
  void begin_fault(std::uint64_t index);
  void end_fault(std::uint64_t index);
  void fail(PortId port);
  template <class Visit>
  void each_holder(Hop hop, Visit&& visit);
  [[nodiscard]] bool has_port(const Hold& hold, Hop hop) const;
  [[nodiscard]] bool usable(std::uint32_t port) const { return is_lit(PortId{port}) && !draining(PortId{port}); }
  [[nodiscard]] bool direct(Hop hop) const;
  [[nodiscard]] bool on_its_way(Hop hop) const;
  [[nodiscard]] bool can_join(Hop hop) const;
  void require_two_ends(const CircuitPlan& plan) const;
  void require_own(const CircuitPlan& plan) const;
  void light(std::uint64_t part);

  Engine& engine_;
  Network& network_;
  const Plant& plant_;
  const RailSpec& spec_;
  RailId id_;
  CircuitListener* listener_ = nullptr;
  std::span<const std::uint32_t> copies_;
  std::uint32_t ports_per_gpu_;
  OpticalSwitch crossbar_;
  SharedRail& shared_;
  RailSwitches& switches_;
  std::vector<bool> servers_;          // by server: whether its port is the job's; empty: all are
  std::vector<std::uint32_t> faults_;  // by port: that it has now
  std::vector<Circuit> lost_;          // wanted by plans, and taken or refused by faults; no two share a fibre

  std::vector<std::vector<Link>> links_;        // by server that sends
  std::vector<std::vector<CapacityId>> spare_;  // by server: capacities that no link has
  std::vector<Hold> holds_;
  std::vector<HoldId> free_holds_;
  std::vector<Switching> commands_;  // by command; emptied when it is done
  std::vector<Part> parts_;
  std::vector<std::uint32_t> free_parts_;
  std::vector<std::uint32_t> split_;               // scratch: the parts of a command
  std::vector<std::optional<Time>> paused_since_;  // by transmit port: lit but for a switch that is dark as a whole
  std::map<Hop, std::vector<Hop>> ways_;           // forwarding: found since the last change
  Hop direct_{};
  std::vector<CapacityId> way_;
  std::uint32_t way_circuits_ = 0;
  std::uint32_t way_crossings_ = 0;
  std::vector<PortId> touched_;
  std::vector<bool> is_touched_;
  TotalTime dark_port_time_;
  std::vector<bool> draining_;  // by transmit port; empty: none
  std::uint32_t most_hops_ = 0;
  bool waits_for_direct_ = false;
  bool around_faults_only_ = false;
  std::uint64_t uses_ = 0;
};

}  // namespace photonrail
