// Slices of whole cubes and of parts of cubes that optical switches join.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::slices {

/// A shape cut into cubes: how many cubes it fills and what is left, in each dimension.
struct CubeCut {
  std::uint32_t edge = 4;
  Coordinates full{};  ///< whole cubes
  Coordinates rest{};  ///< accelerators of the last cube, 0: none

  CubeCut(const Shape& shape, std::uint32_t edge);

  /// Positions of cubes in the slice.
  [[nodiscard]] Shape positions() const;
  /// Cubes whose rest is in exactly the dimensions of `mask`; a dimension is a bit.
  [[nodiscard]] std::uint32_t count(std::uint32_t mask) const;
  /// What such a cube gives.
  [[nodiscard]] Coordinates part(std::uint32_t mask) const;
};

/// Cubes that a slice of the shape takes, whole ones and others.
[[nodiscard]] std::uint32_t cubes_needed(const Shape& shape, std::uint32_t edge);

/// Throws ConfigError unless the block divides the sides of the torus.
void check_cubes(const PodSpec& spec);

/// The first rotation for which cubes are found, kind after kind: whole ones, then faces, edges and the corner, each kind
/// at one place of its cubes. REQUIRES: check_cubes().
[[nodiscard]] std::optional<Placement> place_in_cubes(const Pod& pod, const Shape& shape);

}  // namespace photonrail::slices
