// Steps that a policy of the user decides: what it is shown, and what its decision must keep.
#pragma once

#include "photonrail/workload/scheduling.hpp"
#include "serving/engine/scheduler.hpp"

#include <span>
#include <vector>

namespace photonrail::serving {

/// Acts on the queue and the blocks of one engine.
class DecidedSteps {
 public:
  explicit DecidedSteps(Scheduler& scheduler) : of_(&scheduler) {}

  /// Steps of the policy until one computes something, or nothing can run.
  void next();

 private:
  [[nodiscard]] bool only_request_lacks_blocks() const;
  [[nodiscard]] std::vector<RequestView> running() const;
  [[nodiscard]] std::vector<RequestView> waiting() const;
  void carry_out(StepDecision& decision, std::span<const RequestView> waiting);
  void run(Running& request, std::uint32_t place, std::uint32_t tokens);

  Scheduler* of_;
};

}  // namespace photonrail::serving
