// A run accounts for these: each rank's time, traffic by dimension, windows between phases, reconfigurations.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/core/durations.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

/// Where a rank's time goes. The six add up to the makespan, to the picosecond.
struct RankTime {
  Duration compute{};                ///< a compute task runs
  Duration exposed_communication{};  ///< no compute runs, and bytes of an operation of this rank are on their way
  Duration reconfiguration_wait{};   ///< nothing of the above, and an operation lacks only its circuits
  Duration peer_wait{};              ///< the rest: waiting for other ranks, or done
  /// In place of one of the above: the rank's GPU has stopped, or, where the rank does not compute, a circuit of an
  /// operation of the rank has lost its light, and the failure is not yet detected.
  Duration detection{};
  /// In place of peer_wait, under a workload that an agent decides: no launch is on the rank.
  Duration idle{};

  [[nodiscard]] Duration total() const {
    return compute + exposed_communication + reconfiguration_wait + peer_wait + detection + idle;
  }

  friend bool operator==(const RankTime&, const RankTime&) = default;
};

/// The launches of one kind (WorkloadAgent::kinds()).
struct LaunchTotals {
  std::string kind;
  std::uint64_t count = 0;
  LongTime time{};  ///< from the launch until all of its ranks are done, summed up
  Duration longest{};
  Bytes bytes{};  ///< on the wire, leaving GPUs

  friend bool operator==(const LaunchTotals&, const LaunchTotals&) = default;
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

/// Commands of one kind.
struct CommandTotals {
  std::uint64_t count = 0;
  std::uint64_t circuits = 0;  ///< that they set up
  LongTime total{};            ///< from the decision until the circuits can be used
  LongTime exposed{};          ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
};

/// Between which dimensions a command changed: that of the operation that last got circuits on the rail before it, and that
/// of the first request that it serves. None: there was no operation before, or no request.
using DimensionChange = std::pair<std::optional<Dimension>, std::optional<Dimension>>;

struct ReconfigurationSummary {
  std::uint64_t count = 0;  ///< commands that changed a circuit
  std::vector<std::uint64_t> per_rail;
  LongTime dark_port{};             ///< summed over transmit ports: time in switching
  std::uint32_t critical_path = 0;  ///< reconfigurations one after another on the path that ends the run
  LongTime total{};                 ///< summed over commands: from the decision until the circuits can be used
  LongTime exposed{};          ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
  std::uint64_t circuits = 0;  ///< set up by all commands
  std::map<DimensionChange, CommandTotals> by_change;
  std::optional<BlockingSummary> blocking{};  ///< none: no switch of the rails blocks
  /// 1 - exposed / total; none where nothing took time that could be hidden, as on electrical rails.
  [[nodiscard]] std::optional<double> hidden_share() const;
};

}  // namespace photonrail
