// An optical circuit switch on programmable integrated photonics (PipSwitch: Ding and Singh, arXiv 2501.18136): a mesh of
// hexagons whose sides are programmable unit cells. Circuits are ways of light through the mesh that share no waveguide, so
// that the switch blocks: some matchings of its ports cannot be routed.
//
// Model: a cell is a 2x2 gate with two waveguides at each end, in state bar (each goes straight on) or cross (they change
// sides). Where cells meet at a corner of the hexagons, each is joined to each of the others by a waveguide of its own; at
// a corner on the rim one waveguide of two cells is left open, and those ends take the fibres. Light goes both ways along a
// route, so that a circuit joins two ports in both directions.
//
// Loss and crosstalk are in optics.hpp. Leaves out: the partial (splitting) state of cells, and the time that a cell takes.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::pip {

/// Two ports of a switch, the lower first.
struct PortPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;

  friend constexpr auto operator<=>(const PortPair&, const PortPair&) = default;
};

/// The waveguides that light takes from port `ends.a` to port `ends.b`, in that order.
struct PipRoute {
  PortPair ends;
  std::vector<std::uint32_t> waveguides;

  friend bool operator==(const PipRoute&, const PipRoute&) = default;
};

enum class CellState : std::uint8_t { kBar, kCross };

class PipMesh {
 public:
  static constexpr std::uint32_t kMaxHexagons = 64;  ///< a side

  struct Cell {
    std::array<std::uint32_t, 2> near{};  ///< waveguides at one end; bar joins near[i] and far[i]
    std::array<std::uint32_t, 2> far{};
  };
  struct Point {
    double x = 0.0;
    double y = 0.0;
  };

  /// `rows` x `columns` hexagons, every second row shifted by half a hexagon; `ports` are spread evenly over the open ends,
  /// numbered around the rim. Throws ConfigError: no or more than kMaxHexagons hexagons a side, fewer than 2 ports, more
  /// ports than open ends.
  PipMesh(std::uint32_t rows, std::uint32_t columns, std::uint32_t ports);

  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] std::uint32_t waveguides() const { return static_cast<std::uint32_t>(places_.size()); }
  [[nodiscard]] std::uint32_t ports() const { return static_cast<std::uint32_t>(port_.size()); }
  [[nodiscard]] std::uint32_t open_ends() const { return open_ends_; }
  /// The open end at a port. REQUIRES: port < ports().
  [[nodiscard]] std::uint32_t waveguide_of(std::uint32_t port) const { return port_[port]; }
  /// The cells at the two ends of a waveguide; kNoCell: it is open there.
  [[nodiscard]] const std::array<std::uint32_t, 2>& cells_at(std::uint32_t waveguide) const { return cells_at_[waveguide]; }
  static constexpr std::uint32_t kNoCell = ~std::uint32_t{0};

  /// Where a waveguide is, for pictures; a hexagon's side is 1.
  [[nodiscard]] Point place(std::uint32_t waveguide) const { return places_[waveguide]; }
  /// The two corners that a cell lies between.
  [[nodiscard]] const std::pair<Point, Point>& corners(std::uint32_t cell) const { return corners_[cell]; }

 private:
  struct Builder;

  std::uint32_t rows_;
  std::uint32_t columns_;
  std::uint32_t open_ends_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::array<std::uint32_t, 2>> cells_at_;
  std::vector<Point> places_;
  std::vector<std::pair<Point, Point>> corners_;
  std::vector<std::uint32_t> port_;
};

/// Routes for all pairs that share no waveguide, nor use one of `taken`; nullopt when none are found. Negotiated congestion
/// (PathFinder: McMurchie and Ebeling, FPGA 1995): a heuristic, which may miss routes that exist. Deterministic.
/// Throws ConfigError when the pairs are no matching of ports of the mesh.
[[nodiscard]] std::optional<std::vector<PipRoute>> route_matching(const PipMesh& mesh, std::span<const PortPair> pairs,
                                                                  std::span<const PipRoute> taken = {});

enum class Routable : std::uint8_t { kYes, kNo, kUnknown };
struct PipSearch {
  Routable routable = Routable::kUnknown;
  std::vector<PipRoute> routes;  ///< kYes
};
/// The same with exhaustive search where the heuristic finds nothing; kUnknown when that takes more than `steps` steps.
[[nodiscard]] PipSearch search_routes(const PipMesh& mesh, std::span<const PortPair> pairs, std::uint64_t steps);

/// Matchings that together join every two ports, each with its routes.
struct PipCover {
  std::vector<std::vector<PipRoute>> matchings;
  /// No set of matchings of this mesh can have fewer: n-1 (n odd: n) by counting pairs, more where a search proved it.
  std::uint32_t lower_bound = 0;

  [[nodiscard]] bool proven_minimal() const { return matchings.size() == lower_bound; }
};

/// Looks for a smallest set of matchings that joins every two ports. The start is the 1-factorisation of the complete graph
/// by the circle method, whose matchings are chords of the rim that are parallel but for one; pairs that cannot be routed
/// there are packed into further matchings. With at most 8 ports, where that needs more than the lower bound, an exhaustive
/// search over the matchings that are routable takes over.
[[nodiscard]] PipCover cover_all_pairs(const PipMesh& mesh);

/// Returns what is wrong with a matching, or "". Sets the cells as its routes say and follows the light from every port,
/// without using the search's own data.
[[nodiscard]] std::string fault_of(const PipMesh& mesh, std::span<const PipRoute> matching);
/// The same for a cover: its matchings, and that every two ports are joined in one of them.
[[nodiscard]] std::string fault_of(const PipMesh& mesh, const PipCover& cover);

/// The state of each cell, by number. A cell that no route uses stays in bar. REQUIRES: fault_of() finds nothing wrong.
[[nodiscard]] std::vector<CellState> states_of(const PipMesh& mesh, std::span<const PipRoute> matching);

}  // namespace photonrail::pip
