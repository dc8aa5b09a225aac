#include "photonrail/collective.hpp"

#include <algorithm>
#include <array>

namespace photonrail {

namespace {

constexpr std::array<std::string_view, kCollectiveOpCount> kNames = {
    "all_reduce", "reduce",     "all_gather",     "gather",  "scatter",
    "broadcast",  "all_to_all", "reduce_scatter", "barrier", "send"};

}  // namespace

std::string_view name(CollectiveOp op) { return kNames.at(static_cast<std::size_t>(op)); }

std::optional<CollectiveOp> collective_op_from(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<CollectiveOp>(found - kNames.begin());
}

}  // namespace photonrail
