// Which circuits of a job's commands a switch that blocks can make now, and which wait until it can.
//
// The circuits that an operation wants at once (a claim) are made together or not at all, the oldest claim first; circuits
// that no operation asked for, one by one after them. New ways go beside those of circuits that are up. Where there is no
// room, circuits that are out of use make it: not those of older claims, nor, for circuits that no operation asked for,
// those that nothing has used yet. What is displaced goes dark, as if the command had named it; what finds no room waits.
// Both are made again when a claim needs them or, if never made, when there is room beside all others.
//
// Of several jobs on one rail the claims of the first go first; the idle circuits of each job may be displaced by all.
#pragma once

#include "fabric/circuit_transitions.hpp"
#include "fabric/mesh_routes.hpp"
#include "fabric/port_faults.hpp"
#include "fabric/rail_circuits.hpp"
#include "photonrail/core/circuit.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace photonrail::fabric {

class MeshAdmission {
 public:
  /// The parts of the job's rail. All must outlive the object.
  struct Parts {
    RailId id;
    RailCircuits& circuits;
    PortFaults& faults;
    CircuitTransitions& transitions;
    const CircuitNotifier& notifier;
  };
  MeshAdmission(MeshRoutes& routes, const Parts& parts);
  MeshAdmission(const MeshAdmission&) = delete;  // the routes refer to it

  /// Takes what operations wait for, the most urgent first: the pairs of servers that are of use together only.
  void set_claims(std::vector<std::vector<Hop>> claims);

  /// Takes out of `change` what has no room, and adds what has to give way to the rest. `plan`: of the controller, replaces
  /// what earlier plans left waiting on its fibres. `again`: it was made by retry().
  void admit(const CircuitPlan& plan, CircuitPlan& change, bool again);
  /// Circuits that wait and that might be made now.
  [[nodiscard]] CircuitPlan retry() const;
  /// An operation waits for a circuit that waits.
  [[nodiscard]] bool is_behind() const;
  /// Circuits of this job got out of use, or dark: other jobs that wait may find room.
  void notify_others() const;

  struct WaitReason {
    std::string text;       ///< as part of a sentence, or ""
    bool for_ever = false;  ///< whatever else is lit
  };
  /// Why no circuit from a server to another was made.
  [[nodiscard]] WaitReason why_waiting(Hop hop) const;
  [[nodiscard]] const BlockingSummary& summary() const { return summary_; }

 private:
  using Rank = std::size_t;  // of a claim
  static constexpr Rank kUnclaimed = std::numeric_limits<Rank>::max();

  struct Waiting {
    Circuit circuit;
    bool displaced = false;  // it was there before
  };
  struct Group {
    std::vector<Circuit> circuits;
    Rank rank = kUnclaimed;
    bool whole = false;  // one circuit for each pair of its claim that lacks one
  };
  // Holds what a group meets on one plane.
  struct Situation {
    std::vector<Circuit> wanted;
    std::vector<MeshWay> stay;
    std::vector<MeshWay> may_go;
    std::vector<MeshWay> own;  // out of use, of the same claim: they may be routed anew, together with the group
  };
  // Room for a group: its ways, and what gives way.
  struct Room {
    std::vector<MeshWay> ways;
    std::vector<MeshWay> displaced;
    std::vector<Circuit> anew;  // circuits that are up, and that `ways` has on other ways
  };

  [[nodiscard]] Rank rank_of(Circuit circuit) const;
  [[nodiscard]] bool is_up(Circuit circuit) const;
  [[nodiscard]] bool is_idle(Circuit circuit) const;
  [[nodiscard]] bool gives_way(const MeshWay& way, const Group& group) const;
  [[nodiscard]] std::set<Hop> joined_beside(const std::vector<Circuit>& wanted,
                                            const std::vector<PortId>& disconnect) const;
  [[nodiscard]] std::vector<Group> groups(const std::vector<Circuit>& wanted, const std::vector<PortId>& disconnect) const;
  [[nodiscard]] std::optional<Room> find_room(const Group& group, const std::vector<Circuit>& leaving, bool displace) const;
  /// `so_far`: the room for the group on planes of smaller numbers.
  [[nodiscard]] Situation situation_on(std::uint32_t plane, const Group& group, const std::vector<Circuit>& leaving,
                                       bool displace, const Room& so_far) const;
  bool find_room(const Situation& situation, Room& room) const;
  bool find_room_beside(const std::vector<Circuit>& circuits, const std::vector<MeshWay>& stay,
                        const std::vector<MeshWay>& may_go, Room& room) const;
  void take(const Group& group, Room room, CircuitPlan& change);
  void purge();
  void displace(const MeshWay& way, CircuitPlan& change);
  void drop(Circuit circuit);
  void wait(const Group& group, const std::vector<Waiting>& before);

  MeshRoutes& routes_;
  Parts parts_;
  std::uint32_t job_;
  std::vector<std::vector<Hop>> claims_;
  std::map<Hop, Rank> ranks_;
  std::vector<Waiting> waiting_;                 // no two share a fibre
  std::map<Hop, std::vector<Circuit>> refused_;  // with those that were wanted together with them; not since
  BlockingSummary summary_;
};

}  // namespace photonrail::fabric
