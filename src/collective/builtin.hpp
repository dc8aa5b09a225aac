// The algorithms of the built-in table.
#pragma once

#include "photonrail/collective.hpp"

namespace photonrail::collective {

[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_ring();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_pairwise();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_direct();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_ring_bidirectional();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_ring_channels();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_halving_doubling();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_recursive_doubling();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_bruck();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_dissemination();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_binomial();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_double_tree();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_one_factorisation();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_hierarchical();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_hierarchical_reversed();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_bucket();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_torus_rings();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_stragglar();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_birkhoff();
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_greedy_matchings();

/// The cost of a ring of `steps` steps of `shard` bytes each, which `pieces` follow each other: piece i of a step waits for
/// piece i of the step before and for its predecessor on the link. A step is as long as the pieces keep the link busy, or
/// as one piece is on its way, whichever is more; the last one until its last piece is there.
[[nodiscard]] double piped_ring(const LinkCost& link, std::uint32_t steps, double shard, std::uint32_t pieces);

}  // namespace photonrail::collective
