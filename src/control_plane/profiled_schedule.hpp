// The order of the profiling run as controllers see it: by rail and rank, with the circuits of each operation.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/fabric_view.hpp"
#include "photonrail/task_graph.hpp"
#include "execution/operation.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail {

/// A rail operation of a rank, and when it started in the profiling run.
struct ScheduledTask {
  TaskId task;
  Time start{};
};

/// By rank: its rail operations in the order in which they start on electrical rails; buffered sends in the order in which
/// their sender comes to them, because it goes on at once.
using Schedule = std::vector<std::vector<ScheduledTask>>;

class ProfiledSchedule {
 public:
  /// Nothing is kept but `fabric`'s seats. REQUIRES: no operation is under way; plans say what pairs exchange.
  ProfiledSchedule(const TaskGraph& graph, OperationTable& operations, const Fabric& fabric, std::span<const GpuId> gpu_of_rank,
                const Schedule& schedule);

  [[nodiscard]] std::span<const RankSchedule> rail(RailId id) const { return rails_[id.index()]; }
  void stands(RankId rank, std::uint32_t iteration, std::size_t next);

 private:
  struct Circuits {
    std::vector<ServerPair> pairs;
    std::vector<Bytes> bytes;
  };
  // Communicator, operation, size, root or demand: what has these in common wants the same circuits.
  using Call = std::tuple<CommunicatorId, TaskKind, CollectiveOp, std::int64_t, std::uint32_t>;

  const std::map<RailId, Circuits>& circuits(const TaskGraph& graph, OperationTable& operations, const Fabric& fabric,
                                             RankId rank, const Task& task);

  std::map<Call, std::map<RailId, Circuits>> circuits_;
  std::vector<std::vector<ScheduledOperation>> operations_;    // by rank
  std::vector<std::vector<RankSchedule>> rails_;               // by rail; ascending by rank
  std::vector<std::pair<std::size_t, std::size_t>> place_of_;  // by rank: rail, and place there
};

}  // namespace photonrail
