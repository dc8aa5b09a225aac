// A slice gives its tenant: its links and circuits, its share of the egress, and what a failure idles.
#pragma once

#include "photonrail/cluster/scale_up.hpp"
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
/// the torus). `twisted`: the wrap-around of a side k is shifted by k along each side of 2k (TPU v4: shapes k,k,2k and
/// k,2k,2k; ScaleUpShape::twisted). Throws ConfigError for `twisted` with another shape.
[[nodiscard]] SliceWiring wiring_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric, bool twisted = false);

/// A placed slice in a torus or in cubes as the scale-up fabric of a simulated server (ClusterSpec::scale_up), whose GPUs
/// are the positions of the slice: which sides are closed, and which links are circuits. Throws ConfigError when links of
/// the shape are missing, and as wiring_of().
[[nodiscard]] ScaleUpShape scale_up_of(const PodSpec& spec, const Placement& slice, SliceFabric fabric,
                                       bool twisted = false);

/// Share of the six links of its accelerators that a slice of a shape can use, in [0, 1]: a side s below `wraps_from` is a
/// mesh and loses the links at its ends; a side of 1 loses both links of its dimension. Per dimension and in all.
struct Egress {
  std::array<double, 3> of_dimension{};
  double total = 0.0;
};
/// REQUIRES: each side of the shape is 1 or more.
[[nodiscard]] Egress egress_of(const Shape& shape, std::uint32_t wraps_from = 4);

/// Bandwidth of rings, in units of one fixed link and direction. An accelerator injects `injection` units; each ring that
/// it belongs to gets a part in proportion to its weight, half of it in each direction; a ring runs at the least of its
/// members. Source: public artifact of Morphlux (arXiv 2508.03674).
struct RingUnits {
  double steered = 0.0;             ///< egress as a pool
  std::uint32_t steered_whole = 0;  ///< in whole units, as the public allocator gives them
  std::uint32_t fixed = 0;          ///< whole units of links that cannot be steered, capped by the link
};
/// `rings`: members by number, any numbers below 2^20. `weights`: by ring, empty: equal. Throws ConfigError for a ring
/// without members, a weight that is not positive, or another number of weights.
[[nodiscard]] std::vector<RingUnits> ring_units(const std::vector<std::vector<std::uint32_t>>& rings, double injection,
                                                double link, std::span<const double> weights = {});

/// Returns what each slice gets of the bandwidth that its shape, as a torus of its own, would give: rings along every side
/// above 1 of every slice at once, routed dimension by dimension on the links of the torus, the shorter way round. In (0,
/// 1]: the busiest link of the slice's routes carries 1 / share rings. Leaves out: other traffic than rings, and routes
/// around busy links.
[[nodiscard]] std::vector<double> torus_shares(const PodSpec& spec, std::span<const Placement> slices);

/// Accelerators that the failure of one server idles, mean over all servers of the pod: those of the slices that have
/// accelerators in it, at least those of the server.
[[nodiscard]] double blast_radius(const PodSpec& spec, std::span<const Placement> slices);

/// 1 - largest request that is placed / idle accelerators, in [0, 1]; 0 when none is idle. `sizes`: boxes that are tried.
[[nodiscard]] double stranded_share(const Allocator& allocator, const Pod& pod, std::span<const Shape> sizes);

}  // namespace photonrail::slices
