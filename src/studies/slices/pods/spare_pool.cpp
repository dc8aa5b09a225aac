#include "studies/slices/pods/spare_pool.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <map>

namespace photonrail::slices {

namespace {

/// Racks of the pod, and the rack of an accelerator.
struct Racks {
  explicit Racks(const PodSpec& pod) : torus(pod.torus), block(pod.block), grid(pod.torus) {
    for (std::uint32_t d = 0; d < torus.dimensions; ++d) grid.sides[d] = (torus[d] + block - 1) / block;
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t accelerator) const {
    const Coordinates at = torus.at(accelerator);
    return grid.index({at[0] / block, at[1] / block, at[2] / block});
  }

  Shape torus;
  std::uint32_t block;
  Shape grid;
};

}  // namespace

void Spares::check(const PodSpec& pod) const {
  if (count == 0) return;
  for (std::uint32_t d = 0; d < pod.torus.dimensions; ++d) {
    if (pod.torus[d] % pod.block == 0 && pod.block % pod.server[d] == 0) continue;
    throw ConfigError("failures.spares",
                      "racks of " + std::to_string(pod.block) + " do not fill the torus with whole servers",
                      "a block that divides the sides of the torus");
  }
  std::uint32_t units = Racks(pod).grid.size();
  if (kind == Kind::kServersOfRack) {
    units = 1;
    for (std::uint32_t d = 0; d < pod.torus.dimensions; ++d) units *= pod.block / pod.server[d];
  }
  if (count < units) return;
  throw ConfigError("failures.spares", "leave nothing to the jobs", "1 to " + std::to_string(units - 1));
}

SparePool::SparePool(const PodSpec& pod, const Spares& spares) {
  spares.check(pod);
  if (spares.count == 0) return;
  const bool by_racks = spares.kind == Spares::Kind::kRacks;
  const Racks racks(pod);
  unit_of_.resize(pod.torus.size());
  missing_.assign(by_racks ? 1 : racks.grid.size(), spares.count);
  all_missing_ = static_cast<std::uint32_t>(missing_.size()) * spares.count;
  std::map<std::uint32_t, std::uint32_t> known;  // unit by its rack or its first accelerator
  for (std::uint32_t a = 0; a < pod.torus.size(); ++a) {
    const std::uint32_t key = by_racks ? racks.of(a) : server_of(pod, a).front();
    const auto [unit, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(units_.size()));
    if (is_new) units_.push_back({{}, by_racks ? 0 : racks.of(a), false});
    units_[unit->second].accelerators.push_back(a);
    unit_of_[a] = unit->second;
  }
}

void SparePool::top_up(Pod& pod) {
  for (auto unit = units_.rbegin(); unit != units_.rend() && all_missing_ > 0; ++unit) {
    if (unit->held || missing_[unit->domain] == 0) continue;
    const auto& own = unit->accelerators;
    if (!std::all_of(own.begin(), own.end(), [&](std::uint32_t a) { return pod.idle(a); })) continue;
    pod.take(own);
    unit->held = true;
    --missing_[unit->domain];
    --all_missing_;
  }
}

void SparePool::lend(Pod& pod) const {
  for (const Unit& unit : units_) {
    if (unit.held) pod.release(unit.accelerators);
  }
}

void SparePool::give_up(Pod& pod, std::span<const std::uint32_t> accelerators) {
  if (units_.empty()) return;
  for (const std::uint32_t a : accelerators) {
    Unit& unit = units_[unit_of_[a]];
    if (!unit.held) continue;
    unit.held = false;
    pod.release(unit.accelerators);
    ++missing_[unit.domain];
    ++all_missing_;
  }
}

Pod without_spares(const PodSpec& pod, const Spares& spares) {
  Pod idle(pod);
  SparePool(pod, spares).top_up(idle);
  return idle;
}

}  // namespace photonrail::slices
