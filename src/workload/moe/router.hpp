// From a router's specification to whole tokens.
#pragma once

#include "photonrail/workload/moe.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::workload {

/// The logarithm of every expert's relative popularity in the layer and iteration of the call; -infinity for an expert that
/// cannot be chosen. `member` matters with rows of members only.
[[nodiscard]] std::vector<double> log_popularity(const RouterSpec& router, std::uint32_t experts, const MoeCall& call,
                                                 Member member);

/// `tokens` x `top_k` choices in proportion to the popularities, none above `tokens`, rounded by largest remainder, ties to
/// the lower expert. REQUIRES: top_k experts or more are possible.
[[nodiscard]] std::vector<std::uint64_t> apportion(std::span<const double> log_popularity, std::uint64_t tokens,
                                                   std::uint32_t top_k);

}  // namespace photonrail::workload
