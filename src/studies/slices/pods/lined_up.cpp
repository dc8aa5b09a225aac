// Cubes whose parts all begin at one place, so that every face meets the face that it is joined to: whatever this policy
// places, optical switches can wire. The published rules let each kind of part choose its own place when the slice has no
// whole cube, and then faces may miss each other.
#include "studies/slices/pods/builtin.hpp"
#include "studies/slices/pods/cube_map.hpp"
#include "studies/slices/pods/cubes.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::slices {

namespace {

/// One place of the parts in their cubes: the offset, and whether a part comes before whole cubes.
struct CommonPlace {
  Coordinates offset{};
  std::array<bool, 3> rest_first{};
};

/// In a dimension with two cubes or more the part touches the face that joins it: it is at the near end and comes last, or
/// at the far end and comes first. With one cube it may be anywhere.
std::vector<CommonPlace> common_places(const CubeCut& cut) {
  std::vector<CommonPlace> places{{}};
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (cut.rest[d] == 0) continue;
    std::vector<CommonPlace> more;
    const std::uint32_t last = cut.edge - cut.rest[d];
    for (const CommonPlace& place : places) {
      for (std::uint32_t offset = 0; offset <= last; ++offset) {
        if (cut.full[d] > 0 && offset != 0 && offset != last) continue;
        CommonPlace next = place;
        next.offset[d] = offset;
        next.rest_first[d] = cut.full[d] > 0 && offset != 0;
        more.push_back(next);
      }
    }
    places = std::move(more);
  }
  return places;
}

/// Fuller cubes first, so that whole cubes stay idle.
std::vector<std::uint32_t> fullest_first(const CubeMap& map) {
  std::vector<std::uint32_t> order(map.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return map.idle(a) < map.idle(b); });
  return order;
}

/// Cubes for all positions of the slice: a matching of positions to cubes that have the part idle (augmenting paths).
class PositionMatching {
 public:
  /// `order`: cubes in the order in which they are tried.
  PositionMatching(const CubeMap& map, const std::vector<std::uint32_t>& order, const CubeCut& cut,
                   const CommonPlace& place)
      : map_(map), order_(order), cut_(cut), place_(place), positions_(cut.positions()) {}

  [[nodiscard]] bool complete() {
    if (positions_.size() > map_.size() || !has_enough_of_each_kind()) return false;
    position_of_.assign(map_.size(), kNone);
    for (std::uint32_t p = 0; p < positions_.size(); ++p) {
      seen_.assign(map_.size(), false);
      if (!augment(p)) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<CubeSlot> slots() const {
    std::vector<CubeSlot> slots(positions_.size());
    for (std::uint32_t cube = 0; cube < position_of_.size(); ++cube) {
      if (position_of_[cube] != kNone) slots[position_of_[cube]] = {cube, offset_of(position_of_[cube])};
    }
    return slots;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint32_t mask_of(std::uint32_t position) const {
    const Coordinates at = positions_.at(position);
    std::uint32_t mask = 0;
    for (std::uint32_t d = 0; d < 3; ++d) mask |= (at[d] == cut_.full[d] ? 1U : 0U) << d;
    return mask;
  }
  [[nodiscard]] Coordinates offset_of(std::uint32_t position) const {
    const std::uint32_t mask = mask_of(position);
    Coordinates offset{};
    for (std::uint32_t d = 0; d < 3; ++d) offset[d] = (mask >> d & 1U) != 0 ? place_.offset[d] : 0;
    return offset;
  }

  // The cubes that have the part of each kind idle; false where they are fewer than the slice needs of that kind.
  bool has_enough_of_each_kind() {
    for (std::uint32_t mask = 0; mask < 8; ++mask) {
      const std::uint32_t needed = cut_.count(mask);
      if (needed == 0) continue;
      Coordinates offset{};
      for (std::uint32_t d = 0; d < 3; ++d) offset[d] = (mask >> d & 1U) != 0 ? place_.offset[d] : 0;
      const Coordinates part = cut_.part(mask);
      for (const std::uint32_t cube : order_) {
        if (map_.has(cube, offset, part)) cubes_of_[mask].push_back(cube);
      }
      if (cubes_of_[mask].size() < needed) return false;
    }
    return true;
  }

  bool augment(std::uint32_t position) {
    for (const std::uint32_t cube : cubes_of_[mask_of(position)]) {
      if (seen_[cube]) continue;
      seen_[cube] = true;
      if (position_of_[cube] != kNone && !augment(position_of_[cube])) continue;
      position_of_[cube] = position;
      return true;
    }
    return false;
  }

  const CubeMap& map_;
  const std::vector<std::uint32_t>& order_;
  const CubeCut& cut_;
  const CommonPlace& place_;
  Shape positions_;
  std::array<std::vector<std::uint32_t>, 8> cubes_of_;  // by kind: those that have its part idle, in their order
  std::vector<std::uint32_t> position_of_;              // by cube
  std::vector<bool> seen_;                              // cubes, of one augmenting path
};

class LinedUpCubes : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const CubeMap map(pod);
    const std::vector<std::uint32_t> order = fullest_first(map);
    for (const Shape& turned : shape.rotations()) {
      const CubeCut cut(turned, pod.spec().block);
      for (const CommonPlace& place : common_places(cut)) {
        PositionMatching matching(map, order, cut, place);
        if (matching.complete()) return map.join(turned, matching.slots(), place.rest_first);
      }
    }
    return std::nullopt;
  }
};

}  // namespace

AllocatorFactory lined_up_cubes() {
  AllocatorFactory factory;
  factory.name = "ocs_cubes";
  factory.summary = "cubes and parts of cubes that all begin at one place, so that optical switches can join every face";
  factory.fabric = SliceFabric::kCubes;
  factory.make = [](const PodSpec& spec) {
    check_cubes(spec);
    return std::make_unique<LinedUpCubes>();
  };
  return factory;
}

}  // namespace photonrail::slices
