// The algorithms of the built-in table.
#pragma once

#include "photonrail/collective.hpp"

namespace photonrail {

[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_ring();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_pairwise();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_direct();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_stragglar();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_birkhoff();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_greedy_matchings();

}  // namespace photonrail
