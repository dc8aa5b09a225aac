#include "photonrail/study/slices/allocator.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::slices {

Shape Shape::of(std::span<const std::uint32_t> sides) {
  if (sides.empty() || sides.size() > kMaxDimensions) {
    throw ConfigError("shape", "has " + core::counted(sides.size(), "side"), "one to three");
  }
  Shape shape;
  shape.dimensions = static_cast<std::uint32_t>(sides.size());
  std::uint64_t size = 1;
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (sides[d] == 0) throw ConfigError("shape", "a side is 0", "sides from 1 on");
    size *= sides[d];
    if (size > kMaxAccelerators) {
      throw ConfigError("shape", "has more than " + std::to_string(kMaxAccelerators) + " accelerators");
    }
    shape.sides[d] = sides[d];
  }
  return shape;
}

Shape Shape::of(std::initializer_list<std::uint32_t> sides) { return of(std::span(sides.begin(), sides.size())); }

std::uint32_t Shape::extended() const {
  return static_cast<std::uint32_t>(std::count_if(sides.begin(), sides.end(), [](auto side) { return side != 1; }));
}

std::vector<Shape> Shape::rotations() const {
  std::array<std::uint32_t, kMaxDimensions> order{0, 1, 2};
  std::vector<Shape> found;
  do {
    Shape turned = *this;
    for (std::uint32_t d = 0; d < dimensions; ++d) turned.sides[d] = sides[order[d]];
    if (std::find(found.begin(), found.end(), turned) == found.end()) found.push_back(turned);
  } while (std::next_permutation(order.begin(), order.begin() + dimensions));
  return found;
}

std::string Shape::text() const {
  std::string text = std::to_string(sides[0]);
  for (std::uint32_t d = 1; d < dimensions; ++d) text += "x" + std::to_string(sides[d]);
  return text;
}

std::uint64_t Shape::surface() const {
  return std::uint64_t{sides[0]} * sides[1] + std::uint64_t{sides[1]} * sides[2] + std::uint64_t{sides[0]} * sides[2];
}

std::vector<Shape> boxes_of(std::uint32_t accelerators, std::uint32_t dimensions) {
  std::vector<Shape> found;
  for (std::uint64_t a = 1; a * a * a <= accelerators && (a == 1 || dimensions == 3); ++a) {
    if (accelerators % a != 0) continue;
    const auto rest = static_cast<std::uint32_t>(accelerators / a);
    for (std::uint64_t b = a; b * b <= rest && (b == 1 || dimensions >= 2); ++b) {
      if (rest % b != 0) continue;
      const std::array<std::uint32_t, 3> sides{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                                               static_cast<std::uint32_t>(rest / b)};
      found.push_back(Shape::of(std::span(sides).last(dimensions)));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Shape& x, const Shape& y) { return x.surface() < y.surface(); });
  return found;
}

void PodSpec::check() const {
  if (block == 0) throw ConfigError("pod.block", "is 0", "the side of a cube, such as 4");
  if (reach == 0 || reach > 64) throw ConfigError("pod.reach", "is " + std::to_string(reach), "1 to 64");
  if (domain == 0) throw ConfigError("pod.domain", "is 0", "the accelerators of a switched domain, such as 72");
  if (torus.size() == 0 || torus.size() > kMaxAccelerators) {
    throw ConfigError("pod.torus", "has " + std::to_string(torus.size()) + " accelerators");
  }
}

Pod::Pod(const PodSpec& spec) : spec_(spec) {
  spec.check();
  idle_.assign(spec.torus.size(), 1);
  idle_count_ = spec.torus.size();
  circuits_.assign(std::size_t{3} * servers().size(), 0);
}

Shape Pod::servers() const {
  Shape servers = spec_.torus;
  for (std::size_t d = 0; d < 3; ++d) servers.sides[d] = (spec_.torus[d] + spec_.server[d] - 1) / spec_.server[d];
  return servers;
}

void Pod::take(const Placement& slice) {
  take(std::span(slice.accelerators));
  for (const Placement::Fibres& f : slice.fibres) circuits_.at(f.boundary) += f.circuits;
}

void Pod::release(const Placement& slice) {
  release(std::span(slice.accelerators));
  for (const Placement::Fibres& f : slice.fibres) {
    PHOTONRAIL_CHECK(circuits_.at(f.boundary) >= f.circuits);
    circuits_[f.boundary] -= f.circuits;
  }
}

void Pod::take(std::span<const std::uint32_t> accelerators) {
  for (const std::uint32_t accelerator : accelerators) {
    PHOTONRAIL_CHECK(accelerator < idle_.size() && idle_[accelerator] != 0);
    idle_[accelerator] = 0;
    --idle_count_;
  }
}

void Pod::release(std::span<const std::uint32_t> accelerators) {
  for (const std::uint32_t accelerator : accelerators) {
    PHOTONRAIL_CHECK(accelerator < idle_.size() && idle_[accelerator] == 0);
    idle_[accelerator] = 1;
    ++idle_count_;
  }
}

std::vector<std::uint32_t> server_of(const PodSpec& spec, std::uint32_t accelerator) {
  const Coordinates at = spec.torus.at(accelerator);
  Coordinates first{};
  Coordinates last{};
  for (std::size_t d = 0; d < 3; ++d) {
    first[d] = at[d] / spec.server[d] * spec.server[d];
    last[d] = std::min(first[d] + spec.server[d], spec.torus[d]);
  }
  std::vector<std::uint32_t> members;
  for (std::uint32_t x = first[0]; x < last[0]; ++x) {
    for (std::uint32_t y = first[1]; y < last[1]; ++y) {
      for (std::uint32_t z = first[2]; z < last[2]; ++z) members.push_back(spec.torus.index({x, y, z}));
    }
  }
  return members;
}

}  // namespace photonrail::slices
