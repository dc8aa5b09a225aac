// The ways of streams whose sends all leave at once over capacities of their own: one path of several parts, found once for
// each plan of a communicator.
#pragma once

#include "execution/operation.hpp"
#include "fabric/fabric.hpp"
#include "network/network.hpp"
#include "network/path.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace photonrail::execution {

class PlanWays {
 public:
  /// The ways of all sends of the operation's plan, as Network::post_parts() takes them. Nothing: they do not all start at
  /// once with equal bytes, meet on a capacity, take unequally long, or their ways may change. Valid until the next call.
  struct Ways {
    const network::Path& path;
    network::Network::Standing& standing;  ///< one of all plans with the same capacities
  };
  [[nodiscard]] std::optional<Ways> of(const Operation& op, fabric::Fabric& fabric);

 private:
  struct Way {
    const RunnablePlan* plan;
    network::Path path;                     // parts = 0: the sends go one by one
    Bandwidth rate{};                       // of each part alone, which its latency depends on
    std::size_t first = 0;                  // of the communicator's ways, the first with the same capacities
    network::Network::Standing standing{};  // of the first
  };

  static void find(const Operation& op, fabric::Fabric& fabric, Way& way);
  [[nodiscard]] static std::size_t first_of(const std::vector<Way>& ways, const network::Path& path);

  std::vector<std::vector<Way>> known_;  // by communicator; plans of calls without a traffic matrix live as long as the run
};

}  // namespace photonrail::execution
