#include "run/served_workload.hpp"

#include "core/counted.hpp"
#include "core/printed.hpp"
#include "photonrail/error.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/workload/scheduling.hpp"
#include "run/expected_time.hpp"
#include "serving/agent.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace photonrail::run {

const ServedWorkload* ServedWorkload::of(const JobSpec& job) {
  return dynamic_cast<const ServedWorkload*>(job.workload.get());
}

namespace {

// Measured: pools on rails, prompts apart from answers or not, busy and nearly idle: within a factor of three.
constexpr double kSecondsAServedRequest = 100e-6;
constexpr double kSecondsAServedToken = 0.25e-6;  // of an answer: a decode step has many of them, or one
constexpr double kRunsOfSearch = 10.0;            // of the greatest rate, in the mean

class ReportedAgent final : public serving::ServingAgent {
 public:
  explicit ReportedAgent(const serving::ServingSpec& spec)
      : ServingAgent(spec),
        horizon_(spec.horizon),
        rows_left_out_(spec.requests.trace ? spec.requests.trace->left_out : 0) {}

  void report(RunResult& result) const override {
    result.serving = this->result();
    if (rows_left_out_ > 0) {
      result.warnings.push_back(core::counted(rows_left_out_, "row") +
                                " of the trace without a prompt or without an answer did not count as requests");
    }
    if (!horizon_ || result.serving->unfinished == 0) return;
    const Duration over = horizon_->since_start();
    std::string text =
        core::counted(result.serving->unfinished, "request") + " did not end by the horizon of " + core::seconds_text(over);
    if (result.serving->makespan > over)
      text += ": no step began after it, and what was on its way ended at " + core::seconds_text(result.serving->makespan);
    result.warnings.push_back(text);
  }

 private:
  std::optional<Time> horizon_;
  std::uint64_t rows_left_out_;
};

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> requests_done(const WorkloadAgent* agent) {
  const auto* const served = dynamic_cast<const ReportedAgent*>(agent);
  if (served == nullptr) return std::nullopt;
  return std::pair(served->ended(), served->requests());
}

std::unique_ptr<WorkloadAgent> ServedWorkload::make(const Scenario& /*scenario*/, std::uint64_t seed) const {
  serving::ServingSpec spec = spec_;
  spec.seed = seed;
  return std::make_unique<ReportedAgent>(spec);
}

bool ServedWorkload::draws() const {
  const bool routed = spec_.routing.arrivals == serving::RoutePolicy::kRandom ||
                      (spec_.apart() && spec_.routing.decode == serving::RoutePolicy::kRandom);
  return routed || spec_.requests.draws() || std::any_of(spec_.pools.begin(), spec_.pools.end(), [](const auto& pool) {
           const serving::Speculation& of = pool.engine.speculation;
           return of.drafts > 0 && of.acceptance > 0.0 && of.acceptance < 1.0;
         });
}

WorkEstimate ServedWorkload::work() const {
  const serving::RequestSpec& requests = spec_.requests;
  double runs = 1.0;
  if (spec_.find_rate) runs = std::min(kRunsOfSearch, static_cast<double>(spec_.find_rate->most_runs));
  const double count = static_cast<double>(requests.count) * runs;
  WorkEstimate work;
  work.add({kRequests, count, count * (kSecondsAServedRequest + requests.about_output() * kSecondsAServedToken)});
  return work;
}

std::shared_ptr<const ServedWorkload> ServedWorkload::with_failure(const std::vector<RankId>& ranks, Time at,
                                                                   std::optional<Duration> lasts,
                                                                   Duration detection) const {
  serving::ServingSpec spec = spec_;
  const auto fails = [&](RankId rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
  for (std::uint32_t p = 0; p < spec.pools.size(); ++p) {
    const auto& engines = spec.pools[p].engines;
    const std::uint32_t each = std::max(spec.pools[p].together, spec.pools[p].slots);
    for (std::uint32_t first = 0; first < engines.size(); first += each) {  // these fail together
      bool any = false;
      for (std::uint32_t e = first; e < first + each; ++e) {
        any = any || std::any_of(engines[e].begin(), engines[e].end(), fails);
      }
      if (any) spec.failures.push_back({p, first, at, lasts, detection});
    }
  }
  return std::make_shared<ServedWorkload>(std::move(spec));
}

}  // namespace photonrail::run

namespace photonrail {

Scenario with_scheduler(const Scenario& scenario, std::shared_ptr<const SchedulingPolicy> policy) {
  const auto* const served = run::ServedWorkload::of(scenario);
  if (served == nullptr) throw ConfigError(scenario.name, "serves no requests that a scheduler could order");
  serving::ServingSpec spec = served->spec();
  for (serving::PoolSpec& pool : spec.pools) {
    pool.engine.policy = policy;
    if (!pool.engine.leaves_rules_to_policy()) {
      throw ConfigError(scenario.name, "has engines whose rules the scheduler " + policy->name() + " takes over",
                        serving::kRulesOfPolicies);
    }
  }
  Scenario changed = scenario;
  changed.workload = std::make_shared<run::ServedWorkload>(std::move(spec));
  return changed;
}

}  // namespace photonrail
