// What waits on a rail, pair by pair, for policies that look at bytes and not at operations.
#pragma once

#include "control/places.hpp"
#include "photonrail/fabric_view.hpp"

#include <vector>

namespace photonrail::control {

struct WaitingPair {
  ServerPair pair;
  Bytes bytes{};  ///< of all demands for it
  Time since{};   ///< when the oldest of them was complete
};

/// What holds up its members, between positions of the job, ascending by their places. An operation that asked and still
/// waits for something else, such as its lane, would keep ports from those that it waits for. REQUIRES: the view shows
/// bytes (ViewPart::kBytes).
[[nodiscard]] std::vector<WaitingPair> waiting_pairs(const FabricView& view, const Places& places);

}  // namespace photonrail::control
