#include "execution/straggler_injector.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::execution {

namespace {

std::string stream_name(std::size_t straggler, std::uint32_t iteration) {
  return "straggler " + std::to_string(straggler) + " in step " + std::to_string(iteration);
}

bool lists(const StragglerSpec& spec, RankId rank) {
  return spec.whom == StragglerSpec::Whom::kAll ||
         std::find(spec.ranks.begin(), spec.ranks.end(), rank) != spec.ranks.end();
}

}  // namespace

StragglerInjector::Step StragglerInjector::of(RankId rank, std::uint32_t iteration) const {
  Step step;
  for (std::size_t s = 0; s < stragglers_.size(); ++s) {
    if (stragglers_[s].at || !concerns(s, rank, iteration)) continue;
    step.delay += delay(s, rank, iteration);
    if (step.delay > kLongest) fail_too_long(static_cast<double>(step.delay.count()));
    step.slowdown *= stragglers_[s].slowdown;
  }
  return step;
}

bool StragglerInjector::concerns(std::size_t straggler, RankId rank, std::uint32_t iteration) const {
  const StragglerSpec& spec = stragglers_[straggler];
  if (spec.whom == StragglerSpec::Whom::kOneAtRandom) {
    return RandomStream(seed_, stream_name(straggler, iteration)).below(ranks_) == rank.value;
  }
  return lists(spec, rank);
}

Duration StragglerInjector::undetected_of_some(RankId rank, Time from, Time to) const {
  std::vector<std::pair<Time, Time>> spans;
  for (const StragglerSpec* spec : failures_) {
    if (!spec->stops || !lists(*spec, rank)) continue;
    const Time begin = std::max(from, *spec->at);
    const Time end = std::min(to, *spec->at + spec->detection);
    if (begin < end) spans.emplace_back(begin, end);
  }
  std::sort(spans.begin(), spans.end());
  Duration all{};
  Time counted = from;
  for (const auto& [begin, end] : spans) {
    if (end <= counted) continue;
    all += end - std::max(begin, counted);
    counted = end;
  }
  return all;
}

// Between two moments at which a failure begins or ends, the GPU has one speed: 1 / the product of the slowdowns, or 0.
std::optional<Duration> StragglerInjector::with_some_failures(RankId rank, Time start, Duration time) const {
  std::vector<const StragglerSpec*> mine;
  for (const StragglerSpec* spec : failures_) {
    if (lists(*spec, rank)) mine.push_back(spec);
  }
  Time now = start;
  double left = static_cast<double>(time.count());  // picoseconds of a GPU without failures
  while (!mine.empty()) {
    double slowdown = 1.0;
    bool stands = false;
    std::optional<Time> change;
    const auto changes_at = [&](Time t) { change = t > now && (!change || t < *change) ? t : change; };
    for (const StragglerSpec* spec : mine) {
      const bool over = spec->lasts && now >= *spec->at + *spec->lasts;
      if (now >= *spec->at && !over) {
        slowdown *= spec->slowdown;
        stands = stands || spec->stops;
      }
      changes_at(*spec->at);
      if (spec->lasts) changes_at(*spec->at + *spec->lasts);
    }
    const double until_done = stands ? 0.0 : left * slowdown;
    if (stands && !change) return std::nullopt;
    if (!stands && (!change || static_cast<double>((*change - now).count()) >= until_done)) {
      if (now == start && slowdown == 1.0) return time;
      return now - start + round_up_picoseconds(until_done);
    }
    if (!stands) left -= static_cast<double>((*change - now).count()) / slowdown;
    now = *change;
  }
  return time;
}

std::string gpus_of(const StragglerSpec& failure) {
  if (failure.whom == StragglerSpec::Whom::kAll) return "every GPU";
  const std::vector<RankId>& ranks = failure.ranks;
  std::string text;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < ranks.size() && ranks[i + 1].value == ranks[i].value + 1) ++i;
    text += (first > 0 ? "," : "") + std::to_string(ranks[first].value) +
            (i > first ? "-" + std::to_string(ranks[i].value) : "");
  }
  return (ranks.size() == 1 ? "GPU of rank " : "GPUs of ranks ") + text;
}

std::vector<std::string> StragglerInjector::failures_until(Time now) const {
  std::vector<std::string> lines;
  for (const StragglerSpec* spec : failures_) {
    if (*spec->at > now) continue;
    std::string line = spec->whom == StragglerSpec::Whom::kAll ? gpus_of(*spec) : "the " + gpus_of(*spec);
    line += (spec->stops ? " stopped at " : " became slow at ") + std::to_string(to_seconds(*spec->at)) + " s";
    lines.push_back(line + (spec->lasts ? " for " + std::to_string(to_seconds(*spec->lasts)) + " s" : ""));
  }
  return lines;
}

Duration StragglerInjector::delay(std::size_t straggler, RankId rank, std::uint32_t iteration) const {
  const StragglerSpec& spec = stragglers_[straggler];
  if (!spec.trace.empty()) return spec.trace[iteration % spec.trace.size()];
  if (spec.delay.kind == DelayDistribution::Kind::kConstant) return spec.delay.a;
  RandomStream random(seed_, stream_name(straggler, iteration) + ", rank " + std::to_string(rank.value));
  return spec.delay.draw(random);
}

}  // namespace photonrail::execution
