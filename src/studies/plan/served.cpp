// Of N requests a share s must have its first token within a limit L of its arrival. The last comes at T at the rate of the
// file, and at T / f at f times that rate, so that all these prompts are computed until T / f + L. A step of so many tokens
// takes at least c for each of them, whatever else it computes: E engines have c W <= E (T / f + L), W the tokens of the
// shortest of so many prompts, without what a cache may have. So f <= T / (c W / E - L).
#include "studies/plan/served.hpp"

#include "run/served_workload.hpp"
#include "serving/fleet/pools.hpp"
#include "serving/requests/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <vector>

namespace photonrail::plan {

namespace {

using serving::PoolSpec;
using serving::RequestSpec;
using serving::ServingSpec;

constexpr std::uint64_t kMostDrawn = 1'000'000;  // requests; of more there is no bound
constexpr double kOfRounding = 1.0 + 1e-6;

/// The requests of an open loop, which are the same at every rate.
struct Drawn {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> prompts;  // of those whose times count: what no cache can have of them
  double answers = 0.0;                // tokens of those whose times count
  std::optional<Time> first{};         // arrival of one of these
  Time last{};                         // arrival
};

bool has_known_requests(const ServingSpec& spec) {
  const RequestSpec& requests = spec.requests;
  return !spec.horizon && requests.concurrency == 0 && requests.turns == 1 && requests.count <= kMostDrawn;
}

Drawn drawn(const ServingSpec& spec, std::uint64_t seed) {
  const RequestSpec& requests = spec.requests;
  Drawn of;
  serving::Source source(requests, seed, spec.pools.front().engine.block_tokens);
  while (source.next()) {
    const serving::Offer offer = source.take();
    ++of.count;
    of.last = offer.at;
    if (offer.number < spec.warm_up) continue;
    if (!of.first) of.first = offer.at;
    of.answers += offer.output;
    const bool hashed = requests.trace != nullptr && !offer.keys.empty();
    const std::uint32_t cached = hashed ? offer.prompt : requests.prefix.groups > 0 ? requests.prefix.tokens : 0;
    of.prompts.push_back(offer.prompt - std::min(offer.prompt, cached));
  }
  return of;
}

/// The longest time to the first token that a request may have; none: there is no limit for some.
std::optional<Duration> longest_ttft(const ServingSpec& spec) {
  std::optional<Duration> longest = spec.slo->ttft;
  for (const serving::RequestClass& of : spec.requests.classes) {
    const std::optional<Duration> own = of.ttft ? of.ttft : spec.slo->ttft;
    if (!own) return std::nullopt;
    longest = std::max(*own, longest.value_or(*own));
  }
  return longest;
}

/// Tokens of prompts that all engines together compute in a second at most; infinite: not known.
double prompt_tokens_per_s(const ServingSpec& spec) {
  double sum = 0.0;
  for (const PoolSpec& pool : spec.pools) {
    if (pool.role == serving::PoolRole::kDecode) continue;
    const double least = pool.times->least_s_per_token(pool.engine.token_budget);
    if (least <= 0.0) return std::numeric_limits<double>::infinity();
    sum += static_cast<double>(pool.engines.size()) / least;
  }
  return sum;
}

double most_factor(const ServingSpec& spec, Drawn of) {
  const std::optional<Duration> limit = longest_ttft(spec);
  if (!limit || of.prompts.empty()) return std::numeric_limits<double>::infinity();
  std::sort(of.prompts.begin(), of.prompts.end());
  const double kept = std::ceil(spec.slo->share * static_cast<double>(of.prompts.size()) * (1.0 - 1e-9));
  const double tokens = std::accumulate(of.prompts.begin(), of.prompts.begin() + static_cast<std::ptrdiff_t>(kept), 0.0);
  const double left = tokens / prompt_tokens_per_s(spec) - to_seconds(*limit);
  if (left <= 0.0) return std::numeric_limits<double>::infinity();
  return to_seconds(of.last.since_start()) / left * kOfRounding;
}

// The last answer begins after the last arrival: ServingResult::steady_output_tokens_per_s is below this.
double most_answers_per_s(const Drawn& of, double factor) {
  const double seconds = of.first ? to_seconds(of.last - *of.first) : 0.0;
  return seconds > 0.0 ? of.answers / seconds * factor * kOfRounding : std::numeric_limits<double>::infinity();
}

std::string percent(double share) {
  std::ostringstream text;
  text << std::setprecision(4) << 100.0 * share << " %";
  return text.str();
}

const ServingSpec* limited(const Scenario& scenario) {
  const run::ServedWorkload* const served = run::ServedWorkload::of(scenario);
  return served != nullptr && served->spec().slo ? &served->spec() : nullptr;
}

}  // namespace

ServedBound bound_of_served(const Scenario& scenario) {
  ServedBound bound;
  const ServingSpec* const spec = limited(scenario);
  if (spec == nullptr) return bound;
  const bool known = has_known_requests(*spec);
  const Drawn of = known ? drawn(*spec, scenario.run.seed) : Drawn{};
  const double rate = spec->requests.arrivals_per_s();
  const double factor = known ? most_factor(*spec, of) : std::numeric_limits<double>::infinity();
  const double times = spec->find_rate ? factor : factor < 1.0 ? 0.0 : 1.0;
  bound.requests_per_s = rate * times;
  if (known) bound.answers_per_s = most_answers_per_s(of, times);
  return bound;
}

std::string missed_limits(const Scenario& scenario, const RunResult& result) {
  const ServingSpec* const spec = limited(scenario);
  if (spec == nullptr || !result.serving || !result.serving->slo) return {};
  const ServingResult& served = *result.serving;
  const std::string wanted = percent(spec->slo->share) + " should";
  if (served.rate_search && !served.rate_search->greatest)
    return "no rate that was tried keeps the limits of " + percent(spec->slo->share) + " of its requests";
  if (!served.rate_search && served.slo->share < spec->slo->share)
    return percent(served.slo->share) + " of its requests keep their limits, and " + wanted;
  return {};
}

std::optional<PlannedRun::Served> served_of(const Scenario& scenario, const RunResult& result) {
  const ServingSpec* const spec = limited(scenario);
  if (spec == nullptr || !result.serving || !result.serving->slo) return std::nullopt;
  const ServingResult& served = *result.serving;
  PlannedRun::Served of;
  of.share = served.rate_search ? served.rate_search->greatest->share : served.slo->share;
  of.requests_per_s = served.rate_search ? served.rate_search->greatest->per_s : spec->requests.arrivals_per_s();
  of.tokens_per_s = served.steady_output_tokens_per_s;
  return of;
}

}  // namespace photonrail::plan
