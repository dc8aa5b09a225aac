// A reinforcement learning job as the workload of a scenario.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "rl/spec.hpp"

#include <memory>
#include <string>
#include <vector>

namespace photonrail::run {

class RlWorkload final : public Workload {
 public:
  /// `spec`: its ranks are those of the scenario; its seed is that of each run. Throws ConfigError (see
  /// RlSpec::validate()).
  explicit RlWorkload(rl::RlSpec spec);

  [[nodiscard]] std::string name() const override { return "rl"; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario& scenario, std::uint64_t seed) const override;
  [[nodiscard]] WorkEstimate work() const override;
  /// The graph of such a scenario: ranks without programs, and the traffic of refits.
  [[nodiscard]] TaskGraph graph() const;

 private:
  rl::RlSpec spec_;
  std::vector<std::shared_ptr<const TaskGraph>> refits_;
};

}  // namespace photonrail::run
