// Served requests as the workload of a scenario.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "serving/fleet/pools.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {
struct JobSpec;
}

namespace photonrail::run {

class ServedWorkload final : public Workload {
 public:
  /// `spec`: its ranks are those of the scenario; its seed is that of each run.
  explicit ServedWorkload(serving::ServingSpec spec) : spec_(std::move(spec)) {}

  /// The one of the scenario; null: it serves no requests.
  [[nodiscard]] static const ServedWorkload* of(const JobSpec& job);

  [[nodiscard]] std::string name() const override { return "serving"; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario& scenario, std::uint64_t seed) const override;
  [[nodiscard]] WorkEstimate work() const override;
  [[nodiscard]] const serving::ServingSpec& spec() const { return spec_; }
  /// Runs under other seeds differ.
  [[nodiscard]] bool draws() const;
  /// The same, and the engines that have one of these ranks fail.
  [[nodiscard]] std::shared_ptr<const ServedWorkload> with_failure(const std::vector<RankId>& ranks, Time at,
                                                                   std::optional<Duration> lasts, Duration detection) const;

 private:
  serving::ServingSpec spec_;
};

/// Requests that have ended, and those of the run, where the agent serves some: how far the run is.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> requests_done(const WorkloadAgent* agent);

}  // namespace photonrail::run
