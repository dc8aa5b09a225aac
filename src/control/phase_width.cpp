#include "control/phase_width.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace photonrail::control {

std::size_t PhaseWidth::sender(Dimension dimension, ServerIndex position) const {
  return 2 * static_cast<std::size_t>(dimension) * positions_ + position;
}

std::size_t PhaseWidth::receiver(Dimension dimension, ServerIndex position) const {
  return sender(dimension, position) + positions_;
}

void PhaseWidth::learn(const FabricView& view) {
  if (learned_ || view.ports_per_gpu == 1 || view.schedule.empty()) return;
  learned_ = true;
  positions_ = view.positions;
  partners_.assign(2 * kDimensionCount * std::size_t{positions_}, 0);
  largest_.assign(kDimensionCount, Bytes{});
  std::set<std::pair<Dimension, ServerPair>> counted;
  std::set<std::pair<Dimension, const ServerPair*>> seen;  // equal calls share their pairs
  for (const RankSchedule& rank : view.schedule) {
    for (const ScheduledOperation& op : rank.operations) {
      if (op.pairs.empty() || !seen.emplace(op.dimension, op.pairs.data()).second) continue;
      Bytes& largest = largest_[static_cast<std::size_t>(op.dimension)];
      for (const Bytes bytes : op.bytes) largest = std::max(largest, bytes);
      for (const ServerPair pair : op.pairs) {
        if (!counted.emplace(op.dimension, pair).second) continue;
        ++partners_[sender(op.dimension, pair.from)];
        ++partners_[receiver(op.dimension, pair.to)];
      }
    }
  }
}

// Returns true when the phase's largest message loses no more by having `shared` circuits in place of `alone` than the
// reconfiguration takes that is saved by it.
bool PhaseWidth::share_pays(const FabricView& view, Dimension dimension, std::uint32_t alone, std::uint32_t shared) const {
  if (shared >= alone) return true;
  const Bytes bytes = largest_[static_cast<std::size_t>(dimension)];
  if (view.port_rate.bytes_per_second <= 0.0) return true;
  const double seconds = static_cast<double>(bytes.count) / view.port_rate.bytes_per_second;
  return seconds / shared - seconds / alone <= to_seconds(view.reconfiguration.total());
}

std::uint32_t PhaseWidth::of(const FabricView& view, const CircuitRequest& demand) {
  if (view.ports_per_gpu == 1) return 1;
  degree_.resize(2 * std::size_t{view.positions});
  std::uint32_t now = 1;
  std::uint32_t in_phase = 1;
  for (const ServerPair pair : demand.pairs) {
    now = std::max({now, ++degree_[pair.from], ++degree_[view.positions + pair.to]});
    if (partners_.empty()) continue;
    in_phase = std::max(
        {in_phase, partners_[sender(demand.dimension, pair.from)], partners_[receiver(demand.dimension, pair.to)]});
  }
  for (const ServerPair pair : demand.pairs) degree_[pair.from] = degree_[view.positions + pair.to] = 0;
  const std::uint32_t alone = std::max(1u, view.ports_per_gpu / now);
  if (in_phase > view.ports_per_gpu) return alone;
  const std::uint32_t shared = std::max(1u, view.ports_per_gpu / std::max(now, in_phase));
  return share_pays(view, demand.dimension, alone, shared) ? shared : alone;
}

}  // namespace photonrail::control
