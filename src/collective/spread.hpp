// Where the members of a group are.
#pragma once

#include "photonrail/collective.hpp"

#include <algorithm>
#include <cstdint>

namespace photonrail::collective {

/// On one rail, in one server, or on several of both.
enum class Spread : std::uint8_t { kRail, kServer, kBoth };

[[nodiscard]] inline Spread spread_of(const CollectiveCall& call) {
  if (call.places.empty()) return Spread::kRail;
  const auto all = [&](auto MemberPlace::*which) {
    return std::all_of(call.places.begin(), call.places.end(),
                       [&](const MemberPlace& place) { return place.*which == call.places.front().*which; });
  };
  if (all(&MemberPlace::server)) return Spread::kServer;
  return all(&MemberPlace::rail) ? Spread::kRail : Spread::kBoth;
}

}  // namespace photonrail::collective
