// Makes a collective for a topology of links: a greedy search over time, in the manner of TACOS (Won et al., 2024), with
// the ports of a node as a further limit, and with constraints in the manner of TACCL's sketches (Shah et al., 2023).
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::synthesis {

/// One direction. A message of b bytes occupies it for latency + b / rate, and is there at the end of that.
struct SynthesisLink {
  Member from = 0;
  Member to = 0;
  Duration latency{};
  Bandwidth rate{};
};

struct SynthesisTopology {
  Member nodes = 2;
  std::vector<SynthesisLink> links;  ///< at most one from a node to another
  /// Messages that a node sends at a time, and that it receives at a time; 0: as many as it has links.
  std::uint32_t send_ports = 0;
  std::uint32_t receive_ports = 0;

  /// Throws ConfigError: a node that does not exist, a link from a node to itself or twice, a rate that is not positive,
  /// nodes that cannot reach each other.
  void validate() const;
};

enum class SwitchPolicy : std::uint8_t {
  kFewestConnections,  ///< among equally good links, one that is in use already (TACCL's uc-min)
  kMaxConnections      ///< ... one that is not (uc-max)
};

/// Nodes behind one switch: links among them are connections of it.
struct SketchSwitch {
  std::vector<Member> nodes;
  SwitchPolicy policy = SwitchPolicy::kFewestConnections;
};

/// The plan looks the same after every node r of each group of `group` neighbours has become r + offset, around its group.
struct SketchSymmetry {
  Member offset = 1;
  Member group = 2;
};

/// Holds what the search may do; nothing given: everything.
struct SynthesisSketch {
  std::optional<std::vector<MemberPair>> only;  ///< use these links and no others
  std::vector<MemberPair> without;              ///< do not use these
  std::vector<SketchSwitch> switches;
  std::vector<SketchSymmetry> symmetries;
};

struct SynthesisOptions {
  CollectiveOp op = CollectiveOp::kAllGather;  ///< all-gather, reduce-scatter or all-reduce
  Bytes size{1 << 20};                         ///< as CollectiveCall::size
  std::uint32_t chunks = 1;                    ///< pieces of a member's shard
  std::uint64_t seed = 1;
  std::uint32_t tries = 20;  ///< the best of so many
};

struct SynthesizedSend {
  Member from = 0;
  Member to = 0;
  std::uint32_t chunk = 0;  ///< m * chunks + i: piece i of member m's shard
  bool reduce = false;
  Time start{};
  Time end{};
};

struct SynthesizedCollective {
  CollectiveOp op = CollectiveOp::kAllGather;
  Member members = 2;
  std::uint32_t chunk_count = 2;
  Duration time{};
  std::vector<SynthesizedSend> sends;  ///< by start

  /// The same as an algorithm: each link and each port carries its messages in the order found, each as soon as it can. A
  /// run computes its own times. The order in which a port receives is left to the network.
  [[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> algorithm(const SynthesisTopology& topology,
                                                                     std::string name) const;
};

/// The same arguments give the same collective. Throws ConfigError: another operation, no chunk, no try, a sketch that
/// names what is not there, leaves nodes that cannot reach each other, or has a symmetry that the links have not.
[[nodiscard]] SynthesizedCollective synthesize(const SynthesisTopology& topology, const SynthesisOptions& options,
                                               const SynthesisSketch& sketch = {});

}  // namespace photonrail::synthesis
