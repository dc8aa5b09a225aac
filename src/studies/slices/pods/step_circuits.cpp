#include "studies/slices/pods/step_circuits.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace photonrail::slices {

std::vector<RotationStep> direct_all_to_all(std::uint32_t nodes, double bytes) {
  std::vector<RotationStep> steps;
  for (std::uint32_t t = 1; t < nodes; ++t) steps.push_back({t, bytes / nodes});
  return steps;
}

std::vector<RotationStep> halving_doubling_all_reduce(std::uint32_t nodes, double bytes) {
  PHOTONRAIL_CHECK(std::has_single_bit(nodes));
  std::vector<RotationStep> steps;
  for (std::uint32_t offset = 1; offset < nodes; offset *= 2) steps.push_back({offset, bytes / (2.0 * offset)});
  const std::size_t half = steps.size();
  for (std::size_t i = half; i-- > 0;) steps.push_back(steps[i]);
  return steps;
}

namespace {

constexpr std::int64_t kUnreachable = INT64_MAX;
constexpr std::size_t kMaxCollectiveSteps = 2'048;

void check(const std::vector<RotationStep>& steps, const RotationFabric& fabric) {
  if (fabric.nodes < 2 || fabric.nodes > 1024)
    throw ConfigError("nodes", "is " + std::to_string(fabric.nodes), "2 to 1024");
  if (!(fabric.circuit.bytes_per_second > 0.0)) throw ConfigError("circuit", "has no bandwidth");
  if (steps.empty() || steps.size() > kMaxCollectiveSteps)
    throw ConfigError("steps", "has " + core::counted(steps.size(), "step"));
  for (const RotationStep& step : steps) {
    if (step.offset % fabric.nodes == 0) throw ConfigError("steps", "a step sends to its own node");
    if (!(step.bytes >= 0.0)) throw ConfigError("steps", "a step has a negative number of bytes");
  }
}

/// Hops from u to u + offset on the ring of `shift`, by offset; 0: never.
std::vector<std::uint32_t> hops_of(std::uint32_t nodes, std::uint32_t shift) {
  std::vector<std::uint32_t> hops(nodes, 0);
  std::uint32_t at = shift % nodes;
  for (std::uint32_t h = 1; hops[at] == 0 && at != 0; ++h, at = (at + shift) % nodes) hops[at] = h;
  return hops;
}

class ShiftSearch {
 public:
  ShiftSearch(const std::vector<RotationStep>& steps, const RotationFabric& fabric) : steps_(steps), fabric_(fabric) {
    for (const RotationStep& step : steps) {
      sending_.push_back(round_up_picoseconds(step.bytes * (1e12 / fabric.circuit.bytes_per_second)) + fabric.hop);
    }
    for (std::uint32_t shift = 1; shift < fabric.nodes; ++shift) {
      const std::vector<std::uint32_t> hops = hops_of(fabric.nodes, shift);
      Sums sums{{0}, {0}};
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::uint32_t h = hops[steps[i].offset % fabric.nodes];
        const bool served = h > 0 && h <= fabric.max_hops;
        sums.cost.push_back(sums.cost.back() + (served ? fabric.alpha.count() + h * sending_[i].count() : 0));
        sums.unserved.push_back(sums.unserved.back() + (served ? 0 : 1));
      }
      rings_.push_back(std::move(sums));
    }
  }

  [[nodiscard]] ShiftSchedule best() const {
    const std::size_t count = steps_.size();
    std::vector<Rest> rest(count + 1);
    for (std::size_t a = count; a-- > 0;) {
      rest[a].cost = kUnreachable;
      for (std::size_t b = a + 1; b <= count; ++b) consider(a, b, rest);
    }
    ShiftSchedule schedule;
    schedule.cost = Duration{rest[0].cost};
    for (std::size_t a = 0; a < count; a = rest[a].until) {
      const std::size_t b = rest[a].until;
      schedule.segments.push_back({static_cast<std::uint32_t>(a + 1), static_cast<std::uint32_t>(b), rest[a].shift});
    }
    schedule.reconfigurations = static_cast<std::uint32_t>(schedule.segments.size() - 1);
    schedule.fixed_ring = Duration{rings_[0].cost[count]};
    schedule.every_step = fabric_.reconfiguration * static_cast<std::int64_t>(count - 1);
    for (std::size_t i = 0; i < count; ++i) schedule.every_step += fabric_.alpha + sending_[i];
    return schedule;
  }

 private:
  /// The cheapest way from a step on.
  struct Rest {
    std::int64_t cost = 0;
    std::uint32_t reconfigurations = 0;
    std::uint32_t shift = 0;
    std::size_t until = 0;  // the segment ends before this step
  };

  /// Of the first i steps on one ring.
  struct Sums {
    std::vector<std::int64_t> cost;       // picoseconds, of the steps that the ring serves
    std::vector<std::uint32_t> unserved;  // steps
  };

  void consider(std::size_t a, std::size_t b, std::vector<Rest>& rest) const {
    const bool last = b == steps_.size();
    const std::int64_t after = last ? 0 : fabric_.reconfiguration.count() + rest[b].cost;
    const std::uint32_t count = last ? 0 : 1 + rest[b].reconfigurations;
    for (std::uint32_t shift = 1; shift < fabric_.nodes; ++shift) {
      const Sums& ring = rings_[shift - 1];
      if (ring.unserved[a] != ring.unserved[b]) continue;
      const std::int64_t total = ring.cost[b] - ring.cost[a] + after;
      if (total < rest[a].cost || (total == rest[a].cost && count < rest[a].reconfigurations)) {
        rest[a] = {total, count, shift, b};
      }
    }
  }

  const std::vector<RotationStep>& steps_;
  const RotationFabric& fabric_;
  std::vector<Duration> sending_;  // of a step over one hop, with the hop
  std::vector<Sums> rings_;        // by shift - 1
};

}  // namespace

ShiftSchedule cheapest_shifts(const std::vector<RotationStep>& steps, const RotationFabric& fabric) {
  check(steps, fabric);
  return ShiftSearch(steps, fabric).best();
}

}  // namespace photonrail::slices
