// This is what the operations of a trace's groups and the strides of their ranks say of their dimension, beyond their
// places.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace photonrail::config {

/// The dimension that a group's name begins with, as "tp.0" or "DP_3" do.
[[nodiscard]] std::optional<Dimension> named_dimension(const std::string& group);

/// Corrects the dimensions that places gave to the communicators `open`, numbers of the graph's, unless a name says one:
/// groups whose bytes are mostly all-to-alls are ep; groups of equal strides over servers and rails that reduce or gather,
/// as FSDP over all ranks does, are dp; and so are groups inside a server that step over neighbours which are a group
/// themselves. Where those that step meet far oftener than the neighbours, it is the other way round: ranks are numbered
/// with dp innermost.
void refine_dimensions(std::span<const std::size_t> open, TaskGraph& graph);

}  // namespace photonrail::config
