// The share of tool calls that a cache answers, in closed form, which the tree of prefixes is tested against.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace photonrail::rl {

/// Sums over the histories of `left` more calls: `weight` of them have the probability exp(log_p) so far, in which the
/// calls before `choice` are placed.
inline double found_calls(std::uint32_t rollouts, std::uint32_t left, std::size_t choice, std::span<const double> choices,
                          double log_weight, double log_p) {
  if (choice + 1 == choices.size()) {
    const double log_all = log_p + left * std::log(choices[choice]);
    const double p = std::exp(log_all);
    // sum over r < R of 1 - (1 - p)^r.
    const double known = p >= 1.0 ? rollouts - 1.0 : rollouts - (1.0 - std::pow(1.0 - p, rollouts)) / p;
    return std::exp(log_weight + log_all) * known;
  }
  double sum = 0.0;
  for (std::uint32_t times = 0; times <= left; ++times) {
    const double ways = std::lgamma(left + 1.0) - std::lgamma(times + 1.0) - std::lgamma(left - times + 1.0);
    sum += found_calls(rollouts, left - times, choice + 1, choices, log_weight + ways,
                       log_p + times * std::log(choices[choice]));
  }
  return sum;
}

/// Of `rollouts` rollouts one after another, each of `depth` calls drawn alike and independently: a call of probability
/// `choices[i]` each. The r-th rollout finds a history of probability p with 1 - (1 - p)^r. Histories with equal numbers of
/// each call are equally likely and counted together. REQUIRES: choices add up to 1, all above 0.
inline double expected_hit_share(std::uint32_t rollouts, std::uint32_t depth, std::span<const double> choices) {
  double sum = 0.0;
  for (std::uint32_t d = 1; d <= depth; ++d) sum += found_calls(rollouts, d, 0, choices, 0.0, 0.0);
  return sum / (static_cast<double>(rollouts) * depth);
}

}  // namespace photonrail::rl
