// The traces of all ranks in the memory of what differs: ranks whose files have the same nodes but for the names of groups
// and the numbers of ranks share one Trace.
#pragma once

#include "formats/chakra/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::chakra {

struct RankTrace {
  /// Its nodes have places in `groups` (TraceNode::group.first) and in `ranks` (of sources, destinations and roots) in
  /// place of what the file has, in the order in which the file first names them.
  std::shared_ptr<const Trace> nodes;
  std::vector<std::string> groups;   ///< each pg_name once
  std::vector<std::uint64_t> ranks;  ///< sources, destinations, roots: each once
  std::vector<GroupText> texts;      ///< Trace::groups

  /// The node's pg_name; empty when absent.
  [[nodiscard]] std::string_view group(const TraceNode& n) const {
    return n.group.count == 0 ? std::string_view{} : std::string_view(groups[n.group.first]);
  }
  /// REQUIRES: `which` is kCommSource, kCommDestination or kRootRank.
  [[nodiscard]] std::optional<std::uint64_t> rank(const TraceNode& n, Number which) const {
    const auto place = n.number(which);
    return place ? std::optional(ranks[*place]) : std::nullopt;
  }
};

/// Reads all, a few at a time. The result and the error (that of the lowest rank) do not depend on the timing.
[[nodiscard]] std::vector<RankTrace> read_rank_traces(const std::vector<std::filesystem::path>& files);

}  // namespace photonrail::formats::chakra
