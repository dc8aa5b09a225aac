// What a run accounts for: each rank's time, traffic by dimension, windows between phases, reconfigurations.
#pragma once

#include "photonrail/core/total_time.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail {

/// Where a rank's time goes. The four add up to the makespan, to the picosecond.
struct RankTime {
  Duration compute{};                ///< a compute task runs
  Duration exposed_communication{};  ///< no compute runs, and bytes of an operation of this rank are on their way
  Duration reconfiguration_wait{};   ///< nothing of the above, and an operation lacks only its circuits
  Duration peer_wait{};              ///< the rest: waiting for other ranks, or done

  [[nodiscard]] Duration total() const { return compute + exposed_communication + reconfiguration_wait + peer_wait; }

  friend bool operator==(const RankTime&, const RankTime&) = default;
};

/// Traffic of one dimension.
struct DimensionTraffic {
  Bytes bytes{};                 ///< on the wire, leaving GPUs, all ranks
  std::uint64_t operations = 0;  ///< collectives, and sends
  Duration busy{};               ///< mean over ranks: an operation of this dimension is running on the rank
  Duration exposed{};            ///< mean over ranks: the part of exposed_communication that it explains

  friend bool operator==(const DimensionTraffic&, const DimensionTraffic&) = default;
};

/// How many windows had this length.
struct WindowCount {
  Duration length{};
  std::uint64_t count = 0;

  friend bool operator==(const WindowCount&, const WindowCount&) = default;
};

struct ReconfigurationSummary {
  std::uint64_t count = 0;  ///< commands that changed a circuit
  std::vector<std::uint64_t> per_rail;
  TotalTime dark_port{};            ///< summed over transmit ports: time in switching
  std::uint32_t critical_path = 0;  ///< reconfigurations one after another on the path that ends the run
  TotalTime total{};                ///< summed over commands: from the decision until the circuits can be used
  TotalTime exposed{};  ///< the part of `total` in which a rank had nothing else to do than wait for these circuits
  /// 1 - exposed / total; none where nothing took time that could be hidden, as on electrical rails.
  [[nodiscard]] std::optional<double> hidden_share() const;
};

}  // namespace photonrail
