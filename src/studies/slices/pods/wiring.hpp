// A slice gives its tenant: its links and circuits, and its share of the egress.
#pragma once

#include "photonrail/study/slices/allocator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::slices {

/// An optical circuit between two cubes, or of a cube with itself: the face after `from` in `dimension` to the face before
/// `to`; both directions.
struct FaceCircuit {
  std::uint32_t dimension = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend auto operator<=>(const FaceCircuit&, const FaceCircuit&) = default;
};

/// Describes how the links of a slice's shape are made in a pod.
struct SliceWiring {
  std::uint32_t electrical = 0;         ///< links inside cubes (in a torus: links of the torus)
  std::vector<FaceCircuit> circuits{};  ///< links between cubes
  std::uint32_t missing = 0;            ///< links of the shape that nothing joins
};

/// Links of the shape: neighbours, and the wrap-around of each side that is a multiple of the block (in a torus: as long as
/// the torus).
[[nodiscard]] SliceWiring wiring_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric);

/// Share of the six links of its accelerators that a slice of a shape can use, in [0, 1]: a side below `wraps_from` is a
/// mesh and loses the links at its ends; a side of 1 loses both links of its dimension. REQUIRES: each side of the shape is
/// 1 or more.
[[nodiscard]] double egress_of(const Shape& shape, std::uint32_t wraps_from = 4);

/// Returns what each slice gets of the bandwidth that its shape, as a torus of its own, would give: rings along every side
/// above 1 of every slice at once, routed dimension by dimension on the links of the torus, the shorter way round. In (0,
/// 1]: the busiest link of the slice's routes carries 1 / share rings. Leaves out: other traffic than rings, and routes
/// around busy links.
[[nodiscard]] std::vector<double> torus_shares(const PodSpec& spec, std::span<const Placement> slices);

/// 1 - largest request that is placed / idle accelerators, in [0, 1]; 0 when none is idle. `sizes`: boxes that are tried.
[[nodiscard]] double stranded_share(const Allocator& allocator, const Pod& pod, std::span<const Shape> sizes);

}  // namespace photonrail::slices
