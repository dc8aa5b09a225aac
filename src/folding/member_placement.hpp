// On which GPUs the members of each communicator are, in the whole job and in a folded one.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::folding {

/// In a folded run (folding.hpp) a communicator has fewer members than GPUs, and stands for several communicators.
struct MemberPlacement {
  std::vector<std::size_t> offsets{0};      ///< by communicator, and one more: into `gpus`
  std::vector<GpuId> gpus;                  ///< by member of the whole group
  std::vector<std::uint64_t> copies;        ///< by communicator: for how many it stands; empty: each for itself
  std::vector<std::vector<Member>> places;  ///< folded: by rank and slot, the rank's place among the members

  /// Makes the placement of a graph that is run as it is.
  [[nodiscard]] static MemberPlacement of(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank);

  [[nodiscard]] std::span<const GpuId> group(CommunicatorId communicator) const {
    return {gpus.data() + offsets[communicator.index()], gpus.data() + offsets[communicator.index() + 1]};
  }
};

}  // namespace photonrail::folding
