// Runs candidates: the step of each, and its months where an objective spans them.
#pragma once

#include "photonrail/study/goodput.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/goodput/known_steps.hpp"
#include "studies/plan/outcome.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace photonrail::plan {

/// Thrown where the time was over during a run.
struct OutOfTime {};

/// Safe to use from several threads.
class CandidateRuns {
 public:
  /// All must outlive the object.
  CandidateRuns(const Plan& plan, const Registries& known, std::function<bool()> is_over);

  /// The base with these changes; without its bill. Throws OutOfTime.
  [[nodiscard]] Outcome run(const std::vector<Override>& patch);
  /// Candidates that took the step of one that differs in nothing that steps depend on.
  [[nodiscard]] std::uint64_t reused() const { return reused_; }

 private:
  bool take_step(const std::string& key, PlannedRun& run);
  [[nodiscard]] Outcome simulated(const std::vector<Override>& patch) const;
  void add_months(const std::vector<Override>& patch, PlannedRun& run);

  const Plan& plan_;
  const Registries& known_;
  const std::function<bool()> is_over_;
  const bool has_months_;
  goodput::KnownSteps known_steps_;
  std::mutex mutex_;
  std::map<std::string, PlannedRun> steps_;  // by what steps depend on
  std::atomic<std::uint64_t> reused_{0};
};

}  // namespace photonrail::plan
