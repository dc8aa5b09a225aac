#include "studies/slices/pods/box_search.hpp"

#include <algorithm>

namespace photonrail::slices {

BoxSearch::BoxSearch(const Pod& pod, const Shape& shape) : torus_(pod.spec().torus), idle_(pod.idle_map()) {
  const std::uint32_t reach = *std::max_element(shape.sides.begin(), shape.sides.end()) + 2;  // with its neighbours
  for (std::size_t d = 0; d < 3; ++d) unrolled_[d] = torus_[d] + std::min(reach, torus_[d]) + 1;
  prefix_.assign(std::size_t{unrolled_[0]} * unrolled_[1] * unrolled_[2], 0);
  const std::size_t plane = std::size_t{unrolled_[1]} * unrolled_[2];
  for (std::uint32_t x = 1; x < unrolled_[0]; ++x) {
    for (std::uint32_t y = 1; y < unrolled_[1]; ++y) {
      const std::size_t row = torus_.index({(x - 1) % torus_[0], (y - 1) % torus_[1], 0});
      std::size_t at = plane * x + std::size_t{unrolled_[2]} * y + 1;
      std::uint32_t in_row = 0;
      for (std::uint32_t z = 1; z < unrolled_[2]; ++z, ++at) {
        const std::uint32_t wrapped = z - 1 >= torus_[2] ? z - 1 - torus_[2] : z - 1;
        in_row += idle_[row + wrapped] == 0 ? 1 : 0;
        prefix_[at] = in_row + prefix_[at - plane] + prefix_[at - unrolled_[2]] - prefix_[at - plane - unrolled_[2]];
      }
    }
  }
}

std::uint32_t BoxSearch::busy(const Coordinates& start, const Coordinates& sides) const {
  const auto [x, y, z] = start;
  const std::uint32_t u = x + sides[0];
  const std::uint32_t v = y + sides[1];
  const std::uint32_t w = z + sides[2];
  return sum(u, v, w) - sum(x, v, w) - sum(u, y, w) - sum(u, v, z) + sum(x, y, w) + sum(x, v, z) + sum(u, y, z) -
         sum(x, y, z);
}

bool BoxSearch::fits(const Shape& shape) const {
  return shape[0] <= torus_[0] && shape[1] <= torus_[1] && shape[2] <= torus_[2];
}

std::optional<Coordinates> BoxSearch::first(const Shape& shape) const {
  if (!fits(shape)) return std::nullopt;
  for (std::uint32_t start = 0; start < torus_.size(); ++start) {
    if (idle_[start] == 0) continue;
    const Coordinates at = torus_.at(start);
    if (busy(at, shape.sides) == 0) return at;
  }
  return std::nullopt;
}

std::optional<Coordinates> BoxSearch::tightest(const Shape& shape, std::uint32_t& neighbours) const {
  if (!fits(shape)) return std::nullopt;
  std::optional<Coordinates> best;
  for (std::uint32_t start = 0; start < torus_.size(); ++start) {
    if (idle_[start] == 0) continue;
    const Coordinates at = torus_.at(start);
    if (busy(at, shape.sides) != 0) continue;
    Coordinates around{};  // one more on both sides, where the torus has room
    Coordinates from{};
    for (std::size_t d = 0; d < 3; ++d) {
      around[d] = std::min(shape[d] + 2, torus_[d]);
      from[d] = around[d] == torus_[d] ? at[d] : (at[d] + torus_[d] - 1) % torus_[d];
    }
    const std::uint32_t volume = around[0] * around[1] * around[2];
    const std::uint32_t idle = volume - busy(from, around) - shape.size();
    if (best && idle >= neighbours) continue;
    best = at;
    neighbours = idle;
  }
  return best;
}

Placement box_at(const Shape& torus, const Coordinates& start, const Shape& shape) {
  Placement placement{shape, {}, {}};
  placement.accelerators.reserve(shape.size());
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    Coordinates at = shape.at(i);
    for (std::size_t d = 0; d < 3; ++d) at[d] = (start[d] + at[d]) % torus[d];
    placement.accelerators.push_back(torus.index(at));
  }
  return placement;
}

}  // namespace photonrail::slices
