// Rounds that follow each other and want circuits which can be lit together, as one round.
#pragma once

#include "photonrail/collective.hpp"

#include <memory>
#include <span>

namespace photonrail::collective {

/// Each round of a plan may use some of the rails of its members only: a plan that asks round by round
/// waits once for every rail. Rounds whose circuits join, on each rail, a server to at most one other each way are merged,
/// so that their circuits are asked for at once; what their sends wait for stays. A round inside the servers, which needs
/// no circuits, stays on its own, and so do the rounds of a plan that starts before all members are there. Returns `plan`
/// itself when nothing can be merged. REQUIRES: a place for each member.
[[nodiscard]] std::unique_ptr<const SendPlan> merge_rounds(std::unique_ptr<const SendPlan> plan,
                                                           std::span<const MemberPlace> places);

}  // namespace photonrail::collective
