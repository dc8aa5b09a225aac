#include "workload/moe/router.hpp"

#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace photonrail::workload {

namespace {

/// The minimum weight of an expert that can be chosen, relative to 1: it is chosen when there is no other expert.
constexpr double kMinWeight = 1e-200;

std::string in_layer(std::string_view what, std::uint32_t layer) {
  return "moe " + std::string(what) + ", layer " + std::to_string(layer);
}

std::vector<double> zipf(const RouterSpec& router, std::uint32_t experts, RandomStream* shuffle) {
  std::vector<std::uint32_t> place(experts);  // by expert, from 0 for the most popular
  std::iota(place.begin(), place.end(), 0u);
  for (std::size_t i = experts; shuffle != nullptr && i > 1; --i) std::swap(place[i - 1], place[shuffle->below(i)]);
  std::vector<double> logs;
  for (const std::uint32_t p : place) logs.push_back(-router.exponent * std::log(1.0 + p));
  return logs;
}

std::vector<double> given(const RouterSpec& router, std::uint32_t row) {
  std::vector<double> logs;
  for (const double weight : router.weights[row % router.weights.size()]) logs.push_back(std::log(weight));
  return logs;
}

/// Before any drift.
std::vector<double> base(const RouterSpec& router, std::uint32_t experts, const MoeCall& call, Member member) {
  RandomStream random(call.seed, in_layer("popularity", router.fresh_layers ? call.layer : 0));
  switch (router.kind) {
    case RouterKind::kUniform:
      break;
    case RouterKind::kZipf:
      return zipf(router, experts, router.fresh_layers ? &random : nullptr);
    case RouterKind::kDirichlet: {
      std::vector<double> logs;
      for (std::uint32_t e = 0; e < experts; ++e) logs.push_back(random.log_gamma(router.concentration));
      return logs;
    }
    case RouterKind::kWeights:
      return given(router, router.weight_rows == WeightRows::kLayers ? call.layer : member);
  }
  return std::vector<double>(experts, 0.0);
}

/// Takes steps of a random walk, every expert by itself. The first steps of a longer walk are those of a shorter one.
void walk(std::vector<double>& logs, double deviation, std::uint32_t steps, RandomStream random) {
  if (deviation == 0.0) return;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (double& x : logs) x += deviation * random.normal();
  }
}

/// The real number of choices of every expert. Those that would be chosen more than once by a token are chosen by all; the
/// others share what is left.
std::vector<double> quotas(std::vector<double> weights, double tokens, std::uint32_t top_k) {
  std::vector<double> quota(weights.size());
  double left = tokens * top_k;
  for (;;) {
    const double per_weight = left / std::accumulate(weights.begin(), weights.end(), 0.0);
    bool capped = false;
    for (std::size_t e = 0; e < weights.size(); ++e) {
      if (weights[e] == 0.0 || weights[e] * per_weight <= tokens) continue;
      quota[e] = tokens;
      left -= tokens;
      weights[e] = 0.0;
      capped = true;
    }
    if (capped && left > 0.0) continue;
    for (std::size_t e = 0; e < weights.size() && left > 0.0; ++e) {
      if (weights[e] > 0.0) quota[e] = weights[e] * per_weight;
    }
    return quota;
  }
}

// Gives what rounding down has left, one each, to those with the largest remainders (the first among equals), and again
// until nothing is left. Who gets one is asked, and not in which order, so that nothing is sorted.
void give_rest(const std::vector<double>& quota, std::uint64_t tokens, std::uint64_t left,
               std::vector<std::uint64_t>& count) {
  std::vector<std::pair<double, std::uint32_t>> rest;  // less a remainder, expert
  for (std::uint32_t e = 0; e < quota.size(); ++e) {
    if (quota[e] != 0.0) rest.emplace_back(static_cast<double>(count[e]) - quota[e], e);
  }
  while (left > 0) {
    std::erase_if(rest, [&](const auto& of) { return count[of.second] == tokens; });
    PHOTONRAIL_CHECK(!rest.empty());
    const std::size_t more = std::min<std::uint64_t>(left, rest.size());
    if (more < rest.size()) std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(more), rest.end());
    for (std::size_t i = 0; i < more; ++i) ++count[rest[i].second];
    left -= more;
  }
}

}  // namespace

std::vector<double> log_popularity(const RouterSpec& router, std::uint32_t experts, const MoeCall& call, Member member) {
  std::vector<double> logs = base(router, experts, call, member);
  PHOTONRAIL_CHECK(logs.size() == experts);
  walk(logs, router.layer_drift, call.layer, {call.seed, "moe layer drift"});
  walk(logs, router.iteration_drift, call.iteration, {call.seed, in_layer("iteration drift", call.layer)});
  return logs;
}

std::vector<std::uint64_t> apportion(std::span<const double> log_popularity, std::uint64_t tokens, std::uint32_t top_k) {
  const double most = *std::max_element(log_popularity.begin(), log_popularity.end());
  std::vector<double> weights;
  for (const double x : log_popularity) {
    weights.push_back(std::isinf(x) ? 0.0 : std::max(std::exp(x - most), kMinWeight));
  }
  const std::vector<double> quota = quotas(std::move(weights), static_cast<double>(tokens), top_k);

  std::vector<std::uint64_t> count;
  for (const double q : quota) count.push_back(std::min(tokens, static_cast<std::uint64_t>(q)));
  const std::uint64_t whole = std::accumulate(count.begin(), count.end(), std::uint64_t{0});
  PHOTONRAIL_CHECK(whole <= tokens * top_k);
  give_rest(quota, tokens, tokens * top_k - whole, count);
  return count;
}

}  // namespace photonrail::workload
