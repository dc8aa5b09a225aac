// A run accounts for these: each rank's time, traffic by dimension, windows between phases, reconfigurations.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/core/duration_histogram.hpp"
#include "photonrail/core/total_time.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail {

/// Where a rank's time goes. The five add up to the makespan, to the picosecond.
struct RankTime {
  Duration compute{};                ///< a compute task runs
  Duration exposed_communication{};  ///< no compute runs, and bytes of an operation of this rank are on their way
  Duration reconfiguration_wait{};   ///< nothing of the above, and an operation lacks only its circuits
  Duration peer_wait{};              ///< the rest: waiting for other ranks, or done
  /// In place of one of the above: the rank's GPU has stopped, or, where the rank does not compute, a circuit of an
  /// operation of the rank has lost its light, and the failure is not yet detected.
  Duration detection{};

  [[nodiscard]] Duration total() const {
    return compute + exposed_communication + reconfiguration_wait + peer_wait + detection;
  }

  friend bool operator==(const RankTime&, const RankTime&) = default;
};

/// Traffic of one dimension.
struct DimensionTraffic {
  Bytes bytes{};                    ///< on the wire, leaving GPUs, all ranks
  std::uint64_t operations = 0;     ///< collectives, and sends
  Duration busy{};                  ///< mean over ranks: an operation of this dimension is running on the rank
  Duration exposed{};               ///< mean over ranks: the part of exposed_communication that it explains
  Duration reconfiguration_wait{};  ///< mean over ranks: the part of reconfiguration_wait that it explains

  friend bool operator==(const DimensionTraffic&, const DimensionTraffic&) = default;
};

/// Counts the windows of this length.
struct WindowCount {
  Duration length{};
  std::uint64_t count = 0;

  friend bool operator==(const WindowCount&, const WindowCount&) = default;
};

/// What carries, or holds up, bytes of an operation that is on the critical path.
enum class Place : std::uint8_t {
  kScaleUp,     ///< the scale-up ports of a GPU
  kPort,        ///< the NIC of a GPU, or the circuits from it
  kLeafUplink,  ///< all uplinks of a leaf of a rail together
  kPodUplink,   ///< all uplinks of a pod of a rail together
  kLatency      ///< no capacity is half busy: latencies of messages one after another, and steps
};
[[nodiscard]] std::string_view name(Place place);  ///< "scale_up", "port", "leaf_uplink", "pod_uplink", "latency"

/// A part of the critical path: all stretches of one kind together.
struct PathPart {
  enum class Kind : std::uint8_t {
    kComputation,    ///< of `what`
    kCommunication,  ///< bytes of an operation of `dimension` are on their way, held up most at `place`
    kCircuits,       ///< an operation of `dimension` lacks only circuits; its rank's last one on a rail was of `before`
    kLane,           ///< an operation waits for the lane of another one that is not on the path
    kUnexplained     ///< none of the above: always 0 but for policies that give lanes away
  };
  Kind kind = Kind::kComputation;
  std::string what{};  ///< computations: the common beginning of their names, up to the first number
  std::optional<Dimension> dimension{};
  std::optional<Dimension> before{};
  std::optional<Place> place{};
  Duration time{};
  std::uint64_t stretches = 0;

  /// "computation: forward", "dp over leaf_uplink", "circuits: pp -> dp"
  [[nodiscard]] std::string label() const;
};

/// What bounds a run: the chain of causes that ends it, each stretch of time the one thing that the next waited for.
struct CriticalPath {
  std::vector<PathPart> parts;  ///< longest first; their times add up to the makespan, to the picosecond
  /// The capacity that is busiest while operations on the path use it, by its bytes.
  struct Busiest {
    Place place = Place::kPort;
    std::string name;          ///< "NIC of GPU 3", "uplinks of leaf 2, rail 0"
    double utilisation = 0.0;  ///< of its rate in that time, by the bytes of all operations then
    Duration time{};           ///< of those operations on the path
  };
  std::optional<Busiest> busiest{};

  [[nodiscard]] Duration total() const;
};

/// Commands of one kind.
struct CommandTotals {
  std::uint64_t count = 0;
  std::uint64_t circuits = 0;  ///< that they set up
  TotalTime total{};           ///< from the decision until the circuits can be used
  TotalTime exposed{};         ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
};

/// Between which dimensions a command changed: that of the operation that last got circuits on the rail before it, and that
/// of the first request that it serves. None: there was no operation before, or no request.
using DimensionChange = std::pair<std::optional<Dimension>, std::optional<Dimension>>;

struct ReconfigurationSummary {
  std::uint64_t count = 0;  ///< commands that changed a circuit
  std::vector<std::uint64_t> per_rail;
  TotalTime dark_port{};            ///< summed over transmit ports: time in switching
  std::uint32_t critical_path = 0;  ///< reconfigurations one after another on the path that ends the run
  TotalTime total{};                ///< summed over commands: from the decision until the circuits can be used
  TotalTime exposed{};         ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
  std::uint64_t circuits = 0;  ///< set up by all commands
  std::map<DimensionChange, CommandTotals> by_change;
  std::optional<BlockingSummary> blocking{};  ///< none: no switch of the rails blocks
  /// 1 - exposed / total; none where nothing took time that could be hidden, as on electrical rails.
  [[nodiscard]] std::optional<double> hidden_share() const;
};

}  // namespace photonrail
