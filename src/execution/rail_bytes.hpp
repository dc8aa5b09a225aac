// The counter says how many of an operation's bytes leave their server.
#pragma once

#include "execution/operation.hpp"
#include "fabric/fabric.hpp"

#include <map>
#include <utility>

namespace photonrail::execution {

class RailBytes {
 public:
  /// Returns the bytes of the plan as it is run: of a folded group its part. Forwarded bytes count once.
  [[nodiscard]] Bytes of(const Operation& op, const fabric::Fabric& fabric);

 private:
  // Plans of calls without a traffic matrix live as long as the run.
  std::map<std::pair<const RunnablePlan*, CommunicatorId>, Bytes> known_;
};

}  // namespace photonrail::execution
