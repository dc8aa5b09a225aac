// The scale-up fabric of a server: how its GPUs reach each other. One ideal crossbar, or links between neighbours: a torus,
// a mesh, a twisted torus, cubes that optical switches join, a ring that bypasses what failed.
//
// A link of a shape joins two GPUs and has its rate in each direction. A message takes the shortest way, dimension by
// dimension, and a share of every link on it (cut-through: GPUs on the way forward and do not store).
//
// Links may fail or run at a part of their rate for a time (ScaleUpFault): messages then take the shortest way that is
// left.
//
// Leaves out: ways around links that are slow or busy, and buffers on the way. Deadlocks of wormhole routing do not occur
// in a fluid model.
#pragma once

#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

struct ScaleUpShape {
  enum class Kind : std::uint8_t {
    kCrossbar,  ///< every GPU has one port to a switch that never blocks
    kTorus,     ///< GPUs in a grid, linked to their neighbours
    kRing       ///< GPUs in a ring that skips `bypassed` ones (InfiniteHBD, arXiv 2502.03885)
  };
  static constexpr std::size_t kMaxDimensions = 3;

  Kind kind = Kind::kCrossbar;
  /// Torus: 1 to 3 sides; they multiply to the GPUs of a server. GPUs are numbered in row-major order, the last coordinate
  /// is the fastest.
  std::vector<std::uint32_t> sides{};
  /// Torus: by dimension, whether the last GPU of a line is linked to the first. A side of 2 has one link, wrapped or not.
  std::vector<bool> wraps{};
  /// Torus of sides k, k, 2k or k, 2k, 2k in any order, all of them wrapped: the link that closes a side k is shifted by k
  /// along each side of 2k (Camarero, Martinez and Beivide 2015: FCC and BCC lattices; used by TPU v4).
  bool twisted = false;
  /// Torus: side of a cube. Links between cubes, and those that wrap around, go through an optical switch. 0: no cubes.
  std::uint32_t block = 0;
  /// Torus of two sides and of cubes, each cube a node, all sides wrapped (RailX, arXiv 2507.18889): the links between
  /// nodes do not lead to the next node, but round rings of their own. Line i of a node's mesh, in either dimension, is a
  /// rail; rail i of a row or column of n nodes is wired as ring i modulo (n - 1) / 2 of the Hamiltonian cycles of the
  /// complete graph, which have every pair of nodes once. n is 1 or odd.
  bool rail_rings = false;
  /// Ring: a GPU has fibres to so many next ones on both sides and uses one each way. `reach` bypassed ones in a row cut
  /// the ring.
  std::uint32_t reach = 2;
  std::vector<std::uint32_t> bypassed{};  ///< ring: local indices, ascending
  /// The egress of a GPU is a pool that is divided evenly over the links that it has in this shape, when the slice is
  /// allocated (Morphlux, arXiv 2508.03674). A link runs at the lesser share of its two ends.
  bool pooled = false;

  [[nodiscard]] bool crossbar() const { return kind == Kind::kCrossbar; }
  /// The most links that a GPU has; 0 of a crossbar.
  [[nodiscard]] std::uint32_t links() const {
    if (crossbar()) return 0;
    if (kind == Kind::kRing) return 2;
    std::uint32_t most = 0;
    for (const std::uint32_t side : sides) most += std::min<std::uint32_t>(side - std::min(side, 1u), 2);
    return most;
  }

  friend bool operator==(const ScaleUpShape&, const ScaleUpShape&) = default;
};

/// Links between the GPUs of a server that fail, or run at a part of their rate. Exactly one of `gpu` and `dimension` is
/// given.
struct ScaleUpFault {
  std::optional<std::uint32_t> server{};     ///< nothing: every server
  std::optional<std::uint32_t> gpu{};        ///< local index: its links, both ways
  std::optional<std::uint32_t> to{};         ///< of a GPU: only the link to this neighbour, both ways
  std::optional<std::uint32_t> dimension{};  ///< cubes: an optical switch, which has the faces of this dimension ...
  std::vector<std::uint32_t> position{};     ///< ... at this place of the face, the other dimensions in order (TPU v4)
  double rate = 0.0;                         ///< share of their rate that the links keep, in [0, 1); 0: they fail
  Time at{};                                 ///< 0: from the start
  std::optional<Duration> lasts{};           ///< nothing: to the end of the run
};

/// A protocol of the communication library inside a server: a message of b bytes takes `step` + b / `rate`.
struct ScaleUpLine {
  Duration step{};
  Bandwidth rate{};
};

struct ScaleUpSpec {
  /// Each direction. Crossbar: of a GPU's port. Shape: of each link; pooled: of all links of a GPU together.
  Bandwidth per_gpu = Bandwidth::from_gb_per_s(450);
  Duration latency{};  ///< crossbar: GPU to GPU; shape: of each link on the way
  /// Crossbar: the protocols that messages between two GPUs may take; each takes the fastest for its size, in place of
  /// `latency` (message_latency()), which then is the launch of an exchange's kernels: its first messages take it besides.
  /// Rates are at most `per_gpu`. Empty: `latency` for every size.
  std::vector<ScaleUpLine> lines{};
  ScaleUpShape shape{};
  Duration face_latency{};             ///< cubes: added for each link on the way that an optical switch makes
  std::vector<ScaleUpFault> faults{};  ///< not of a crossbar; of several on one link the one that leaves least counts

  /// All links or the port of a GPU, each direction.
  [[nodiscard]] Bandwidth of_gpu() const {
    const bool each = !shape.crossbar() && !shape.pooled;
    return {per_gpu.bytes_per_second * (each ? std::max(1u, shape.links()) : 1u)};
  }
  /// Returns what a message takes beyond its bytes at `per_gpu`: the least of step + bytes / rate over the lines, less
  /// bytes / per_gpu; without lines `latency`.
  [[nodiscard]] Duration message_latency(Bytes message) const;
  /// The least that a message of any size takes so.
  [[nodiscard]] Duration least_latency() const;

  /// The slowest link, each direction.
  [[nodiscard]] Bandwidth least_link() const {
    return {per_gpu.bytes_per_second / (shape.pooled ? std::max(1u, shape.links()) : 1u)};
  }
};

}  // namespace photonrail
