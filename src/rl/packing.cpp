#include "rl/packing.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace photonrail::rl {

namespace {

std::uint64_t ceil_to(std::uint64_t value, std::uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// The bins of best fit: a response goes where the least room is left that it fits into.
std::uint64_t bins(std::span<const std::uint32_t> tokens, std::uint32_t capacity) {
  std::vector<std::uint32_t> longest_first(tokens.begin(), tokens.end());
  std::sort(longest_first.begin(), longest_first.end(), std::greater<>());
  std::multiset<std::uint32_t> room;
  for (const std::uint32_t length : longest_first) {
    const auto best = room.lower_bound(length);
    std::uint32_t left = length < capacity ? capacity - length : 0;
    if (best != room.end()) {
      left = *best - length;
      room.erase(best);
    }
    room.insert(left);
  }
  return room.size();
}

}  // namespace

Packing pack(std::span<const std::uint32_t> tokens, const PackingLimits& limits) {
  PHOTONRAIL_CHECK(!tokens.empty());
  const auto micro_batches = [&](std::uint64_t all) {
    const std::uint64_t of_rank = std::max<std::uint64_t>((all + limits.ranks - 1) / limits.ranks, limits.micro_least);
    return static_cast<std::uint32_t>(ceil_to(of_rank, limits.micro_multiple));
  };
  const auto sequence = [&](double length) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(std::max(1.0, length)));
    return static_cast<std::uint32_t>(ceil_to(whole, limits.token_multiple));
  };
  const std::uint32_t longest = *std::max_element(tokens.begin(), tokens.end());
  if (!limits.packed) return {sequence(longest), 1, micro_batches(tokens.size())};
  double sum = 0.0;
  double squares = 0.0;
  for (const double length : tokens) {
    sum += length;
    squares += length * length;
  }
  Packing packing;
  packing.micro_batches = micro_batches(bins(tokens, limits.tokens > 0 ? limits.tokens : longest));
  const double each = sum / (static_cast<double>(limits.ranks) * packing.micro_batches);
  packing.sequences = static_cast<std::uint32_t>(std::max(1.0, std::round(each / (squares / sum))));
  packing.sequence = sequence(each / packing.sequences);
  return packing;
}

}  // namespace photonrail::rl
