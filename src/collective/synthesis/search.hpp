// One greedy all-gather over time, and what a sketch leaves of a topology.
#pragma once

#include "collective/synthesis/synthesis.hpp"
#include "photonrail/core/random.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::synthesis {

/// A topology with what its sketch says worked in.
struct PreparedTopology {
  SynthesisTopology topology;  ///< the links that may be used
  std::vector<SketchSwitch> switches;
  std::vector<std::vector<Member>> images;  ///< node renamings that leave the plan as it is, the identity first
};

/// Throws ConfigError as synthesize() does.
[[nodiscard]] PreparedTopology prepare(const SynthesisTopology& topology, const SynthesisSketch& sketch);

/// Every link turned round, the ports of a node exchanged: an all-gather there, played backwards, is a reduce-scatter here.
[[nodiscard]] PreparedTopology reversed(const PreparedTopology& ground);

/// An all-gather of nodes * k chunks, chunk c of `bytes[c]` at node c / k in the beginning; sends by start.
///
/// Whenever a link, a port or data becomes free, nodes take turns in random order: each takes a chunk that it lacks over
/// its best idle link from a node that has it; of several chunks one that the fewest nodes have.
/// It passes a link by (beyond TACOS) when others that are busy will bring it all the rest in less time.
[[nodiscard]] std::vector<SynthesizedSend> all_gather(const PreparedTopology& ground, const std::vector<Bytes>& bytes,
                                                      RandomStream& random);

}  // namespace photonrail::synthesis
