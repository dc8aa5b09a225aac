// Which algorithm a collective uses: the one that a job names, or "auto", the one that is predicted to be the fastest.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/ids.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// The name that scenarios use for "whichever is predicted to be the fastest". No algorithm has it.
inline constexpr std::string_view kAutoAlgorithm = "auto";

/// Describes how the late member is chosen for algorithms that work around one (CollectiveAlgorithm::expects_straggler).
enum class StragglerChoice : std::uint8_t {
  kEager,      ///< the member that is missing when all others have arrived
  kPredicted,  ///< the member that arrived last at the communicator's previous operation; the first time as kEager
  kKnown       ///< CollectiveSpec::straggler_rank; in groups without it as kEager
};

struct CollectiveSpec {
  /// The algorithm for each op, by CollectiveOp.
  std::array<std::string, kCollectiveOpCount> algorithm{"ring", "ring",     "ring", "direct", "direct",
                                                        "ring", "pairwise", "ring", "ring",   "direct"};
  std::uint32_t chunks = 1;  ///< pipelined pieces of a collective
  StragglerChoice straggler = StragglerChoice::kEager;
  RankId straggler_rank{};
  /// Algorithms that come with the scenario (see plan_file.hpp), which go before built-in ones of the same name.
  std::vector<std::shared_ptr<const CollectiveAlgorithm>> own{};

  /// The one of `own` with the name, or null.
  [[nodiscard]] const CollectiveAlgorithm* find_own(std::string_view name) const;
};

struct CollectiveCandidate {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveCost cost{};
  Duration predicted{};
  std::string problem;  ///< why it is out of the question; "" when it is not
};

/// Every algorithm of the registry that supports the call's op, the fastest first (of equals the first of the registry),
/// those that are out of the question last. They must outlive the answer. A prediction is the alpha-beta cost plus the
/// reconfiguration delay for every set of circuits. Out of the question on optical rails is what wants circuits to more
/// members at once than a NIC has ports, and everywhere what does not follow the call's demand or cannot use its places.
///
/// A group inside one server is predicted on the scale-up fabric. In a group over several servers and rails every send of
/// an algorithm that does not ask for places is taken to go through both, and on optical rails, where it may want several
/// circuits at one port, it is out of the question. Leaves out: what else is on the way, and circuits that are lit already.
/// Where the group is a box of a torus (CollectiveCall::box), algorithms that do not follow its links are out of the
/// question if one that does can do the call; for other calls and groups in a torus each message counts as if it had links
/// of its own. An uneven demand counts as even shares that keep every port as busy as its busiest.
[[nodiscard]] std::vector<CollectiveCandidate> rank_collectives(const CollectiveRegistry& registry,
                                                                const CollectiveCall& call, const CostModel& on);

/// "halving_doubling: 12.3 us (5 sets of circuits, 0.1 us without them)". For people.
[[nodiscard]] std::string describe(const CollectiveCandidate& candidate, const CostModel& on);

}  // namespace photonrail
