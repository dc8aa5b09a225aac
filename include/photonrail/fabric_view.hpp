// The state of one rail as a controller sees it: a value that a test writes as a literal.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/control/needs.hpp"
#include "photonrail/core/circuit.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>

namespace photonrail {

/// The position of a GPU on its rail: the index of its server.
using ServerIndex = std::uint32_t;

/// A directed pair of positions that an operation needs a circuit for.
struct ServerPair {
  ServerIndex from = 0;
  ServerIndex to = 0;  ///< with its sheet, for a policy that tells sheets (ControllerFactory::tells_sheets)

  friend constexpr auto operator<=>(const ServerPair&, const ServerPair&) = default;
};

/// The state of the transmit fibre of a port.
struct PortView {
  PortId peer = PortId::none();  ///< the receive side that it points to, or will point to after switching
  bool lit = false;              ///< the circuit can carry data; false with a peer: switching
  bool in_use = false;           ///< an operation holds the circuit: only a step with `preempt` may darken it
  bool draining = false;         ///< a step waits until the circuit is out of use; no further operation may use it
  Bytes bytes_left{};            ///< remaining bytes of the messages on it; only if ViewPart::kBytes
  bool faulty = false;           ///< the port failed or is stuck: the switch cannot change its two fibres
};

/// A rank that requested circuits, and the time of its request.
struct Requester {
  RankId rank;
  Time since{};
};

/// A round of circuits of a collective.
struct RoundView {
  std::span<const ServerPair> pairs;  ///< on this rail; ascending, no duplicates
  std::span<const Bytes> bytes;       ///< by pair
};

/// A request of an operation for the circuits of one round. Its members wait for them, or announce that they will need
/// them.
struct CircuitRequest {
  RequestId id;
  CommunicatorId communicator;
  Dimension dimension = Dimension::kOther;
  CollectiveOp op = CollectiveOp::kSend;
  std::uint32_t round = 0;                  ///< of the operation's plan
  std::uint32_t iteration = 0;              ///< of the job
  std::span<const ServerPair> pairs{};      ///< on this rail; ascending, no duplicates
  ViewList<Bytes> bytes{};                  ///< by pair: the bytes of the round; only if ViewPart::kBytes
  ViewList<RoundView> next{};               ///< the operation's later rounds; only if ViewPart::kRounds
  std::span<const Requester> requesters{};  ///< the ranks that sent the request, in order of arrival
  std::uint32_t members = 0;                ///< ranks that must send it before it is complete (2 for a send)
  std::uint32_t asked = 0;                  ///< ranks that have sent it
  Time since{};                             ///< arrival of the first
  Time complete{};                          ///< arrival of the last
  /// Every member has reached the operation, which lacks nothing but circuits. With Service::kByPair the pairs (and
  /// bytes) are then those that sends wait for now. They change during the operation, and the request is removed when none
  /// is left.
  bool blocking = false;
  /// Only if ViewPart::kDueTimes. `expected`: the start of the operation in the profiling run; `due`: the latest end
  /// that does not make the step longer than in the profiling run. Both assume that every step of this run proceeds as that
  /// one.
  Time expected{};
  Time due{};
  /// Only if ViewPart::kTaskEvents: a task of a requesting rank ended at this instant, or no event is left and only a
  /// decision of the controller can let the job continue.
  bool requester_progressed = false;

  [[nodiscard]] bool all_asked() const { return asked == members; }
};

/// An operation of the schedule of a rank, as recorded by the profiling run on electrical rails.
struct ScheduledOperation {
  TaskId task;
  CommunicatorId communicator;
  Dimension dimension = Dimension::kOther;
  CollectiveOp op = CollectiveOp::kSend;
  Duration start{};                     ///< since the begin of the step in the profiling run
  std::span<const ServerPair> pairs{};  ///< on this rail, of all its rounds; empty: none, or not known ahead
  std::span<const Bytes> bytes{};       ///< by pair, all rounds
};

/// The profiled order of a rank's rail operations in a step, and the rank's progress in it.
struct RankSchedule {
  RankId rank;
  ServerIndex position = 0;
  std::span<const ScheduledOperation> operations{};
  std::uint32_t next = 0;  ///< operations before this index are complete; operations.size(): all of the step are
  std::uint32_t iteration = 0;
};

/// The bytes that one position sent to another.
struct PairTraffic {
  ServerPair pair;
  Bytes bytes;
};

/// The delays of a reconfiguration: the circuits of a command can be used total() after the decision.
struct ReconfigurationTerms {
  Duration switching{};  ///< the typical value where it is drawn from a distribution
  Duration link_up{};
  Duration command{};
  Duration acknowledgement{};
  bool whole_switch = false;  ///< every circuit of the switch is dark while it switches, not only those that change
  Duration settle{};          ///< between switching and link bring-up
  Duration batching{};        ///< a switch collects commands for this time and then carries them out together
  Duration command_gap{};     ///< minimum time between two commands that a switch carries out
  std::uint32_t jobs = 1;     ///< jobs that send commands to the same switches
  Duration longer{};          ///< by so much at most one draw in a thousand is longer than `switching`

  [[nodiscard]] Duration total() const {
    return ReconfigurationDelays{command, switching, settle, link_up, acknowledgement}.total();
  }
  /// total() plus the maximum wait of a command at its switch when every job sends one command per slot of a timetable.
  [[nodiscard]] Duration total_with_queue() const { return total() + batching + command_gap * (std::int64_t{jobs} - 1); }
  /// The shortest slot of a timetable in which switches carry out each command before the next one arrives.
  [[nodiscard]] Duration shortest_slot() const {
    return std::max(total_with_queue(), command_gap * std::int64_t{jobs}) + Duration{1};
  }
};

class RequestsByPort;
class WaitingPairs;

/// One rail, as a controller sees it. New fields may be added; that breaks no controller. Spans refer to state that is
/// updated as it changes, and are valid during decide() only. Lists of optional inputs cannot be read by policies
/// that do not ask for them (PolicyNeeds).
struct FabricView {
  Time now{};
  RailId rail{};
  std::uint32_t positions = 0;           ///< number of servers
  std::uint32_t ports_per_gpu = 1;       ///< PortId = position * ports_per_gpu + NIC port
  std::span<const PortView> transmit{};  ///< by PortId
  std::span<const PortId> receive{};     ///< by PortId: the transmit side that points here, or none
  /// Complete requests (all members sent theirs), in order of completion. Empty where by_port is there and has them.
  std::span<const CircuitRequest> requests{};
  /// Those that some members have not sent yet. Empty where by_port is there.
  std::span<const CircuitRequest> partial_requests{};
  ViewList<RankSchedule> schedule{};    ///< of the rail's ranks, ascending; only if ViewPart::kSchedule
  ViewList<PairTraffic> traffic{};      ///< of the previous iteration, by pair; only if ViewPart::kTraffic
  ViewList<PairTraffic> traffic_now{};  ///< of the present iteration so far; only if ViewPart::kTraffic
  Duration hop_latency{};               ///< latency of a message over one circuit, without its bytes
  std::uint32_t running = 0;            ///< operations of the whole job with bytes in flight; only if ViewPart::kTaskEvents
  Bandwidth port_rate{};                ///< of one port, each direction
  ReconfigurationTerms reconfiguration{};
  std::uint32_t planes = 1;  ///< a circuit joins ports of one plane
  /// Requests are in one order on all rails from now on: the job had stopped, with operations that held the circuits of one
  /// rail each and waited for those of another. A policy with an order of its own must follow this one, or it may stop
  /// again.
  bool one_order = false;
  /// The positions of this job's GPUs in the order of its ranks: first those of ranks on this rail, then those that relay
  /// the traffic of its ranks on other rails. A policy that iterates in this order instead of by position number gives the
  /// same result under any numbering of servers. A plan may name ports of these positions only: the state of other jobs is
  /// not visible. Empty, as in a view written by hand: all positions, ascending.
  std::span<const ServerIndex> own{};
  /// Lists what blocks, of `requests`, by pair (control/waiting.hpp); only with Service::kByPair. Null, as in a view
  /// written by hand: to be read from `requests`.
  const WaitingPairs* waiting = nullptr;
  /// Complete requests by port, and those that changed since this rail's controller was last asked
  /// (control/waiting.hpp); only if ViewPart::kByPort, where NICs have one port and rails one plane. Null, as in a
  /// view written by hand: everything may have changed.
  const RequestsByPort* by_port = nullptr;

  /// Ports of a position are numbered NIC port by NIC port, and lie on the planes in turn.
  [[nodiscard]] PortId port(ServerIndex p, std::uint32_t nic_port) const { return PortId{p * ports_per_gpu + nic_port}; }
  [[nodiscard]] ServerIndex position(PortId p) const { return p.value / ports_per_gpu; }
  [[nodiscard]] std::uint32_t plane(PortId p) const { return p.value % ports_per_gpu % planes; }
  /// Lit circuits from one position to another.
  [[nodiscard]] std::uint32_t circuits(ServerPair pair) const;
};

}  // namespace photonrail
