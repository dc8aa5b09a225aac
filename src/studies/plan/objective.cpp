#include "studies/plan/objective.hpp"

#include "cost/ownership.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::plan {

namespace {

constexpr double kDay = 86400.0;
constexpr double kTrillion = 1e12;

double usd_a_trillion_tokens(const PlanPrices& prices, const Measured& m) {
  const double steps = kTrillion / m.tokens;
  const double seconds = steps * m.step_s / m.productive;
  const cost::OwnershipPrices own{0.0, 0.0, prices.gpu_hour_usd, prices.usd_per_kwh, prices.network_years};
  const double usd_a_second = cost::usd_per_second(own, {m.usd, m.gpus, 0.0});
  return seconds * usd_a_second + cost::usd_of_energy(own, steps / m.productive * m.energy_j);
}

double usd_a_million_tokens(const PlanPrices& prices, const Measured& m) {
  const cost::OwnershipPrices own{0.0, 0.0, prices.gpu_hour_usd, prices.usd_per_kwh, prices.network_years};
  return cost::usd_per_million_tokens(own, {m.usd, m.gpus, 0.0}, m.draws_w, m.answers_per_s);
}

double value(const Plan& plan, PlanObjective objective, const Measured& m) {
  switch (objective) {
    case PlanObjective::kStep:
      return m.step_s;
    case PlanObjective::kGpuSecondsAToken:
      return m.step_s * m.gpus / m.tokens;
    case PlanObjective::kGpuSecondsARequest:
      return m.gpus / m.requests_per_s;
    case PlanObjective::kDays:
      return *plan.tokens / m.tokens * m.step_s / m.productive / kDay;
    case PlanObjective::kUsdATrillionTokens:
      return usd_a_trillion_tokens(*plan.prices, m);
    case PlanObjective::kUsdAMillionTokens:
      return usd_a_million_tokens(*plan.prices, m);
    case PlanObjective::kUsd:
      return m.usd;
    case PlanObjective::kPower:
      return m.power_w;
  }
  fail_check("an objective", __FILE__, __LINE__);
}

}  // namespace

Measured measured(const PlannedRun& run) {
  Measured of;
  of.step_s = run.step_s;
  if (run.productive) of.productive = run.productive->mean;
  of.gpus = run.size.gpus;
  of.tokens = run.size.tokens;
  of.energy_j = run.energy_j.value_or(0.0);
  of.usd = run.usd.value_or(0.0);
  of.power_w = run.power_w.value_or(0.0);
  if (!run.served) return of;
  of.requests_per_s = run.served->requests_per_s;
  of.answers_per_s = run.served->tokens_per_s;
  const double seconds = to_seconds(run.makespan);
  of.draws_w = run.energy_j && seconds > 0.0 ? *run.energy_j / seconds : of.power_w;
  return of;
}

std::string_view name(PlanObjective objective) {
  constexpr std::string_view kNames[] = {"step",
                                         "gpu_seconds_per_token",
                                         "gpu_seconds_per_request",
                                         "days",
                                         "usd_per_trillion_tokens",
                                         "usd_per_million_tokens",
                                         "usd",
                                         "power_w"};
  return kNames[static_cast<std::size_t>(objective)];
}

bool counts_tokens(PlanObjective objective) {
  return objective == PlanObjective::kGpuSecondsAToken || spans_months(objective);
}
bool counts_requests(PlanObjective objective) {
  return objective == PlanObjective::kGpuSecondsARequest || objective == PlanObjective::kUsdAMillionTokens;
}
bool reads_bill(PlanObjective objective) { return objective >= PlanObjective::kUsdATrillionTokens; }
bool spans_months(PlanObjective objective) {
  return objective == PlanObjective::kDays || objective == PlanObjective::kUsdATrillionTokens;
}

std::vector<double> values(const Plan& plan, const Measured& measured) {
  std::vector<double> list;
  for (const PlanObjective objective : plan.objectives) list.push_back(value(plan, objective, measured));
  return list;
}

bool Front::beats(const std::vector<double>& point) const {
  return std::any_of(points_.begin(), points_.end(), [&](const std::vector<double>& other) {
    bool better = false;
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (other[i] > point[i]) return false;
      better = better || other[i] < point[i];
    }
    return better;
  });
}

void Front::add(const std::vector<double>& point) {
  if (beats(point)) return;
  Front alone;
  alone.points_.push_back(point);
  points_.erase(std::remove_if(points_.begin(), points_.end(), [&](const auto& other) { return alone.beats(other); }),
                points_.end());
  points_.push_back(point);
}

}  // namespace photonrail::plan
