#include "run/growth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace photonrail::run {

namespace {

constexpr double kRounding = 1e-9;  // of the sums of floating-point numbers

// Grows numbers: `a`, `b` and `c` are of the three runs, and `c` gets the new one.
class Growth {
 public:
  explicit Growth(std::int64_t times) : times_(times) {}

  [[nodiscard]] bool exact() const { return exact_; }
  void require(bool condition) { exact_ = exact_ && condition; }

  void grow(std::int64_t a, std::int64_t b, std::int64_t& c) {
    require(b - a == c - b);
    std::int64_t more = 0;
    require(!__builtin_mul_overflow(c - b, times_, &more) && !__builtin_add_overflow(c, more, &c));
  }
  void grow(std::uint64_t a, std::uint64_t b, std::uint64_t& c) {
    auto sum = static_cast<std::int64_t>(c);
    grow(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), sum);
    c = static_cast<std::uint64_t>(sum);
  }
  void grow(std::uint32_t a, std::uint32_t b, std::uint32_t& c) {
    std::int64_t sum = c;
    grow(std::int64_t{a}, std::int64_t{b}, sum);
    require(sum >= 0 && sum <= std::int64_t{~std::uint32_t{0}});
    c = static_cast<std::uint32_t>(sum);
  }
  void grow(Duration a, Duration b, Duration& c) {
    std::int64_t sum = c.count();
    grow(a.count(), b.count(), sum);
    c = Duration{sum};
  }
  void grow(Bytes a, Bytes b, Bytes& c) { grow(a.count, b.count, c.count); }
  void grow(const LongTime& a, const LongTime& b, LongTime& c) {
    require(a + c == b + b);
    if (exact_) c += (c - b).times(times_);
  }
  void grow(const DurationHistogram& a, const DurationHistogram& b, DurationHistogram& c) {
    DurationHistogram outer = a;
    outer.merge(c);
    DurationHistogram inner = b;
    inner.merge(b);
    require(outer == inner);
    if (exact_) c.add_growth(b, static_cast<std::uint64_t>(times_));
  }
  void grow(const execution::Mean& a, const execution::Mean& b, execution::Mean& c) { require(c.add_growth(a, b, times_)); }
  void grow(const RankTime& a, const RankTime& b, RankTime& c) {
    grow(a.compute, b.compute, c.compute);
    grow(a.exposed_communication, b.exposed_communication, c.exposed_communication);
    grow(a.reconfiguration_wait, b.reconfiguration_wait, c.reconfiguration_wait);
    grow(a.peer_wait, b.peer_wait, c.peer_wait);
    grow(a.detection, b.detection, c.detection);
    grow(a.idle, b.idle, c.idle);
  }
  void grow(const WindowCount& a, const WindowCount& b, WindowCount& c) {
    require(a.length == c.length && b.length == c.length);
    grow(a.count, b.count, c.count);
  }
  void grow(const CommandTotals& a, const CommandTotals& b, CommandTotals& c) {
    grow(a.count, b.count, c.count);
    grow(a.circuits, b.circuits, c.circuits);
    grow(a.total, b.total, c.total);
    grow(a.exposed, b.exposed, c.exposed);
  }
  void grow(const PeerWaits& a, const PeerWaits& b, PeerWaits& c) {
    for (std::size_t i = 0; i < c.size(); ++i) grow(a[i], b[i], c[i]);
  }
  template <class Value>
  void grow(const std::vector<Value>& a, const std::vector<Value>& b, std::vector<Value>& c) {
    require(a.size() == c.size() && b.size() == c.size());
    for (std::size_t i = 0; exact_ && i < c.size(); ++i) grow(a[i], b[i], c[i]);
  }
  template <class Key, class Value>
  void grow(const std::map<Key, Value>& a, const std::map<Key, Value>& b, std::map<Key, Value>& c) {
    require(a.size() == c.size() && b.size() == c.size());
    for (auto& [key, value] : c) {
      const auto of_a = a.find(key);
      const auto of_b = b.find(key);
      require(of_a != a.end() && of_b != b.end());
      if (exact_) grow(of_a->second, of_b->second, value);
    }
  }
  /// A share of a time: its product with the time grows.
  void grow_share(const std::array<double, 3>& shares, const std::array<double, 3>& times, double time, double& share) {
    const double a = shares[0] * times[0];
    const double b = shares[1] * times[1];
    const double c = shares[2] * times[2];
    require(std::abs((c - b) - (b - a)) <= kRounding * std::abs(c));
    share = time > 0.0 ? (c + static_cast<double>(times_) * (c - b)) / time : 0.0;
  }

 private:
  const std::int64_t times_;
  bool exact_ = true;
};

using Results = std::array<RunResult*, 3>;

void grow_reconfigurations(const Results& runs, Growth& growth) {
  const auto [a, b, c] = std::array{&runs[0]->reconfigurations, &runs[1]->reconfigurations, &runs[2]->reconfigurations};
  growth.grow(a->count, b->count, c->count);
  growth.grow(a->per_rail, b->per_rail, c->per_rail);
  growth.grow(a->dark_port, b->dark_port, c->dark_port);
  growth.grow(a->critical_path, b->critical_path, c->critical_path);
  growth.grow(a->total, b->total, c->total);
  growth.grow(a->exposed, b->exposed, c->exposed);
  growth.grow(a->circuits, b->circuits, c->circuits);
  growth.grow(a->by_change, b->by_change, c->by_change);
  growth.require(!c->blocking);
}

void grow_traffic(const std::array<StepsResult*, 3>& runs, Growth& growth) {
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    DimensionTraffic& traffic = runs[2]->result.traffic[d];
    execution::TrafficMeans& means = runs[2]->record.means[d];
    growth.grow(runs[0]->result.traffic[d].bytes, runs[1]->result.traffic[d].bytes, traffic.bytes);
    growth.grow(runs[0]->result.traffic[d].operations, runs[1]->result.traffic[d].operations, traffic.operations);
    growth.grow(runs[0]->record.means[d].busy, runs[1]->record.means[d].busy, means.busy);
    growth.grow(runs[0]->record.means[d].exposed, runs[1]->record.means[d].exposed, means.exposed);
    growth.grow(runs[0]->record.means[d].waited, runs[1]->record.means[d].waited, means.waited);
    means.report(traffic);
  }
}

// Each run has the steps of the shorter one and `period` more, which are those before `steady` once more.
void grow_steps(const Results& runs, std::int64_t times, std::uint32_t period, std::size_t steady, Growth& growth) {
  const auto without = [&](std::vector<Duration> steps) {
    const auto last = steps.begin() + static_cast<std::ptrdiff_t>(std::min(steady, steps.size()));
    steps.erase(last - static_cast<std::ptrdiff_t>(std::min<std::size_t>(period, steady)), last);
    return steps;
  };
  std::vector<Duration>& all = runs[2]->iterations;
  growth.require(steady >= period && without(all) == runs[1]->iterations &&
                 without(runs[1]->iterations) == runs[0]->iterations);
  if (!growth.exact()) return;
  const std::vector<Duration> once(all.begin() + static_cast<std::ptrdiff_t>(steady - period),
                                   all.begin() + static_cast<std::ptrdiff_t>(steady));
  std::vector<Duration> more;
  more.reserve(once.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) more.insert(more.end(), once.begin(), once.end());
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(steady), more.begin(), more.end());
}

// Shares are of the makespan, which has grown when this is called. `makespans`: of the three runs, seconds.
void grow_utilisation(const Results& runs, const std::array<double, 3>& makespans, Growth& growth) {
  const auto [a, b, c] = std::array{&runs[0]->utilisation, &runs[1]->utilisation, &runs[2]->utilisation};
  growth.require(a->has_value() && b->has_value() && c->has_value());
  if (!growth.exact()) return;
  const double time = to_seconds(runs[2]->makespan);
  const auto grow = [&](const auto& of_a, const auto& of_b, auto& of_c, auto share) {
    growth.grow_share({of_a.*share, of_b.*share, of_c.*share}, makespans, time, of_c.*share);
  };
  for (const auto share : {&Utilisation::rail_ports, &Utilisation::scale_up, &Utilisation::switching}) {
    grow(**a, **b, **c, share);
  }
  // Messages on single uplinks, and between sites, are of jobs that are not folded.
  growth.require((*c)->site_links.empty() && (*a)->uplinks.has_value() == (*c)->uplinks.has_value() &&
                 (*b)->uplinks.has_value() == (*c)->uplinks.has_value());
  if (!growth.exact() || !(*c)->uplinks) return;
  const auto& [of_a, of_b, of_c] = std::tie(*(*a)->uplinks, *(*b)->uplinks, *(*c)->uplinks);
  growth.require(of_c.single.empty() && of_a.count == of_c.count && of_a.members == of_c.members);
  for (const auto share : {&Utilisation::Uplinks::mean, &Utilisation::Uplinks::busiest}) grow(of_a, of_b, of_c, share);
}

const PathPart* part_of(const CriticalPath& path, const PathPart& like) {
  const auto found = std::find_if(path.parts.begin(), path.parts.end(), [&](const PathPart& part) {
    return part.kind == like.kind && part.what == like.what && part.dimension == like.dimension &&
           part.before == like.before && part.place == like.place;
  });
  return found == path.parts.end() ? nullptr : &*found;
}

void grow_path(const CriticalPath& a, const CriticalPath& b, CriticalPath& c, Growth& growth) {
  growth.require(a.parts.size() == c.parts.size() && b.parts.size() == c.parts.size());
  for (PathPart& part : c.parts) {
    const PathPart* const of_a = part_of(a, part);
    const PathPart* const of_b = part_of(b, part);
    growth.require(of_a != nullptr && of_b != nullptr);
    if (!growth.exact()) return;
    growth.grow(of_a->time, of_b->time, part.time);
    growth.grow(of_a->stretches, of_b->stretches, part.stretches);
  }
  growth.grow(a.waits, b.waits, c.waits);
  std::stable_sort(c.parts.begin(), c.parts.end(), [](const PathPart& x, const PathPart& y) { return x.time > y.time; });
  growth.require(a.busiest.has_value() == c.busiest.has_value() && b.busiest.has_value() == c.busiest.has_value());
  if (!growth.exact() || !c.busiest) return;
  const std::array<double, 3> times{to_seconds(a.busiest->time), to_seconds(b.busiest->time), to_seconds(c.busiest->time)};
  growth.require(a.busiest->name == c.busiest->name && b.busiest->name == c.busiest->name);
  growth.grow(a.busiest->time, b.busiest->time, c.busiest->time);
  growth.grow_share({a.busiest->utilisation, b.busiest->utilisation, c.busiest->utilisation}, times,
                    to_seconds(c.busiest->time), c.busiest->utilisation);
}

void grow_paths(const Results& runs, Growth& growth) {
  const auto [a, b, c] = std::array{&runs[0]->critical_path, &runs[1]->critical_path, &runs[2]->critical_path};
  growth.require(a->has_value() == c->has_value() && b->has_value() == c->has_value());
  if (growth.exact() && c->has_value()) grow_path(**a, **b, **c, growth);
}

}  // namespace

bool grow(const std::array<StepsResult*, 3>& runs, std::int64_t times, std::uint32_t period, std::size_t steady) {
  Growth growth(times);
  const Results results{&runs[0]->result, &runs[1]->result, &runs[2]->result};
  const auto [a, b, c] = results;
  const std::array<double, 3> makespans{to_seconds(a->makespan), to_seconds(b->makespan), to_seconds(c->makespan)};
  growth.require(a->warnings == c->warnings && b->warnings == c->warnings && a->choices == c->choices &&
                 b->choices == c->choices);
  growth.grow(a->makespan, b->makespan, c->makespan);
  growth.grow(a->ranks, b->ranks, c->ranks);
  growth.grow(a->windows, b->windows, c->windows);
  growth.grow(a->operation_times, b->operation_times, c->operation_times);
  growth.grow(a->circuit_waits, b->circuit_waits, c->circuit_waits);
  grow_traffic(runs, growth);
  grow_reconfigurations(results, growth);
  grow_steps(results, times, period, steady, growth);
  grow_utilisation(results, makespans, growth);
  grow_paths(results, growth);
  c->engine.events += a->engine.events + b->engine.events;
  c->engine.sends += a->engine.sends + b->engine.sends;
  return growth.exact();
}

}  // namespace photonrail::run
