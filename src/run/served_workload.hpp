// Served requests as the workload of a scenario.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "serving/pools.hpp"

#include <memory>
#include <string>

namespace photonrail::run {

class ServedWorkload final : public Workload {
 public:
  /// `spec`: its ranks are those of the scenario; its seed is that of each run.
  explicit ServedWorkload(serving::ServingSpec spec) : spec_(std::move(spec)) {}

  [[nodiscard]] std::string name() const override { return "serving"; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario& scenario, std::uint64_t seed) const override;
  [[nodiscard]] const serving::ServingSpec& spec() const { return spec_; }

 private:
  serving::ServingSpec spec_;
};

}  // namespace photonrail::run
