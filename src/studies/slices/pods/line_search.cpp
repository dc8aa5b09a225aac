#include "studies/slices/pods/line_search.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::slices {

namespace {

constexpr std::uint32_t kMaxPathSteps = 1'000'000;  // of a search in one cube along one axis

/// Accelerators of a cube, with neighbours across its own opposite faces.
struct LineCube {
  Coordinates first{};
  Coordinates sides{};
  std::vector<std::uint32_t> idle{};  // accelerators of the pod
};

std::vector<LineCube> cubes_with_idle(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  Coordinates sides{1, 1, 1};
  for (std::uint32_t d = 0; d < spec.torus.dimensions; ++d) sides[d] = spec.block;
  std::vector<LineCube> cubes;
  for (std::uint32_t x = 0; x < spec.torus[0]; x += sides[0]) {
    for (std::uint32_t y = 0; y < spec.torus[1]; y += sides[1]) {
      for (std::uint32_t z = 0; z < spec.torus[2]; z += sides[2]) cubes.push_back({{x, y, z}, sides, {}});
    }
  }
  for (LineCube& cube : cubes) {
    const Shape box{sides, 3};
    for (std::uint32_t i = 0; i < box.size(); ++i) {
      const Coordinates at = box.at(i);
      const std::uint32_t a = spec.torus.index({cube.first[0] + at[0], cube.first[1] + at[1], cube.first[2] + at[2]});
      if (pod.idle(a)) cube.idle.push_back(a);
    }
  }
  return cubes;
}

/// Cubes in the order in which they are filled; empty when they have too few accelerators.
std::vector<const LineCube*> candidates(const std::vector<LineCube>& cubes, std::uint32_t size) {
  std::vector<const LineCube*> chosen;
  std::vector<const LineCube*> empty;
  std::size_t room = 0;
  for (const LineCube& cube : cubes) {
    if (cube.idle.size() <= 1) continue;
    const bool is_empty = cube.idle.size() == std::size_t{cube.sides[0]} * cube.sides[1] * cube.sides[2];
    (is_empty ? empty : chosen).push_back(&cube);
    if (!is_empty) room += cube.idle.size();
  }
  for (; room < size; empty.pop_back()) {
    if (empty.empty()) return {};
    chosen.push_back(empty.back());
    room += empty.back()->idle.size();
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](auto* a, auto* b) { return a->idle.size() > b->idle.size(); });
  std::size_t sum = 0;
  std::size_t count = 0;
  while (sum < size) sum += chosen[count++]->idle.size();
  chosen.resize(count);
  return chosen;
}

/// Depth-first search for a simple path of so many accelerators between faces of a cube.
class PathSearch {
 public:
  PathSearch(const Pod& pod, const LineCube& cube, std::uint32_t axis, std::size_t length)
      : torus_(pod.spec().torus), cube_(cube), axis_(axis), length_(length), free_(pod.size(), false) {
    for (const std::uint32_t a : cube.idle) free_[a] = true;
  }

  [[nodiscard]] std::vector<std::uint32_t> find() {
    for (const std::uint32_t start : cube_.idle) {
      if (!on_face(start)) continue;
      path_.assign(1, start);
      free_[start] = false;
      if (extend()) return path_;
      free_[start] = true;
    }
    return {};
  }

 private:
  [[nodiscard]] bool on_face(std::uint32_t a) const {
    const std::uint32_t local = torus_.at(a)[axis_] - cube_.first[axis_];
    return local == 0 || local + 1 == cube_.sides[axis_];
  }

  bool extend() {
    if (path_.size() == length_) return length_ > 1 && on_face(path_.back());
    const Coordinates at = torus_.at(path_.back());
    for (std::uint32_t d = 0; d < torus_.dimensions; ++d) {
      for (const std::uint32_t step : {1U, cube_.sides[d] - 1}) {
        if (++steps_ > kMaxPathSteps) return false;
        Coordinates next = at;
        next[d] = cube_.first[d] + (at[d] - cube_.first[d] + step) % cube_.sides[d];
        const std::uint32_t a = torus_.index(next);
        if (!free_[a]) continue;
        free_[a] = false;
        path_.push_back(a);
        if (extend()) return true;
        path_.pop_back();
        free_[a] = true;
      }
    }
    return false;
  }

  Shape torus_;
  const LineCube& cube_;
  std::uint32_t axis_;
  std::size_t length_;
  std::vector<bool> free_;
  std::vector<std::uint32_t> path_;
  std::uint32_t steps_ = 0;
};

}  // namespace

std::optional<Placement> place_line(const Pod& pod, const Shape& shape) {
  const std::vector<LineCube> cubes = cubes_with_idle(pod);
  const std::vector<const LineCube*> chosen = candidates(cubes, shape.size());
  if (chosen.empty()) return std::nullopt;
  Placement placement{shape, {}, {}};
  for (std::size_t c = 0; c + 1 < chosen.size(); ++c) {
    placement.accelerators.insert(placement.accelerators.end(), chosen[c]->idle.begin(), chosen[c]->idle.end());
  }
  const std::size_t left = shape.size() - placement.accelerators.size();
  for (std::uint32_t axis = shape.dimensions; axis-- > 0;) {
    const std::vector<std::uint32_t> path = PathSearch(pod, *chosen.back(), axis, left).find();
    if (path.empty()) continue;
    placement.accelerators.insert(placement.accelerators.end(), path.begin(), path.end());
    return placement;
  }
  return std::nullopt;
}

}  // namespace photonrail::slices
