// Groups whose ranks may run as one while nothing tells them apart: those of a collective inside a server, all with the
// same program on the same kind of GPU, as under tensor parallelism.
//
// The members of such a group go from one of its collectives to the next through the same states at the same instants,
// until something of one member alone happens: a message of a pipeline, a circuit, a late start. While they are together,
// RankProgress, ComputeStreams and TimeAccounting each keep the state of one for all of them. Each of the three parts them
// when it is told of one member alone, and joins them again when it is told of all and finds them equal. So every event and
// every result is that of ranks run one by one.
#pragma once

#include "photonrail/ids.hpp"

#include <cstdint>
#include <vector>

namespace photonrail {
class TaskGraph;
}

namespace photonrail::execution {

class OperationTable;
class RankGpus;

/// Ranks in a row.
struct LockstepGroup {
  CommunicatorId communicator;
  RankId first;
  std::uint32_t size = 0;
  std::uint32_t index = 0;  ///< among the groups

  [[nodiscard]] RankId rank(std::uint32_t member) const { return RankId{std::size_t{first.value} + member}; }
};

class LockstepGroups {
 public:
  /// None.
  LockstepGroups() = default;
  /// All that the graph has; a rank is in one at most.
  LockstepGroups(const TaskGraph& graph, const OperationTable& operations, const RankGpus& gpus);

  /// Null: no group is of this communicator.
  [[nodiscard]] const LockstepGroup* of(CommunicatorId communicator) const {
    return communicator.index() < of_communicator_.size() ? at(of_communicator_[communicator.index()]) : nullptr;
  }
  /// REQUIRES: the rank is in a group.
  [[nodiscard]] const LockstepGroup& of(RankId rank) const { return groups_[of_rank_[rank.index()]]; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] const LockstepGroup* at(std::uint32_t index) const { return index == kNone ? nullptr : &groups_[index]; }

  std::vector<LockstepGroup> groups_;
  std::vector<std::uint32_t> of_communicator_;  // into groups_; empty without groups
  std::vector<std::uint32_t> of_rank_;
};

}  // namespace photonrail::execution
