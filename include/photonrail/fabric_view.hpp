// What a controller is shown of one rail: a value that a test writes as a literal.
#pragma once

#include "photonrail/circuit.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>

namespace photonrail {

/// A GPU's place on its rail: the index of its server.
using ServerIndex = std::uint32_t;

/// A directed pair of positions that an operation wants joined by a circuit.
struct ServerPair {
  ServerIndex from = 0;
  ServerIndex to = 0;

  friend constexpr auto operator<=>(const ServerPair&, const ServerPair&) = default;
};

/// What the transmit fibre of a port does.
struct PortView {
  PortId peer = PortId::none();  ///< the receive side that it points to, or points to soon
  bool lit = false;              ///< carries light; false with a peer: switching
  bool in_use = false;           ///< an operation holds it: it must not be torn down, unless a step preempts
  bool draining = false;         ///< a step waits until it is out of use; nobody takes it any more
  Bytes bytes_left{};            ///< of the messages that are on it; only if PolicyNeeds::bytes
  bool faulty = false;           ///< the port failed or is stuck: the switch leaves both its fibres as they are
};

/// A rank that asked for circuits, and when.
struct Requester {
  RankId rank;
  Time since{};
};

/// A round of circuits of a collective.
struct RoundView {
  std::span<const ServerPair> pairs;   ///< on this rail; ascending, no duplicates
  std::span<const Bytes> bytes;  ///< by pair
};

/// Operations that wait for circuits, or announce that they will want them.
struct CircuitRequest {
  RequestId id;
  CommunicatorId communicator;
  Dimension dimension = Dimension::kOther;
  CollectiveOp op = CollectiveOp::kSend;
  std::uint32_t round = 0;            ///< of the operation's plan
  std::uint32_t iteration = 0;        ///< of the job
  std::span<const ServerPair> pairs{};      ///< on this rail; ascending, no duplicates
  std::span<const Bytes> bytes{};     ///< by pair: what the round sends over it; only if PolicyNeeds::bytes, else empty
  std::span<const RoundView> next{};  ///< the operation's later rounds; only if PolicyNeeds::rounds, else empty
  std::span<const Requester> askers{};    ///< who asked, in the order in which they did
  std::uint32_t members = 0;          ///< how many ranks must ask before it counts (2 for a send)
  std::uint32_t asked = 0;            ///< how many did
  Time since{};                       ///< when the first asked
  Time complete{};                    ///< when the last asked
  /// Every member has reached the operation and waits: the circuits are all that it lacks. With PolicyNeeds::per_pair the
  /// pairs (and bytes) are then those for which sends wait now; they come and go, and the demand goes when none is left.
  bool blocking = false;
  /// Only if PolicyNeeds::foresight: when it began in the profiling run, and by when it must be over so that the step takes
  /// no longer than there; both as if every step of this run had begun and gone on as that one.
  Time expected{};
  Time due{};
  /// Only if PolicyNeeds::events: a task of a rank that asked ended at this instant, or the job stands still: nothing will
  /// ever happen again unless the controller does something.
  bool stirred = false;

  [[nodiscard]] bool all_asked() const { return asked == members; }
};

/// An operation that a rank will come to, as the profiling run on electrical rails saw it.
struct ScheduledOperation {
  TaskId task;
  CommunicatorId communicator;
  Dimension dimension = Dimension::kOther;
  CollectiveOp op = CollectiveOp::kSend;
  Time start{};                    ///< in the profiling run, whose step began at 0
  std::span<const ServerPair> pairs{};   ///< on this rail, of all its rounds; empty: none, or not known ahead
  std::span<const Bytes> bytes{};  ///< by pair, all rounds
};

/// The known order of a rank's rail operations in a step, and where the rank stands in it.
struct RankSchedule {
  RankId rank;
  ServerIndex position = 0;
  std::span<const ScheduledOperation> operations{};
  std::uint32_t next = 0;  ///< operations before it are complete; operations.size(): the step has no more of them
  std::uint32_t iteration = 0;
};

/// What a pair of positions exchanged.
struct PairTraffic {
  ServerPair pair;
  Bytes bytes;
};

/// What a change of circuits costs: the circuits of a command can be used total() after the decision.
struct ReconfigurationTerms {
  Duration switching{};  ///< typical, where it is drawn from a distribution
  Duration link_up{};
  Duration command{};
  Duration acknowledgement{};
  bool whole_switch = false;  ///< every circuit of the switch is dark while it switches, not only those that change
  Duration settle{};          ///< between switching and link bring-up
  Duration batching{};        ///< a switch collects commands for so long, and then carries them out together
  Duration command_gap{};     ///< from one command that a switch carries out to the next
  std::uint32_t jobs = 1;     ///< that send commands to the same switches

  [[nodiscard]] Duration total() const { return command + switching + settle + link_up + acknowledgement; }
  /// total(), and the longest that a command waits at its switch when every job sends one a slot of a timetable.
  [[nodiscard]] Duration total_with_queue() const { return total() + batching + command_gap * (std::int64_t{jobs} - 1); }
  /// Switches could not carry out the commands of shorter slots, each before the next.
  [[nodiscard]] Duration shortest_slot() const { return std::max(total_with_queue(), command_gap * std::int64_t{jobs}) + Duration{1}; }
};

/// One rail, as a controller sees it. It grows by fields; a field added later breaks no controller. Spans are over state
/// that is kept up to date as it changes, and are valid during decide() only; those that only some policies want are
/// empty for the others (PolicyNeeds).
struct FabricView {
  Time now{};
  RailId rail{};
  std::uint32_t positions = 0;                 ///< servers
  std::uint32_t ports_per_gpu = 1;             ///< PortId = position * ports_per_gpu + NIC port
  std::span<const PortView> transmit{};        ///< by PortId
  std::span<const PortId> receive{};           ///< by PortId: the transmit side that points here, or none
  std::span<const CircuitRequest> demands{};       ///< every member asked; in the order in which they became so
  std::span<const CircuitRequest> gathering{};     ///< some members have yet to ask
  std::span<const RankSchedule> schedule{};    ///< of the rail's ranks, ascending; only if PolicyNeeds::schedule
  std::span<const PairTraffic> traffic{};      ///< of the last past iteration, by pair; only if PolicyNeeds::traffic
  std::span<const PairTraffic> traffic_now{};  ///< of the present one until now; only if PolicyNeeds::traffic
  Duration hop_latency{};                      ///< of a message over one circuit, on top of its bytes
  std::uint32_t running = 0;  ///< operations of the whole job that have bytes on their way; only if PolicyNeeds::events
  Bandwidth port_rate{};                       ///< of one port, each direction
  ReconfigurationTerms reconfiguration{};
  std::uint32_t planes = 1;  ///< a circuit joins ports of one plane
  /// The positions whose GPUs are this job's, in the order of its ranks: those of ranks on this rail, then those that pass
  /// on what its ranks on other rails send. A policy that goes by this order and not by the positions' numbers gives the
  /// same result however servers are numbered. A plan names ports of these only: what other jobs do on the others is not
  /// shown. Empty, as in a view written by hand: all, ascending.
  std::span<const ServerIndex> own{};

  [[nodiscard]] PortId port(ServerIndex p, std::uint32_t nic_port) const { return PortId{p * ports_per_gpu + nic_port}; }
  [[nodiscard]] ServerIndex position(PortId p) const { return p.value / ports_per_gpu; }
  [[nodiscard]] std::uint32_t plane(PortId p) const { return p.value % ports_per_gpu % planes; }
  /// Lit circuits from one position to another.
  [[nodiscard]] std::uint32_t circuits(ServerPair pair) const;
};

}  // namespace photonrail
