// The order of the profiling run as controllers see it: by rail and rank, with the circuits of each operation.
#pragma once

#include "control_plane/rail_circuits.hpp"
#include "execution/operation_table.hpp"
#include "execution/schedule.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/fabric_view.hpp"
#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

class ProfiledSchedule {
 public:
  /// The answer for an operation whose plan depends on who is late.
  enum class Unknown : std::uint8_t {
    kNoPairs,  ///< says nothing of its pairs
    kAllPairs  ///< any two of its members may be joined by it, and exchange equal shares
  };

  /// The rail operations of a profiling run's `schedule`. REQUIRES: plans say what pairs exchange.
  ProfiledSchedule(const TaskGraph& graph, execution::OperationTable& operations, const fabric::Fabric& fabric,
                   std::span<const GpuId> gpu_of_rank, const execution::Schedule& schedule,
                   Unknown unknown = Unknown::kNoPairs);

  [[nodiscard]] std::span<const RankSchedule> rail(RailId id) const { return rails_[id.index()]; }
  /// The rank's operations before `next` are complete.
  void set_progress(RankId rank, std::uint32_t iteration, std::size_t next);

 private:
  // Communicator, operation, size, root or demand: what has these in common wants the same circuits.
  using Call = std::tuple<CommunicatorId, TaskKind, CollectiveOp, std::int64_t, std::uint32_t>;

  const std::map<RailId, RailCircuits>& circuits(const TaskGraph& graph, execution::OperationTable& operations,
                                                 const fabric::Fabric& fabric, RankId rank, const Task& task);

  Unknown unknown_;
  std::map<Call, std::map<RailId, RailCircuits>> circuits_;
  std::vector<std::vector<ScheduledOperation>> operations_;    // by rank
  std::vector<std::vector<RankSchedule>> rails_;               // by rail; ascending by rank
  std::vector<std::pair<std::size_t, std::size_t>> place_of_;  // by rank: rail, and place there
};

}  // namespace photonrail::control_plane
