// Cubes whose parts all begin at one place, so that every face meets the face that it is joined to: whatever this policy
// places, optical switches can wire. The published rules let each kind of part choose its own place when the slice has no
// whole cube, and then faces may miss each other.
#include "allocation/builtin.hpp"
#include "allocation/cube_map.hpp"
#include "allocation/cubes.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::allocation {

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

/// Cubes for all positions of the slice: a matching of positions to cubes that have the part idle (augmenting paths),
/// fuller cubes tried first, so that whole cubes stay idle.
class PositionMatching {
 public:
  PositionMatching(const CubeMap& map, const CubeCut& cut, const CommonPlace& place)
      : map_(map), cut_(cut), place_(place), positions_(cut.positions()), position_of_(map.size(), kNone) {
    order_.resize(map.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return map.idle(a) < map.idle(b); });
  }

  [[nodiscard]] bool complete() {
    if (positions_.size() > map_.size()) return false;
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

  bool augment(std::uint32_t position) {
    const Coordinates part = cut_.part(mask_of(position));
    const Coordinates offset = offset_of(position);
    for (const std::uint32_t cube : order_) {
      if (seen_[cube] || !map_.has(cube, offset, part)) continue;
      seen_[cube] = true;
      if (position_of_[cube] != kNone && !augment(position_of_[cube])) continue;
      position_of_[cube] = position;
      return true;
    }
    return false;
  }

  const CubeMap& map_;
  const CubeCut& cut_;
  const CommonPlace& place_;
  Shape positions_;
  std::vector<std::uint32_t> order_;        // cubes in the order in which they are tried
  std::vector<std::uint32_t> position_of_;  // by cube
  std::vector<bool> seen_;                  // cubes, of one augmenting path
};

class LinedUpCubes : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    const CubeMap map(pod);
    for (const Shape& turned : shape.rotations()) {
      const CubeCut cut(turned, pod.spec().block);
      for (const CommonPlace& place : common_places(cut)) {
        PositionMatching matching(map, cut, place);
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

}  // namespace photonrail::allocation
