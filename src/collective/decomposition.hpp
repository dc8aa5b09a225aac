// A demand as a sequence of matchings: what an all-to-all sends over circuits that are re-pointed between them.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"
#include "photonrail/units.hpp"

#include <vector>

namespace photonrail::collective {

struct PairBytes {
  Member from = 0;
  Member to = 0;
  Bytes bytes{};
};

/// Pairs that are joined at the same time; no member sends twice or receives twice. Ascending by sender.
using DemandRound = std::vector<PairBytes>;

/// Birkhoff and von Neumann: a demand is a sum of matchings that together last no longer than its busiest port
/// (TrafficMatrix::busiest_port), the least possible; at most n^2 of them. Pairs may be served in parts.
[[nodiscard]] std::vector<DemandRound> birkhoff_rounds(const TrafficMatrix& demand);

/// Fewer rounds that may last longer: each is the matching, of one for each power of two, that sends most for its time,
/// the time to re-point (`reconfiguration`, in bytes of a port) included.
[[nodiscard]] std::vector<DemandRound> greedy_rounds(const TrafficMatrix& demand, Bytes reconfiguration);

}  // namespace photonrail::collective
