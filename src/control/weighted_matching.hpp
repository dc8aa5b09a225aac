// Maximum weighted matchings of directed pairs: each position sends to one at the most, and receives from one.
#pragma once

#include "photonrail/fabric_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control {

struct WeightedPair {
  ServerPair pair;
  std::int64_t weight = 0;
};

/// Which of `pairs` are in a matching of the greatest sum of weights, ascending. Pairs of weight 0 or less never are.
/// REQUIRES: no pair twice; the sum of the weights is below 2^60.
[[nodiscard]] std::vector<std::size_t> heaviest_matching(std::span<const WeightedPair> pairs);

}  // namespace photonrail::control
