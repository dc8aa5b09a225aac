// The greatest rate of arrivals at which served requests keep their limits, by running the scenario at several rates.
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/workload/serving.hpp"

#include <functional>
#include <span>

namespace photonrail::run {

/// Is told of the runs of a search too, which other observers do not see: they see a run at the rate that was found.
class TrialObserver : public Observer {
 public:
  virtual void tried(std::size_t runs, const ServingResult::RateTrial& last) = 0;
  /// Returns false where it only counts trials or ends them: for it the run at the rate that was found is not made again.
  [[nodiscard]] virtual bool watches_the_found() const { return true; }
};

/// Returns true when the job asks for a search.
[[nodiscard]] bool searches_rate(const JobSpec& job);

using RunOnce = std::function<RunResult(const Scenario&, std::span<Observer* const>)>;
/// The result of the greatest rate that was found; where there is none, of the least that was tried, with a warning.
/// REQUIRES: searches_rate(scenario).
[[nodiscard]] RunResult run_at_greatest_rate(const Scenario& scenario, std::span<Observer* const> observers,
                                             const RunOnce& run);

}  // namespace photonrail::run
