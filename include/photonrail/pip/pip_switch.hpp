// An optical circuit switch on programmable integrated photonics (PipSwitch: Ding and Singh, arXiv 2501.18136): a mesh of
// hexagons whose sides are programmable unit cells. Circuits are ways of light through the mesh that share no waveguide, so
// that the switch blocks: some matchings of its ports cannot be routed.
//
// Model: a cell is a 2x2 gate with two waveguides at each end, in state bar (each goes straight on) or cross (they change
// sides). Where cells meet at a corner of the hexagons, each is joined to each of the others by a waveguide of its own; at
// a corner on the rim one waveguide of two cells is left open, and those ends take the fibres. Light goes both ways along a
// route, so that a circuit joins two ports in both directions.
//
// Leaves out: the partial (splitting) state of cells, and the time that a cell takes.
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

/// Loss and crosstalk of a PipSwitch: what of the light that enters at each port leaves at each other one.
///
/// Model: power, without interference, as of light whose paths differ by more than its coherence length. A cell passes
/// 1 - x of the light to the waveguide that its state names and x to the other one, and takes its loss of both; light goes
/// on until it leaves the mesh, whatever way leaks took it. Open ends without a fibre, and fibres, reflect nothing.
///
/// Leaves out: crossings and bends (count them to the cells), wavelength, polarisation, and cells whose leaks differ.
struct PipOptics {
  double cell_loss_db = 0.25;   ///< of one pass of a cell, 0.01 to 20
  double port_loss_db = 1.0;    ///< between a fibre and the mesh, each time, 0 to 20
  double crosstalk_db = -30.0;  ///< of a cell: x / (1 - x), -100 to -3

  void check() const;  ///< throws ConfigError for fields out of range
};

/// The transfer matrix of a mesh whose cells are set for a matching: the share of the power into the fibre of port a that
/// comes out of the fibre of port b.
class PipTransfer {
 public:
  /// REQUIRES: fault_of() finds nothing wrong with the matching. Throws as PipOptics::check().
  PipTransfer(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics);

  [[nodiscard]] std::uint32_t ports() const { return ports_; }
  /// In [0, 1]. REQUIRES: both below ports().
  [[nodiscard]] double power(std::uint32_t from, std::uint32_t to) const { return power_[from * ports_ + to]; }

 private:
  std::uint32_t ports_;
  std::vector<double> power_;
};

/// The worst of the two directions of all routes of a matching, when every port of it sends with the same power.
struct PipBudget {
  std::uint32_t cells = 0;    ///< of the longest route
  double loss_db = 0.0;       ///< from fibre to fibre
  double crosstalk_db = 0.0;  ///< power of all other senders at a receiver / that of its signal; -infinity: none
  /// More power that a receiver needs for the crosstalk: -10 log10(1 - 2 sum over the other senders of sqrt(power /
  /// signal)), of light at the wavelength of the signal and a receiver that thermal noise limits (Ramaswami and
  /// Sivarajan, Optical Networks); infinity: the eye is closed.
  double penalty_db = 0.0;

  /// Returns what OpticalSwitchSpec::insertion_loss_db has to bridge.
  [[nodiscard]] double needed_db() const { return loss_db + penalty_db; }
};
/// The matching may be empty. REQUIRES and throws: as PipTransfer.
[[nodiscard]] PipBudget budget_of(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics);

/// budget_of() needs at most `budget_db`. Follows the light only until that is certain, which is much sooner where cells
/// leak much and lose little. Throws and REQUIRES as budget_of().
[[nodiscard]] bool within_budget(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics,
                                 double budget_db);

}  // namespace photonrail::pip
