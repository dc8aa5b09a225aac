#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/pods/scheduling.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::slices {

std::vector<SliceShare> tpu_v4_slices() {
  struct Row {
    Coordinates sides;
    double percent;
  };
  static constexpr Row kRows[] = {
      {{1, 1, 1}, 2.1},    {{1, 1, 2}, 0.4},   {{1, 2, 2}, 6.7},   {{2, 2, 2}, 4.7},  {{2, 2, 4}, 6.4},  {{2, 4, 4}, 8.9},
      {{4, 4, 4}, 13.9},   {{4, 4, 8}, 17.5},  {{4, 4, 12}, 0.7},  {{4, 8, 8}, 10.7}, {{4, 4, 16}, 1.0}, {{4, 8, 12}, 0.1},
      {{8, 8, 8}, 9.6},    {{4, 8, 16}, 1.7},  {{4, 4, 32}, 0.6},  {{8, 8, 12}, 0.7}, {{8, 8, 16}, 3.2}, {{4, 16, 16}, 0.3},
      {{4, 4, 64}, 0.1},   {{4, 8, 32}, 0.1},  {{8, 12, 16}, 0.1}, {{4, 4, 96}, 0.1}, {{8, 8, 24}, 0.1}, {{8, 16, 16}, 1.7},
      {{12, 16, 16}, 5.7}, {{4, 4, 192}, 0.4},
  };
  std::vector<SliceShare> slices;
  for (const Row& row : kRows) slices.push_back({Shape{row.sides, 3}, row.percent});
  return slices;
}

namespace {

/// Exponential with the mean; at least `least`.
Span draw_span(RandomStream& random, Span mean, Span least) {
  const double drawn = random.exponential() * static_cast<double>(mean.count());
  return std::max(least, Span{std::llround(drawn)});
}

}  // namespace

std::vector<SliceJob> draw_jobs(const StreamSpec& spec) {
  if (spec.jobs == 0 || spec.jobs > 1'000'000) throw ConfigError("jobs", "is " + std::to_string(spec.jobs), "1 to 1000000");
  if (spec.slices.empty()) throw ConfigError("slices", "there are none");
  const Span longest = kLongestSpan / 100 / spec.jobs;
  const auto fits = [&](Span mean) { return mean.count() > 0 && mean <= longest; };
  if (!fits(spec.mean_interarrival)) throw ConfigError("mean_interarrival", "is 0 or too long for so many jobs");
  if (!fits(spec.mean_duration)) throw ConfigError("mean_duration", "is 0 or too long for so many jobs");
  std::vector<double> sums;
  for (const SliceShare& slice : spec.slices) {
    if (!(slice.share > 0.0) || !std::isfinite(slice.share)) throw ConfigError("slices", "a share is not above 0");
    sums.push_back((sums.empty() ? 0.0 : sums.back()) + slice.share);
  }
  RandomStream arrivals(spec.seed, "arrivals of jobs");
  RandomStream durations(spec.seed, "durations of jobs");
  RandomStream shapes(spec.seed, "shapes of jobs");
  std::vector<SliceJob> jobs;
  Instant at{};
  for (std::uint32_t j = 0; j < spec.jobs; ++j) {
    at += draw_span(arrivals, spec.mean_interarrival, Span{0});
    const double mark = shapes.uniform() * sums.back();
    const auto drawn = std::upper_bound(sums.begin(), sums.end() - 1, mark) - sums.begin();
    const Shape& shape = spec.slices[static_cast<std::size_t>(drawn)].shape;
    jobs.push_back({at, draw_span(durations, spec.mean_duration, std::chrono::seconds{1}), SliceRequest::box(shape)});
  }
  return jobs;
}

}  // namespace photonrail::slices
