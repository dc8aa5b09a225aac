#include "studies/slices/pods/cubes.hpp"

#include "photonrail/error.hpp"
#include "studies/slices/pods/builtin.hpp"
#include "studies/slices/pods/cube_map.hpp"

#include <algorithm>

namespace photonrail::slices {

CubeCut::CubeCut(const Shape& shape, std::uint32_t side) : edge(side) {
  for (std::uint32_t d = 0; d < 3; ++d) {
    full[d] = d < shape.dimensions ? shape[d] / edge : 1;
    rest[d] = d < shape.dimensions ? shape[d] % edge : 0;
  }
}

Shape CubeCut::positions() const {
  Shape shape;
  for (std::size_t d = 0; d < 3; ++d) shape.sides[d] = full[d] + (rest[d] > 0 ? 1 : 0);
  return shape;
}

std::uint32_t CubeCut::count(std::uint32_t mask) const {
  std::uint32_t cubes = 1;
  for (std::uint32_t d = 0; d < 3; ++d) {
    if ((mask >> d & 1U) == 0) {
      cubes *= full[d];
    } else if (rest[d] == 0) {
      return 0;
    }
  }
  return cubes;
}

Coordinates CubeCut::part(std::uint32_t mask) const {
  Coordinates sides{edge, edge, edge};
  for (std::uint32_t d = 0; d < 3; ++d) {
    if ((mask >> d & 1U) != 0) sides[d] = rest[d];
  }
  return sides;
}

std::uint32_t cubes_needed(const Shape& shape, std::uint32_t edge) { return CubeCut(shape, edge).positions().size(); }

void check_cubes(const PodSpec& spec) {
  for (std::uint32_t d = 0; d < spec.torus.dimensions; ++d) {
    if (spec.torus[d] % spec.block == 0) continue;
    throw ConfigError("pod.block", std::to_string(spec.block) + " does not divide the torus " + spec.torus.text(),
                      "cubes that fill the pod");
  }
}

CubeMap::CubeMap(const Pod& pod) : pod_(&pod) {
  const Shape& torus = pod.spec().torus;
  for (std::uint32_t d = 0; d < 3; ++d) {
    edge_[d] = d < torus.dimensions ? pod.spec().block : 1;
    cubes_.sides[d] = torus[d] / edge_[d];
  }
  idle_.assign(cubes_.size(), 0);
  const std::span<const std::uint8_t> idle = pod.idle_map();
  for (std::uint32_t x = 0, i = 0; x < torus[0]; ++x) {
    for (std::uint32_t y = 0; y < torus[1]; ++y) {
      const std::uint32_t row = cubes_.index({x / edge_[0], y / edge_[1], 0});
      for (std::uint32_t z = 0; z < cubes_[2]; ++z) {
        for (std::uint32_t end = i + edge_[2]; i < end; ++i) idle_[row + z] += idle[i];
      }
    }
  }
}

std::uint32_t CubeMap::accelerator(std::uint32_t cube, const Coordinates& local) const {
  const Coordinates at = cubes_.at(cube);
  return pod_->spec().torus.index({at[0] * edge_[0] + local[0], at[1] * edge_[1] + local[1], at[2] * edge_[2] + local[2]});
}

bool CubeMap::has(std::uint32_t cube, const Coordinates& from, const Coordinates& part) const {
  Coordinates sides{};
  for (std::size_t d = 0; d < 3; ++d) sides[d] = std::min(part[d], edge_[d]);
  const std::uint32_t wanted = sides[0] * sides[1] * sides[2];
  if (idle_[cube] < wanted) return false;
  if (idle_[cube] == edge_[0] * edge_[1] * edge_[2]) return true;
  for (std::uint32_t x = 0; x < sides[0]; ++x) {
    for (std::uint32_t y = 0; y < sides[1]; ++y) {
      const std::uint32_t row = accelerator(cube, {from[0] + x, from[1] + y, from[2]});
      for (std::uint32_t z = 0; z < sides[2]; ++z) {
        if (!pod_->idle(row + z)) return false;
      }
    }
  }
  return true;
}

Placement CubeMap::join(const Shape& shape, const std::vector<CubeSlot>& slots,
                        const std::array<bool, 3>& rest_first) const {
  const CubeCut cut(shape, pod_->spec().block);
  const Shape positions = cut.positions();
  Placement placement{shape, {}, {}};
  placement.accelerators.reserve(shape.size());
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const Coordinates at = shape.at(i);
    Coordinates position{};
    Coordinates local{};
    for (std::uint32_t d = 0; d < shape.dimensions; ++d) {
      const bool in_front = rest_first[d] && at[d] < cut.rest[d];
      const std::uint32_t along = rest_first[d] && !in_front ? at[d] - cut.rest[d] : at[d];
      position[d] = in_front ? cut.full[d] : along / cut.edge;
      local[d] = along % cut.edge;
    }
    const CubeSlot& slot = slots[positions.index(position)];
    for (std::size_t d = 0; d < 3; ++d) local[d] += slot.offset[d];
    placement.accelerators.push_back(accelerator(slot.cube, local));
  }
  return placement;
}

namespace {

// Kinds of cubes by the dimensions in which they have a rest, in the order of the public allocator: whole ones, faces (rest
// in z, y, x), edges (along x, y, z), the corner. In two dimensions: whole, rest in x, rest in y, corner.
constexpr std::array<std::uint32_t, 8> kKinds3{0, 4, 2, 1, 6, 5, 3, 7};
constexpr std::array<std::uint32_t, 4> kKinds2{0, 1, 2, 3};
constexpr std::array<std::uint32_t, 2> kKinds1{0, 1};

std::span<const std::uint32_t> kinds_of(std::uint32_t dimensions) {
  if (dimensions == 3) return kKinds3;
  if (dimensions == 2) return kKinds2;
  return kKinds1;
}

/// Where the part of a kind may be in its cubes. Optical faces must line up with whole cubes, so that the part is in a
/// corner when there are some; else anywhere, in row-major order.
std::vector<Coordinates> places_of(const CubeCut& cut, std::uint32_t mask) {
  const Coordinates part = cut.part(mask);
  const bool corners = cut.count(0) > 0;
  Coordinates last{};
  for (std::uint32_t d = 0; d < 3; ++d) last[d] = (mask >> d & 1U) != 0 ? cut.edge - part[d] : 0;
  std::vector<Coordinates> places;
  const auto choices = [&](std::uint32_t d) { return corners ? (last[d] == 0 ? 1U : 2U) : last[d] + 1; };
  const auto value = [&](std::uint32_t d, std::uint32_t i) { return corners && i == 1 ? last[d] : i; };
  for (std::uint32_t x = 0; x < choices(0); ++x) {
    for (std::uint32_t y = 0; y < choices(1); ++y) {
      for (std::uint32_t z = 0; z < choices(2); ++z) places.push_back({value(0, x), value(1, y), value(2, z)});
    }
  }
  return places;
}

/// Positions of the cubes of a kind in the slice, in row-major order.
std::vector<std::uint32_t> positions_of(const CubeCut& cut, std::uint32_t mask) {
  const Shape positions = cut.positions();
  std::vector<std::uint32_t> found;
  for (std::uint32_t p = 0; p < positions.size(); ++p) {
    const Coordinates at = positions.at(p);
    std::uint32_t rests = 0;
    for (std::uint32_t d = 0; d < 3; ++d) rests |= (at[d] == cut.full[d] ? 1U : 0U) << d;
    if (rests == mask) found.push_back(p);
  }
  return found;
}

/// Finds the cubes of one rotation; false when there are not enough.
class KindByKind {
 public:
  KindByKind(const CubeMap& map, const CubeCut& cut) : map_(map), cut_(cut), used_(map.size(), false) {
    slots_.resize(cut.positions().size());
  }

  bool take(std::uint32_t mask) {
    const std::uint32_t needed = cut_.count(mask);
    if (needed == 0) return true;
    const Coordinates part = cut_.part(mask);
    for (const Coordinates& place : places_of(cut_, mask)) {
      std::vector<std::uint32_t> cubes;
      for (std::uint32_t cube = 0; cube < map_.size() && cubes.size() < needed; ++cube) {
        if (!used_[cube] && map_.has(cube, place, part)) cubes.push_back(cube);
      }
      if (cubes.size() < needed) continue;
      const std::vector<std::uint32_t> positions = positions_of(cut_, mask);
      for (std::uint32_t i = 0; i < needed; ++i) {
        used_[cubes[i]] = true;
        slots_[positions[i]] = {cubes[i], place};
      }
      // A part at the far end of its cube is joined to whole cubes through its other face, so that it comes before them.
      for (std::uint32_t d = 0; d < 3; ++d) rest_first_[d] = rest_first_[d] || (cut_.full[d] > 0 && place[d] > 0);
      return true;
    }
    return false;
  }

  [[nodiscard]] Placement result(const Shape& shape) const { return map_.join(shape, slots_, rest_first_); }

 private:
  const CubeMap& map_;
  const CubeCut& cut_;
  std::vector<bool> used_;
  std::vector<CubeSlot> slots_;  // by position in the slice
  std::array<bool, 3> rest_first_{};
};

class Cubes : public Allocator {
 public:
  [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
    return place_in_cubes(pod, shape);
  }
};

}  // namespace

std::optional<Placement> place_in_cubes(const Pod& pod, const Shape& shape) {
  const CubeMap map(pod);
  for (const Shape& turned : shape.rotations()) {
    const CubeCut cut(turned, pod.spec().block);
    KindByKind search(map, cut);
    const auto kinds = kinds_of(turned.dimensions);
    if (std::all_of(kinds.begin(), kinds.end(), [&](std::uint32_t mask) { return search.take(mask); })) {
      return search.result(turned);
    }
  }
  return std::nullopt;
}

AllocatorFactory cubes() {
  AllocatorFactory factory;
  factory.name = "reconfig";
  factory.summary = "cubes and parts of cubes joined by optical switches, kind after kind (RFold, arXiv 2510.03891)";
  factory.fabric = SliceFabric::kCubes;
  factory.make = [](const PodSpec& spec) {
    check_cubes(spec);
    return std::make_unique<Cubes>();
  };
  return factory;
}

}  // namespace photonrail::slices
