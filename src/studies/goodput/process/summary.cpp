#include "photonrail/study/goodput/history.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace photonrail::goodput {

namespace {

// The 97.5 % quantile of Student's t with n degrees of freedom: Cornish and Fisher's expansion around the normal quantile z
// (Abramowitz and Stegun 26.7.5), within 0.1 % from 4 degrees on; exact below.
double student(std::size_t n) {
  constexpr double kSmall[] = {12.706, 4.303, 3.182};
  if (n <= 3) return kSmall[n - 1];
  const double z = 1.959963985;
  const auto v = static_cast<double>(n);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v);
}

// `most`: no value is below 0 or above it, and so the interval of their mean is cut there.
Estimate over(std::span<const History> histories, double most, auto&& value) {
  std::vector<double> values;
  for (const History& h : histories) values.push_back(value(h));
  Estimate result = estimate(values);
  result.low = std::max(result.low, 0.0);
  result.high = std::min(result.high, most);
  return result;
}

constexpr double kShare = 1.0;
constexpr double kAny = std::numeric_limits<double>::infinity();

void add_sources(const GoodputSpec& spec, std::span<const History> histories, GoodputSummary& summary) {
  for (std::size_t s = 0; s <= spec.failures.size(); ++s) {
    const bool traced = s == spec.failures.size();
    if (traced && !spec.trace) continue;
    SourceSummary source;
    source.name = traced ? "trace" : spec.failures[s].name;
    source.parts = traced ? spec.servers() : spec.parts_of(spec.failures[s]);
    const std::uint32_t servers = traced || spec.failures[s].per_server != 0 ? 1 : spec.failures[s].servers_per_part;
    source.gpus_hit = servers == 0 ? summary.job_gpus : servers * spec.job.gpus_per_server;
    double cost = 0.0;
    for (const History& h : histories) {
      source.failures += static_cast<double>(h.sources[s].failures);
      source.on_job += static_cast<double>(h.sources[s].on_job);
      cost += h.sources[s].cost.seconds() / 3600.0 * summary.job_gpus;
    }
    if (source.on_job > 0.0) source.gpu_hours_each = cost / source.on_job;
    source.failures /= static_cast<double>(histories.size());
    source.on_job /= static_cast<double>(histories.size());
    summary.sources.push_back(source);
  }
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  Estimate result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) result.mean += v;
  result.mean /= n;
  double squares = 0.0;
  for (const double v : values) squares += (v - result.mean) * (v - result.mean);
  const double half = values.size() < 2 ? 0.0 : student(values.size() - 1) * std::sqrt(squares / (n - 1.0) / n);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

double GoodputSummary::steps_per_day() const { return step_s > 0.0 ? ettr.mean * 86400.0 / step_s : 0.0; }

GoodputSummary summarise(const GoodputSpec& spec, Duration step, std::span<const History> histories) {
  PHOTONRAIL_CHECK(!histories.empty());
  GoodputSummary summary;
  summary.seeds = static_cast<std::uint32_t>(histories.size());
  summary.job_gpus = spec.job.servers * spec.job.gpus_per_server;
  summary.all_gpus = spec.servers() * spec.job.gpus_per_server;
  summary.step_s = to_seconds(step);
  summary.interval_s = static_cast<double>(spec.steps_between_checkpoints(step)) * summary.step_s;
  summary.stall_s = spec.checkpoint.stall_s;
  summary.copy_s = spec.checkpoint.copy_s;
  summary.wall_d = over(histories, kAny, [](const History& h) { return h.wall.days(); }).mean;
  for (std::size_t u = 0; u < kTimeUses; ++u) {
    summary.shares[u] = over(histories, kShare, [&](const History& h) {
      return h.wall > LongTime{} ? h.books.of[u].seconds() / h.wall.seconds() : 0.0;
    });
  }
  summary.ettr = over(histories, kShare, [](const History& h) { return h.ettr(); });
  const double used = static_cast<double>(summary.job_gpus) / summary.all_gpus;
  summary.goodput = {summary.ettr.mean * used, summary.ettr.low * used, summary.ettr.high * used};
  summary.failures = over(histories, kAny, [](const History& h) { return static_cast<double>(h.failures); });
  summary.interruptions = over(histories, kAny, [](const History& h) { return static_cast<double>(h.interruptions); });
  std::vector<double> mttf;
  for (const History& h : histories) {
    if (h.failures > 0) mttf.push_back(h.wall.seconds() / 3600.0 / static_cast<double>(h.failures));
  }
  summary.mttf_h = estimate(mttf);
  summary.mttf_h.low = std::max(summary.mttf_h.low, 0.0);
  summary.job_mttf_h = spec.job_mttf_s() / 3600.0;
  summary.swaps = over(histories, kAny, [](const History& h) { return static_cast<double>(h.swaps); }).mean;
  summary.drops = over(histories, kAny, [](const History& h) { return static_cast<double>(h.drops); }).mean;
  add_sources(spec, histories, summary);
  return summary;
}

double worth_gpus(const GoodputSummary& baseline, const GoodputSummary& other) {
  const double base = baseline.steps_per_day();
  if (base <= 0.0) return std::numeric_limits<double>::infinity();
  return baseline.all_gpus * other.steps_per_day() / base - other.all_gpus;
}

}  // namespace photonrail::goodput
