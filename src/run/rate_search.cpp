#include "run/rate_search.hpp"

#include "photonrail/error.hpp"
#include "run/served_workload.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::run {

namespace {

constexpr double kMostFactor = 1024.0;  // of the scenario's own rate, up or down
constexpr double kMostSeconds = 2e6;    // that requests come at a rate that is lower than it: half of what runs hold

Scenario at_factor(const Scenario& scenario, double factor) {
  serving::ServingSpec spec = ServedWorkload::of(scenario)->spec();
  spec.requests.time_factor /= factor;
  spec.find_rate.reset();
  Scenario changed = scenario;
  changed.workload = std::make_shared<ServedWorkload>(std::move(spec));
  return changed;
}

/// Tries factors of the scenario's rate.
class RateBisection {
 public:
  RateBisection(const Scenario& scenario, std::span<Observer* const> observers, const RunOnce& run)
      : scenario_(&scenario), observers_(observers), run_(&run), spec_(ServedWorkload::of(scenario)->spec()) {
    search_.share = spec_.slo->share;
  }

  /// Doubles or halves the rate until it is between two, and then halves what is between them.
  void search() {
    double factor = 1.0;
    while (!(good_ && bad_) && runs_left()) {
      attempt(factor);
      factor = bad_ ? *bad_ / 2.0 : *good_ * 2.0;
      if (factor > kMostFactor || factor < 1.0 / kMostFactor) break;
      if (factor < 1.0 && spec_.requests.arrivals_s() / factor > kMostSeconds) break;
    }
    while (good_ && bad_ && *bad_ / *good_ > 1.0 + spec_.find_rate->within && runs_left()) {
      attempt(std::sqrt(*good_ * *bad_));
    }
  }

  [[nodiscard]] double best_factor() const { return good_ ? *good_ : *bad_; }
  [[nodiscard]] RunResult take_best() { return std::move(*best_); }
  [[nodiscard]] const ServingResult::RateSearch& result() const { return search_; }

 private:
  [[nodiscard]] bool runs_left() const { return search_.trials.size() < spec_.find_rate->most_runs; }

  void attempt(double factor) {
    const Scenario trial = at_factor(*scenario_, factor);
    RunResult result = (*run_)(trial, {});
    PHOTONRAIL_CHECK(result.serving && result.serving->slo);
    const ServingResult::RateTrial& seen = search_.trials.emplace_back(ServingResult::RateTrial{
        spec_.requests.arrivals_per_s() * factor, result.serving->slo->share, result.serving->unfinished});
    for (Observer* const observer : observers_) {
      if (auto* const told = dynamic_cast<TrialObserver*>(observer)) told->tried(search_.trials.size(), seen);
    }
    const bool good = seen.share >= search_.share;
    if (good || !good_) best_ = std::move(result);
    (good ? good_ : bad_) = factor;
    (good ? search_.greatest : search_.beyond) = seen;
  }

  const Scenario* scenario_;
  std::span<Observer* const> observers_;
  const RunOnce* run_;
  const serving::ServingSpec& spec_;
  ServingResult::RateSearch search_;
  std::optional<double> good_;  // factors of the rate
  std::optional<double> bad_;
  std::optional<RunResult> best_;
};

}  // namespace

bool searches_rate(const JobSpec& job) {
  return ServedWorkload::of(job) != nullptr && ServedWorkload::of(job)->spec().find_rate.has_value();
}

RunResult run_at_greatest_rate(const Scenario& scenario, std::span<Observer* const> observers, const RunOnce& run) {
  RateBisection bisection(scenario, observers, run);
  bisection.search();
  const bool watched = std::any_of(observers.begin(), observers.end(), [](Observer* observer) {
    const auto* const told = dynamic_cast<TrialObserver*>(observer);
    return told == nullptr || told->watches_the_found();
  });
  RunResult result = watched ? run(at_factor(scenario, bisection.best_factor()), observers) : bisection.take_best();
  result.serving->rate_search = bisection.result();
  if (!bisection.result().greatest) {
    result.warnings.push_back("no rate that was tried keeps the limits of the requests: the result is of the least");
  }
  return result;
}

}  // namespace photonrail::run
