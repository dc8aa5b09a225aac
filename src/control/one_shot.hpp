// One topology for a whole job: what the known schedule says that pairs will exchange, and circuits that are set once.
#pragma once

#include "control/places.hpp"
#include "control/weighted_matching.hpp"
#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control {

/// Holds what a job sends over a rail in a step.
struct JobTraffic {
  struct Entry {
    ServerPair pair;
    Dimension dimension = Dimension::kOther;
    std::int64_t bytes = 0;
  };
  std::vector<Entry> entries;  ///< ascending by pair and dimension

  [[nodiscard]] std::vector<ServerPair> pairs() const;  ///< each once, ascending
};

/// From FabricView::schedule. Its positions, and those of a topology that is made from it, are the job's places.
[[nodiscard]] JobTraffic job_traffic(const FabricView& view, const Places& places);

/// The same circuits between the ports of the view.
[[nodiscard]] CircuitPlan at_positions(CircuitPlan plan, const FabricView& view, const Places& places);

/// Chooses circuits one after the other, over ports that no earlier circuit uses.
class OneShot {
 public:
  OneShot(std::uint32_t positions, std::uint32_t ports_per_gpu, std::uint32_t planes = 1)
      : ports_per_gpu_(ports_per_gpu),
        planes_(planes),
        sends_(std::size_t{positions} * planes, 0),
        receives_(std::size_t{positions} * planes, 0),
        next_(positions) {}

  /// False: there is no plane on which both ends have a port left.
  bool join(ServerPair pair);
  /// A ring over the positions that occur, along the heaviest of `pairs` (greedily, as for a travelling salesman).
  void ring(std::span<const WeightedPair> pairs);
  /// Returns true when circuits lead from the sender to the receiver of each pair.
  [[nodiscard]] bool reaches(std::span<const ServerPair> pairs) const;
  [[nodiscard]] const CircuitPlan& plan() const { return plan_; }

 private:
  std::uint32_t ports_per_gpu_;
  std::uint32_t planes_;
  std::vector<std::uint32_t> sends_;  // by position and plane: ports taken
  std::vector<std::uint32_t> receives_;
  std::vector<std::vector<ServerIndex>> next_;
  CircuitPlan plan_;
};

}  // namespace photonrail::control
