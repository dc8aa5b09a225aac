// The plans of a refit, by the way that the weights take.
#pragma once

#include "collective/refit/places.hpp"
#include "collective/refit/refit.hpp"

namespace photonrail::collective {

[[nodiscard]] RefitPlan plan_funnel(std::vector<WeightShard> shards, const RefitPlaces& places, Bytes piece);
/// `stops`: the members of each stop of the ring, that of rail r at index r.
[[nodiscard]] RefitPlan plan_refit_ring(std::vector<WeightShard> shards, const std::vector<std::vector<Member>>& stops,
                                        std::uint32_t rails, Bytes piece);
[[nodiscard]] RefitPlan plan_sharded(std::vector<WeightShard> shards, const RefitPlaces& places, bool matchings);

[[nodiscard]] inline bool holds(const WeightShard& shard, Member m) {
  return std::binary_search(shard.holders.begin(), shard.holders.end(), m);
}

/// The parts of `bytes` of `piece` bytes each or less.
[[nodiscard]] inline std::uint64_t pieces_of(Bytes bytes, Bytes piece) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, (bytes.count + piece.count - 1) / piece.count));
}

}  // namespace photonrail::collective
