// The ways of a refit by their names in files.
#pragma once

#include "collective/refit/refit.hpp"
#include "fields/field.hpp"

namespace photonrail::config {

inline constexpr fields::Word<collective::RefitWay> kRefitWays[] = {
    {"funnel", collective::RefitWay::kFunnel},
    {"ring", collective::RefitWay::kRing},
    {"ring_per_rail", collective::RefitWay::kRingPerRail},
    {"sharded", collective::RefitWay::kSharded},
    {"sharded_matchings", collective::RefitWay::kShardedMatchings}};

}  // namespace photonrail::config
