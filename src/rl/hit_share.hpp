// The share of tool calls that a cache answers, in closed form.
#pragma once

#include <cstdint>
#include <span>

namespace photonrail::rl {

/// Of `rollouts` rollouts one after another, each of `depth` calls drawn alike and independently: a call of probability
/// `choices[i]` each. The r-th rollout finds a history of probability p with 1 - (1 - p)^r. Histories with equal numbers of
/// each call are equally likely and counted together. REQUIRES: choices add up to 1, all above 0.
[[nodiscard]] double expected_hit_share(std::uint32_t rollouts, std::uint32_t depth, std::span<const double> choices);

}  // namespace photonrail::rl
