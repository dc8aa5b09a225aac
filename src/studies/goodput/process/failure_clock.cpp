#include "studies/goodput/process/failure_clock.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace photonrail::goodput {

namespace {

bool is_poisson(const FailureSource& source) { return source.time_to_failure.law == RandomTime::Law::kExponential; }

std::vector<double> spread_over(const GoodputSpec& spec, std::uint64_t seed) {
  if (spec.server_spread == 0.0) return {};
  RandomStream random(seed, "reliability.spread");
  std::vector<double> spread(spec.servers());
  for (double& x : spread) x = std::exp(random.log_gamma(spec.server_spread)) / spec.server_spread;
  return spread;
}

std::vector<std::uint32_t> shuffled(const GoodputSpec& spec, std::uint64_t seed) {
  std::vector<std::uint32_t> server(spec.servers());
  std::iota(server.begin(), server.end(), 0U);
  if (!spec.trace || !spec.trace->shuffle) return server;
  RandomStream random(seed, "reliability.shuffle");
  for (std::size_t i = server.size(); i > 1; --i) std::swap(server[i - 1], server[random.below(i)]);
  return server;
}

}  // namespace

FailureClock::FailureClock(const GoodputSpec& spec, std::uint64_t seed, LongTime end)
    : spec_(&spec), seed_(seed), end_(end), spread_(spread_over(spec, seed)), server_(shuffled(spec, seed)) {
  for (std::uint32_t s = 0; s < spec.failures.size(); ++s) {
    const FailureSource& source = spec.failures[s];
    const std::uint32_t parts = spec.parts_of(source);
    const std::uint32_t in_job = source.per_server != 0 ? source.per_server * spec.job.servers : parts;
    add_line(s, 0, in_job, "job");
    if (parts > in_job) add_line(s, in_job, parts - in_job, "spares");
  }
}

double FailureClock::spread_of(const FailureSource& source, std::uint32_t part) const {
  return spread_.empty() || source.per_server == 0 ? 1.0 : spread_[part / source.per_server];
}

void FailureClock::add_line(std::uint32_t source, std::uint32_t first, std::uint32_t parts, const char* where) {
  const FailureSource& kind = spec_->failures[source];
  const std::string name = "reliability." + kind.name + "." + std::to_string(source) + "." + where;
  lines_.push_back({source, first, parts, RandomStream(seed_, name), RandomStream(seed_, name + ".delays")});
  Line& line = lines_.back();
  if (!is_poisson(kind)) {
    for (std::uint32_t p = first; p < first + parts; ++p) draw_clock(line, p, {});
    return;
  }
  line.rate_sum = parts;
  if (!spread_.empty() && kind.per_server != 0) {
    line.rate_sum = 0.0;
    for (std::uint32_t p = first; p < first + parts; p += kind.per_server) {
      line.rate_sum += spread_of(kind, p) * kind.per_server;
      line.cumulative.push_back(line.rate_sum);
    }
  }
  draw_next(line, {});
}

void FailureClock::draw_next(Line& line, LongTime now) {
  const double mean = spec_->failures[line.source].time_to_failure.mean_s / line.rate_sum;
  line.next = now + RandomTime::exponential(mean).draw(line.times);
  if (*line.next >= end_) line.next.reset();
}

std::uint32_t FailureClock::draw_part(Line& line) const {
  if (line.cumulative.empty()) return line.first_part + static_cast<std::uint32_t>(line.times.below(line.parts));
  const double at = line.times.uniform() * line.rate_sum;
  const auto found = std::upper_bound(line.cumulative.begin(), line.cumulative.end(), at);
  const auto server =
      std::min<std::size_t>(static_cast<std::size_t>(found - line.cumulative.begin()), line.cumulative.size() - 1);
  const std::uint32_t per_server = spec_->failures[line.source].per_server;
  return line.first_part + static_cast<std::uint32_t>(server) * per_server +
         static_cast<std::uint32_t>(line.times.below(per_server));
}

void FailureClock::draw_clock(Line& line, std::uint32_t part, LongTime now) {
  const FailureSource& kind = spec_->failures[line.source];
  RandomTime time = kind.time_to_failure;
  const double faster = spread_of(kind, part);
  time.mean_s /= faster;
  const LongTime at = now + time.draw(line.times);
  if (at >= end_) return;
  line.clocks.push_back({at, part});
  std::push_heap(line.clocks.begin(), line.clocks.end());
}

std::optional<LongTime> FailureClock::next_of(const Line& line) {
  if (line.next) return line.next;
  return line.clocks.empty() ? std::nullopt : std::optional(line.clocks.front().at);
}

std::optional<std::size_t> FailureClock::earliest() const {
  std::optional<std::size_t> first;
  std::optional<LongTime> at;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto next = next_of(lines_[i]);
    if (!next || (at && *at <= *next)) continue;
    at = next;
    first = i;
  }
  return first;
}

std::optional<LongTime> FailureClock::next_of_trace() const {
  if (!spec_->trace || traced_ >= spec_->trace->faults.size()) return std::nullopt;
  const LongTime at = LongTime::from_days(spec_->trace->faults[traced_].start_d);
  return at < end_ ? std::optional(at) : std::nullopt;
}

std::optional<LongTime> FailureClock::next() const {
  const auto traced = next_of_trace();
  const auto line = earliest();
  if (!line) return traced;
  const auto drawn = next_of(lines_[*line]);
  return traced && *traced <= *drawn ? traced : drawn;
}

Failure FailureClock::pop() {
  const auto traced = next_of_trace();
  const auto first = earliest();
  if (traced && (!first || *traced <= *next_of(lines_[*first]))) {
    const TraceFault& fault = spec_->trace->faults[traced_++];
    RandomStream random(seed_ + traced_, "reliability.trace.detection");
    return {*traced, static_cast<std::uint32_t>(spec_->failures.size()), server_[fault.server],
            spec_->trace->detection.draw(random), LongTime::from_days(fault.end_d) - *traced};
  }
  PHOTONRAIL_CHECK(first.has_value());
  Line& line = lines_[*first];
  const FailureSource& kind = spec_->failures[line.source];
  Failure failure{*next_of(line), line.source, 0, {}, {}};
  if (line.next) {
    failure.part = draw_part(line);
    draw_next(line, failure.at);
  } else {
    failure.part = line.clocks.front().part;
    std::pop_heap(line.clocks.begin(), line.clocks.end());
    line.clocks.pop_back();
  }
  failure.detection = kind.detection.draw(line.delays);
  failure.repair = kind.repair.draw(line.delays);
  return failure;
}

void FailureClock::renew(std::uint32_t source, std::uint32_t part, LongTime now) {
  if (source >= spec_->failures.size() || is_poisson(spec_->failures[source])) return;
  for (Line& line : lines_) {
    if (line.source == source && part >= line.first_part && part < line.first_part + line.parts)
      draw_clock(line, part, now);
  }
}

}  // namespace photonrail::goodput
