// All-to-alls that follow a demand matrix, as lists of sends: a pair that has nothing to exchange has no send.
#pragma once

#include "photonrail/collective.hpp"

namespace photonrail {

/// Everything at once, in one round. REQUIRES: call.demand.
[[nodiscard]] std::unique_ptr<const SendPlan> expand_uneven_direct(const CollectiveCall& call);

/// Shift after shift: a member's send waits until all its sends and receives of earlier shifts are done. A shift in which
/// nobody sends is no round. REQUIRES: call.demand.
[[nodiscard]] std::unique_ptr<const SendPlan> expand_uneven_pairwise(const CollectiveCall& call);

}  // namespace photonrail
