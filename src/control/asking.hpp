// Two parameters say how the ranks of a job ask under a policy that lets the user choose it: two parameters and what they
// mean.
#pragma once

#include "photonrail/controller.hpp"

#include <vector>

namespace photonrail::control {

/// The two, before a policy's own.
inline std::vector<ControllerParameter> with_asking(const std::vector<ControllerParameter>& own) {
  std::vector<ControllerParameter> all{
      ControllerParameter::word("mode", {"on_demand", "provisioned"}, "when the ranks ask"),
      ControllerParameter::word("order", {"scheduled", "free"}, "the order of a rank's rail operations")};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// REQUIRES: `values` are complete.
inline RankBehaviour asking_of(const ParameterValues& values) {
  RankBehaviour ranks;
  if (values.word("mode") == "provisioned") ranks.announce = Announcement::kAhead;
  ranks.order = values.word("order") == "scheduled" ? OperationOrder::kScheduled : OperationOrder::kFree;
  return ranks;
}

}  // namespace photonrail::control
