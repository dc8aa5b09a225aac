// All-to-alls that follow a demand matrix, as lists of sends: a pair that has nothing to exchange has no send.
#pragma once

#include "collective/pairwise_order.hpp"
#include "photonrail/collective.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::collective {

/// Everything at once, in one round. REQUIRES: call.demand.
[[nodiscard]] std::unique_ptr<const SendPlan> expand_uneven_direct(const CollectiveCall& call);

/// Step after step: a member's send waits until all its sends and receives of earlier steps are done. A step without sends
/// is no round. Without a demand every pair exchanges an even share, be it of no bytes.
[[nodiscard]] std::unique_ptr<const SendPlan> expand_uneven_pairwise(const CollectiveCall& call,
                                                                     const PairwiseOrder& order);

/// Returns what matchings cost one after another, each as long as the largest message in it; one without messages is no
/// round.
[[nodiscard]] CollectiveCost cost_of_rounds(const std::vector<Bytes>& largest, const LinkCost& link);

/// The same for rounds in which member m sends to `receiver(m, round)`, or sits out where that is m. REQUIRES: call.demand.
template <typename Receiver>
[[nodiscard]] CollectiveCost cost_of_rounds(const CollectiveCall& call, std::uint32_t rounds, const LinkCost& link,
                                            Receiver receiver) {
  std::vector<Bytes> largest(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (Member m = 0; m < call.members; ++m) {
      const Member to = receiver(m, round);
      if (to != m) largest[round] = std::max(largest[round], call.demand->at(m, to));
    }
  }
  return cost_of_rounds(largest, link);
}

}  // namespace photonrail::collective
