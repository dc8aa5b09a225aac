#include "folding/member_placement.hpp"

namespace photonrail::folding {

MemberPlacement MemberPlacement::of(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank) {
  MemberPlacement placement;
  for (const Communicator& communicator : graph.communicators()) {
    for (const RankId rank : communicator.members) placement.gpus.push_back(gpu_of_rank[rank.index()]);
    placement.offsets.push_back(placement.gpus.size());
  }
  return placement;
}

}  // namespace photonrail::folding
