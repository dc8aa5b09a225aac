// What a policy needs besides requests and circuits.
#pragma once

#include "photonrail/control/control_plane.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <vector>

namespace photonrail {

/// How the ranks communicate with a controller (the shim of Opus, arXiv 2602.12521, section 4).
struct ShimPolicy {
  bool announce = false;             ///< when an operation completes, request the circuits of the next one of the schedule
  bool scheduled = false;            ///< issue a rank's rail operations in the order of the profiling run
  bool patient = false;              ///< an operation yields its lanes to others while it waits for circuits
  bool by_due = false;               ///< lanes are assigned earliest deadline first (CircuitRequest::due); needs foresight
  std::vector<ShimSpec> of_ranks{};  ///< settings of some ranks in place of these

  [[nodiscard]] bool announces(RankId rank) const;
  [[nodiscard]] bool announces_any() const;
};

/// The inputs and services that a policy needs besides requests and circuits. The run computes only what its policy needs,
/// so that unused inputs cost nothing.
struct PolicyNeeds {
  ShimPolicy shim{};
  bool bytes = false;     ///< CircuitRequest::bytes, PortView::bytes_left
  bool rounds = false;    ///< CircuitRequest::next
  bool schedule = false;  ///< FabricView::schedule, from a profiling run on electrical rails
  bool schedule_with_ports = false;  ///< `schedule`, but only where a NIC has several ports
  bool traffic = false;   ///< FabricView::traffic, traffic_now
  /// Pair-by-pair service: a send waits for the circuits of its own pair only, and holds them only while it is in flight.
  /// Without it a round of an operation takes all its circuits together or none, and keeps each until its last send.
  /// Operations then run send by send at either fidelity, because a ring with links that are lit one after the other is not
  /// one flow. Where `hops` is 0, sends are forwarded only if the rail forwards and faulty ports rule out a direct circuit.
  bool per_pair = false;
  bool foresight = false;  ///< CircuitRequest::expected, due; from a profiling run of one step on electrical rails
  bool events = false;     ///< CircuitRequest::stirred, FabricView::running; asked when a task ends while operations wait
  bool direct = false;     ///< a send waits for its own circuit while that is being set up, even if it could be forwarded
  std::uint32_t hops = 0;  ///< maximum circuits that a send may be forwarded over, in place of the rail's; 0: the rail's

  /// Whether the bytes that each pair exchanges must be computed.
  [[nodiscard]] bool weighs() const { return bytes || rounds || schedule || traffic || per_pair; }
  /// These needs on NICs with `ports` ports: resolves schedule_with_ports.
  [[nodiscard]] PolicyNeeds with_ports(std::uint32_t ports) const {
    PolicyNeeds needs = *this;
    needs.schedule = schedule || (schedule_with_ports && ports > 1);
    return needs;
  }
};

}  // namespace photonrail
