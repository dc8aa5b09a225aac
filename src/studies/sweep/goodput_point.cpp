#include "studies/sweep/goodput_point.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::sweep {

namespace {

using goodput::GoodputSummary;
using goodput::TimeUse;

void add_estimate(const std::string& name, const goodput::Estimate& estimate, Record& record) {
  record.metrics.emplace_back("goodput." + name + "share", estimate.mean);
  record.metrics.emplace_back("goodput." + name + "low_share", estimate.low);
  record.metrics.emplace_back("goodput." + name + "high_share", estimate.high);
}

void add_summary(const GoodputSummary& summary, Record& record) {
  add_estimate("", summary.goodput, record);
  add_estimate("ettr_", summary.ettr, record);
  for (std::size_t u = 0; u < goodput::kTimeUses; ++u) {
    const auto use = static_cast<TimeUse>(u);
    if (use == TimeUse::kProductive) continue;  // the effective training time ratio
    record.metrics.emplace_back("goodput." + std::string(goodput::name(use)) + "_share", summary.shares[u].mean);
  }
  const std::pair<const char*, double> numbers[] = {
      {"step_s", summary.step_s},
      {"interval_s", summary.interval_s},
      {"checkpoint_stall_s", summary.stall_s},
      {"checkpoint_copy_s", summary.copy_s},
      {"wall_d", summary.wall_d},
      {"seeds", summary.seeds},
      {"job_gpus", summary.job_gpus},
      {"all_gpus", summary.all_gpus},
      {"steps_per_day", summary.steps_per_day()},
      {"failures", summary.failures.mean},
      {"interruptions", summary.interruptions.mean},
      {"mttf_h", summary.mttf_h.mean},
      {"mttf_by_rates_h", summary.job_mttf_h},
      {"swaps", summary.swaps},
      {"drops", summary.drops},
      {"configurations", static_cast<double>(summary.configurations)},
  };
  for (const auto& [name, value] : numbers) {
    if (std::isfinite(value)) record.metrics.emplace_back(std::string("goodput.") + name, value);
  }
}

}  // namespace

void add_goodput(const goodput::GoodputScenario& scenario, std::optional<Duration> healthy, const Registries& known,
                 goodput::KnownSteps& known_steps, const std::function<void()>& progress, Record& record) {
  if (healthy) known_steps.add_healthy(scenario, *healthy);
  GoodputOptions options;
  options.known_steps = &known_steps;
  options.progress = [&](const GoodputProgress&) { progress(); };
  add_summary(run_goodput(scenario, options, known).summary, record);
  std::sort(record.metrics.begin(), record.metrics.end());
}

}  // namespace photonrail::sweep
